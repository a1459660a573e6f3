// Tests which passages only one of two answers has.
import { expect, test } from "vitest";

import { onlyIn } from "./evidence";
import type { Run } from "./sums";

const run = (...chunks: [string, string, string[]][]) => ({ answer: { context: { chunks: chunks.map(([id, title, headings]) => ({ hop: 0, chunk: { id, title, headings } })) } } }) as unknown as Run;

test("passages with the same title are one line", () => {
  const one = run(["a", "Notice", []], ["b", "Guide", ["Guide", "Halls"]], ["c", "Notice", []], ["d", "Plan", ["Costs"]]);
  expect(onlyIn(one, run(["d", "Plan", ["Costs"]]), ["Notice", "Guide › Halls", "Notice"])).toEqual([
    { title: "Notice", chunks: ["a", "c"] },
    { title: "Guide › Halls", chunks: ["b"] },
  ]);
});

test("without passages the titles are listed, each once", () => {
  expect(onlyIn({ answer: null } as unknown as Run, run(), ["Notice", "Notice"])).toEqual([{ title: "Notice", chunks: [] }]);
});
