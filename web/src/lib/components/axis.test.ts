// Tests the labels of a plot's axis.
import { expect, test } from "vitest";

import { WHOLE_STEPS, distinct, isWhole, lettersAt, shortened } from "./axis";

test("counts_have_whole_steps_and_no_label_repeats", () => {
  expect(WHOLE_STEPS.slice(0, 4)).toEqual([1, 2, 5, 10]);
  expect(isWhole([[0, null, 3], [1]])).toBe(true);
  expect(isWhole([[0.5]])).toBe(false);
  expect(distinct(["0", "0", "1", "1", "2"])).toEqual(["0", "", "1", "", "2"]);
});

test("names on a narrow axis are shorter", () => {
  expect([lettersAt(1000, 6), lettersAt(300, 6), lettersAt(200, 40)]).toEqual([18, 9, 8]);
  expect(["Voss & Amble", "Penmark Valves", "岭北水泥制品厂"].map((name) => shortened(name, 12))).toEqual(["Voss & Amble", "Penmark Val…", "岭北水泥制…"]);
  expect(shortened("2025-01", 8)).toBe("2025-01");
});
