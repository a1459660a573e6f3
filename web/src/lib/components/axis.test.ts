// Tests the labels of a plot's axis.
import { expect, test } from "vitest";

import { WHOLE_STEPS, distinct, isWhole } from "./axis";

test("counts_have_whole_steps_and_no_label_repeats", () => {
  expect(WHOLE_STEPS.slice(0, 4)).toEqual([1, 2, 5, 10]);
  expect(isWhole([[0, null, 3], [1]])).toBe(true);
  expect(isWhole([[0.5]])).toBe(false);
  expect(distinct(["0", "0", "1", "1", "2"])).toEqual(["0", "", "1", "", "2"]);
});
