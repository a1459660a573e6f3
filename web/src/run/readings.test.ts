// Tests which readings of a question can be chosen.
import { expect, test } from "vitest";

import { choicesOf } from "./readings";

const undecided = { reason: "table_undecided", readings: ["the mean of load", "the sum of load"] } as const;
const excerpt = { reason: "table_excerpt", table: "cranes", columns: ["load"], read: 20, rows: 4_000 } as const;

test("each reading has its statement", () => {
  const choices = [{ reading: "the mean of load", statement: "SELECT 1" }, { reading: "the sum of load", statement: "SELECT 2" }];
  expect(choicesOf({ ...undecided, readings: [...undecided.readings], statements: ["SELECT 1", "SELECT 2"] })).toEqual(choices);
  expect(choicesOf({ ...excerpt, columns: [...excerpt.columns], readings: ["rows"], statements: ["SELECT 3"] })).toEqual([{ reading: "rows", statement: "SELECT 3" }]);
});

test("a reading without a statement cannot be chosen", () => {
  expect(choicesOf({ ...undecided, readings: [...undecided.readings], statements: ["SELECT 1"] })).toEqual([{ reading: "the mean of load", statement: "SELECT 1" }]);
  expect(choicesOf({ ...undecided, readings: [...undecided.readings], statements: ["", "SELECT 2"] })).toEqual([{ reading: "the sum of load", statement: "SELECT 2" }]);
  expect(choicesOf({ ...undecided, readings: [...undecided.readings] })).toEqual([]);
});

test("other reasons have no readings", () => {
  expect([choicesOf(undefined), choicesOf({ reason: "asks_for_fact" }), choicesOf({ reason: "table_unclear", table: "t", columns: [], words: [] })]).toEqual([[], [], []]);
});
