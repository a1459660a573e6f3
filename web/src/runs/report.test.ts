// Tests that any report can be read, and that runs are compared side by side.
import { expect, test } from "vitest";

import { costsOf, dataSetsOf, mainQuality, qualitiesOf, sorted } from "./report";
import { pairsOf } from "./sides";

const interval = (mean: number) => ({ mean, low: mean - 0.1, high: mean + 0.1 });
const summary = (method: string, f1: number, calls: number) => ({
  method, questions: 12, failed: 0, em: interval(f1), f1: interval(f1), further: { acc: interval(f1), novel_metric: 0.5 }, final_recall: null,
  supporting_recall: [0.4, 1], refused: 0, calls: interval(calls), prompt_tokens: interval(1000), completion_tokens: interval(100), by_role: {}, usd: 0, seconds: interval(1),
});

test("a report of one data set, and one of several", () => {
  const report = { overall: [summary("kar3", 0.9, 7), summary("naive-rag", 0.4, 1)], by_hops: [{ name: "2", summaries: [summary("kar3", 1, 7)] }, { name: "3", summaries: [] }], data_sets: [] };
  const [only, ...others] = dataSetsOf(report);
  expect(others).toEqual([]);
  expect(only?.groups).toMatchObject([{ kind: "by_hops", name: "2" }]);
  const lines = only?.lines ?? [];
  expect(lines[0]?.figures.tokens?.mean).toBe(1100);
  expect(qualitiesOf(lines)).toEqual(["em", "f1", "acc", "refused", "novel_metric"]);
  expect(costsOf(lines)).toEqual(["calls", "tokens", "prompt_tokens", "completion_tokens", "seconds"]);
  expect(mainQuality(qualitiesOf(lines))).toBe("acc");
  expect(dataSetsOf({ data_sets: [{ name: "a", report }, { name: "b", report: {} }], overall: [] }).map(({ name }) => name)).toEqual(["a"]);
});

test("differences with their p", () => {
  const one = { method: "naive-rag", against: "kar3", metric: "em", questions: 12, difference: interval(-0.5), p: 0.002, p_holm: 0.006 };
  const [set] = dataSetsOf({ overall: [summary("kar3", 1, 1)], significance: [one, { method: "x" }, null] });
  expect(set?.differences).toEqual([{ method: "naive-rag", against: "kar3", metric: "em", questions: 12, difference: one.difference, p: 0.006 }]);
});

test("what is no report has no tables", () => {
  for (const report of [null, undefined, 3, "x", [], {}, { overall: "no" }, { overall: [], data_sets: [null, { name: 3 }] }]) {
    expect(dataSetsOf(report)).toEqual([]);
  }
  expect(dataSetsOf({ overall: [null, { method: 3, em: { mean: "1" }, f1: Infinity }] })[0]?.lines).toEqual([{ method: "", figures: {} }, { method: "", figures: {} }]);
});

test("columns sort both ways, what has no figure last", () => {
  const [set] = dataSetsOf({ overall: [summary("b", 0.4, 1), { method: "c" }, summary("a", 0.9, 7)] });
  const names = (column: string | null, isDown: boolean) => sorted(set?.lines ?? [], column, isDown).map(({ method }) => method).join("");
  expect([names(null, true), names("method", false), names("f1", true), names("f1", false), names("calls", true)]).toEqual(["bca", "abc", "abc", "bac", "abc"]);
});

test("what two runs did apart stands side by side", () => {
  const line = (of: "both" | "first" | "second", seq: number) => ({ of, event: { seq } }) as unknown as Parameters<typeof pairsOf>[0][number];
  const pairs = pairsOf([line("both", 0), line("first", 1), line("first", 2), line("second", 1), line("both", 3), line("second", 4)]);
  expect(pairs).toEqual([{ both: { seq: 0 } }, { first: { seq: 1 }, second: { seq: 1 } }, { first: { seq: 2 }, second: undefined }, { both: { seq: 3 } }, { first: undefined, second: { seq: 4 } }]);
});
