// Tests how a refused answer is shown.
import { expect, test } from "vitest";

import { isRefusal, missingOf, needsRecords, wordsOf } from "./refusal";
import type { Answer } from "./types";

const answer = (text: string, missing: string[] = [], refused = true) => ({ text, missing, refused, rationale: "" }) as unknown as Answer;
const RECORDS = "请在设置中声明记录（`[[records]]`，参见 `pikerag schema propose`），或加入列出它们的表格。";

test("an empty answer is a refusal", () => {
  expect([isRefusal(answer("", [], false)), isRefusal(answer(" \n", [], false)), isRefusal(answer("x", [], false)), isRefusal(answer("x"))]).toEqual([true, true, false, true]);
});

test("a gap that the text names is not repeated", () => {
  expect(missingOf(answer(RECORDS, [RECORDS]))).toEqual([]);
  expect(missingOf(answer("No.", ["the price", "the price", " No. "]))).toEqual(["the price"]);
  expect(missingOf({ ...answer("No."), missing: undefined } as unknown as Answer)).toEqual([]);
});

test("settings and commands are not shown", () => {
  expect(wordsOf(RECORDS).text).toBe("请在设置中声明记录，或加入列出它们的表格。");
  expect(wordsOf("Declare records (`[[records]]`, see `pikerag schema propose`) or add a table.").text).toBe("Declare records or add a table.");
  expect([needsRecords(answer(RECORDS)), needsRecords(answer("No."))]).toEqual([true, false]);
});
