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
