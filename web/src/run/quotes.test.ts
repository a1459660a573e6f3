// Tests that rows keep their columns and that the best sentence is marked.
import { expect, test } from "vitest";

import { cellsOf, partsOf } from "./quotes";
import type { Citation } from "./types";

const quoted = (quote: string, more: Partial<Citation> = {}) => ({ number: 1, quote, span: { start: 10, end: 10 + new TextEncoder().encode(quote).length }, ...more }) as Citation;

test("a row has a cell for each column", () => {
  expect(cellsOf(quoted("| P-1 | 40 |", { columns: ["Pump", "Flow"] }))).toEqual(["P-1", "40"]);
  expect(cellsOf(quoted("P-1 | 40 | x", { columns: ["Pump", "Flow"] }))).toBeNull();
  expect(cellsOf(quoted("It leaks."))).toBeNull();
});

test("the best sentence is a part of its quote, in bytes", () => {
  const quote = "费用已付。尾款除外。";
  const best = { start: 10 + 15, end: 10 + 30 };
  expect(partsOf(quoted(quote, { best }))).toEqual({ before: "费用已付。", best: "尾款除外。", after: "" });
  expect(partsOf(quoted(quote, { best: { start: 10, end: 40 } })).best).toBe("");
  expect(partsOf(quoted(quote)).before).toBe(quote);
});
