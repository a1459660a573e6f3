// Tests that a result becomes a CSV file without formulas.
import { expect, test } from "vitest";

import { csvOf } from "./csv";

const csv = (columns: string[], ...rows: (string | number | null)[][]) => csvOf({ columns, rows, is_cut: false }).slice(1);

test("the file begins with a byte order mark, and each line ends with CRLF", () => {
  expect(csvOf({ columns: ["a", "b"], rows: [[1, "x"]], is_cut: false })).toBe("\ufeffa,b\r\n1,x\r\n");
});

test("quotes, commas and line ends stay in their cells", () => {
  expect(csv(["a,b", 'c"d'], ["x\ny", "港口, Öl"])).toBe('"a,b","c""d"\r\n"x\ny","港口, Öl"\r\n');
});

test("text that a spreadsheet would compute is escaped, in the header too", () => {
  expect(csv(["=1+1", "@SUM(A1)"], ["+cmd|' /C calc'!A0", "-2+3"], ["\t=1", "＝1"])).toBe("'=1+1,'@SUM(A1)\r\n'+cmd|' /C calc'!A0,'-2+3\r\n\"'\t=1\",'＝1\r\n");
});

test("numbers stay numbers, missing values are empty", () => {
  expect(csv(["a", "b", "c"], [-5, -1.5e-9, null], [3700.662251655629, 0, ""])).toBe("a,b,c\r\n-5,-1.5e-9,\r\n3700.662251655629,0,\r\n");
  expect(csv(["a"], [null])).toBe('a\r\n""\r\n');
});
