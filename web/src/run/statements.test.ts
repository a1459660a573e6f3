// Tests that statements are shown apart from the text that names them.
import { expect, test } from "vitest";

import { withoutStatements } from "./statements";

test("readings lose their statements", () => {
  const text = "The table `wards` may have the answer. The nearest reading: ward = Cedar; ward = Elm [SELECT beds FROM wards WHERE (ward IN ('Cedar')); SELECT beds FROM wards WHERE (ward IN ('Elm'))]. `pikerag sql` gives the result of such a statement.";
  expect(withoutStatements(text)).toEqual({
    text: "The table `wards` may have the answer. The nearest reading: ward = Cedar; ward = Elm.",
    statements: ["SELECT beds FROM wards WHERE (ward IN ('Cedar'))", "SELECT beds FROM wards WHERE (ward IN ('Elm'))"],
  });
  expect(withoutStatements("最接近的理解：供水量 [SELECT a FROM b]。`pikerag sql` 可给出这样的语句的结果。")).toEqual({ text: "最接近的理解：供水量。", statements: ["SELECT a FROM b"] });
  expect(withoutStatements("one [SELECT 1] | two [SELECT 1]").text).toBe("one | two");
});

test("other texts stay", () => {
  expect(withoutStatements("See [1] and [a list].")).toEqual({ text: "See [1] and [a list].", statements: [] });
});
