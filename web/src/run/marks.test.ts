// Tests that citation numbers follow the words that they support.
import { expect, test } from "vitest";

import { inLines, withMarks } from "./marks";
import type { Citation } from "./types";

const cited = (...quotes: string[]) => quotes.map((quote, place) => ({ number: place + 1, quote }) as Citation);

test("numbers that the model wrote stay, the others go to the end", () => {
  expect(withMarks("One [2]. Array[9].", cited("a", "b"), false)).toEqual({ text: "One [2]. Array[9]. [1]", hidden: 0 });
});

test("a quote is followed by its number, each on its line", () => {
  const text = "The lining is thin.\n制动衬片小于六毫米时须立即更换。";
  expect(withMarks(text, cited("制动衬片小于六毫米时须立即更换。", "The lining is thin."), true).text).toBe("The lining is thin. [2]\n\n制动衬片小于六毫米时须立即更换。 [1]");
});

test("of many the first ones are shown", () => {
  expect(withMarks("62-021 (19)", cited(...Array.from({ length: 19 }, () => "")), false)).toEqual({ text: "62-021 (19) [1][2][3][4][5][6][7][8]", hidden: 11 });
  expect(withMarks("x", [], false)).toEqual({ text: "x", hidden: 0 });
});

test("many_figures_have_lines_of_their_own", () => {
  const months = "2024-01: 3; 2024-02: 5; 2024-03: 4; not stated: 2";
  expect(inLines(months, "reckoning")).toBe("- 2024-01: 3\n- 2024-02: 5\n- 2024-03: 4\n- not stated: 2");
  expect(withMarks(inLines(months, "reckoning"), cited("a"), false).text.endsWith("not stated: 2\n\n[1]")).toBe(true);
  expect(inLines("A: 1; B: 2", "reckoning")).toBe("A: 1; B: 2");
  expect(inLines(months, "language_model")).toBe(months);
  expect(inLines("See a; b; c; d", "reckoning")).toBe("See a; b; c; d");
});

test("a quote without its marks of Markdown is followed by its number", () => {
  const text = "1. Goods. Packs of type BP-7.\nHall 3 | Final assembly | Joss\nEach has a pack.";
  const citations = cited("**1. Goods.** Packs of type BP-7.", "| Hall 3 | Final assembly | Joss |", "Each has\na pack.");
  expect(withMarks(text, citations, true).text).toBe("1\\. Goods. Packs of type BP-7. [1]\n\nHall 3 | Final assembly | Joss [2]\n\nEach has a pack. [3]");
});

test("quotes of one line have paragraphs of their own, with joined lines", () => {
  const text = "Lantern keeps the records,\nand sends them. 1. A box that\n   clips on. - No more than one.";
  expect(withMarks(text, cited("Lantern keeps the records,\nand sends them.", "1. A box that\n   clips on.", "- No more than one."), true).text).toBe(
    "Lantern keeps the records, and sends them. [1]\n\n1\\. A box that clips on. [2]\n\nNo more than one. [3]",
  );
});

test("a line whose words differ from its quote has its number by its order", () => {
  expect(withMarks("See incidents.\nAll is well.", cited("See [incidents](a.jsonl).", "All is well."), true).text).toBe("See incidents. [1]\n\nAll is well. [2]");
});

test("a quote that occurs twice is marked in order", () => {
  expect(withMarks("No answer.\nNo answer.", cited("No answer.", "No answer."), true).text).toBe("No answer. [1]\n\nNo answer. [2]");
});

test("the_bracket_after_the_figures_is_no_figure", () => {
  const months = "2025-01（612 万吨）；2025-02（574 万吨）；2025-03（608 万吨）；2025-04（621 万吨）";
  const list = "- 2025-01（612 万吨）\n- 2025-02（574 万吨）\n- 2025-03（608 万吨）\n- 2025-04（621 万吨）";
  expect(inLines(`${months}（用水月报：总和：供水量；按 月份 分组）`, "reckoning")).toBe(`${list}\n\n用水月报：总和：供水量；按 月份 分组`);
  expect(inLines(months, "reckoning")).toBe(list);
  expect(inLines("A: 1; B: 2; C: 3; D: 4 (sum of beds in wards; by hospital)", "reckoning")).toBe("- A: 1\n- B: 2\n- C: 3\n- D: 4\n\nsum of beds in wards; by hospital");
});

test("a number follows the sentence that shares most words with its quote", () => {
  const citations = cited("The pump was built by Keswin in Brackness.", "The seals of all pumps come from Hexley.", "Rain is wet.");
  const text = "Keswin built the pump in Brackness. The seals come from Hexley.";
  expect(withMarks(text, citations, false).text).toBe("Keswin built the pump in Brackness. [1] The seals come from Hexley. [2] [3]");
  expect(withMarks("维修由恒灶负责。押金为五百元。", cited("押金五百元，退租时退还。"), false).text).toBe("维修由恒灶负责。押金为五百元。 [1]");
});
