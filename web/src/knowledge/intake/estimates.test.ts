// Tests that free and paid estimates are distinguished.
import { expect, test } from "vitest";

import { type Estimated, byRole, isFree, isIdle, pairs } from "./estimates";

function estimated(estimate: Partial<Estimated["estimate"]>, usd: number | null = 0): Estimated {
  return { estimate: { files: 1, unchanged: 0, unreadable: [], chunks: 4, calls: 0, usage: { prompt_tokens: 0, completion_tokens: 0 }, by_role: {}, embedded_tokens: 0, ...estimate }, usd, costliest: [], omitted: [] };
}

test("without calls it is free; embedding too, where its price is known to be nothing", () => {
  expect(isFree(estimated({}))).toBe(true);
  expect(isFree(estimated({ embedded_tokens: 10 }))).toBe(true);
  expect(isFree(estimated({ embedded_tokens: 10 }, null))).toBe(false);
  expect(isFree(estimated({ embedded_tokens: 10 }, 0.1))).toBe(false);
  expect(isFree(estimated({ calls: 1 }, 0))).toBe(false);
});

test("nothing new is nothing to do, an unreadable file is shown", () => {
  expect(isIdle(estimated({ files: 0, unchanged: 3 }))).toBe(true);
  expect(isIdle(estimated({ files: 0, calls: 2 }))).toBe(false);
  expect(isIdle(estimated({ files: 0, unreadable: [["a", "b"]] as never }))).toBe(false);
});

test("roles, the most expensive first; other values than pairs are left out", () => {
  const usage = (prompt_tokens: number, completion_tokens: number) => ({ prompt_tokens, completion_tokens });
  expect(byRole(estimated({ by_role: { tag: usage(1, 1), atomize: usage(10, 5), extract: usage(0, 0) } }))).toEqual([
    { role: "atomize", prompt: 10, completion: 5 }, { role: "tag", prompt: 1, completion: 1 },
  ]);
  expect(pairs([["a", "b"], ["c"], "d", [1, 2]])).toEqual([["a", "b"], ["1", "2"]]);
});
