// Tests the table of records and its CSV file.
import { expect, test } from "vitest";

import { type Record, columnsOf, compareFields, csvCell, csvOf, namesOf, schemasOf } from "./csv";

type Field = Record["fields"][number];
const text = (name: string, raw: string): Field => ({ name, raw, value: { text: raw } });
const number = (name: string, raw: string, amount: number): Field => ({ name, raw, value: { number: { amount } } });
const record = (fields: Field[], more: Partial<Record> = {}): Record => ({ id: "r", schema: "crane", chunk: "c", source: "s", uri: "a.csv", span: { start: 0, end: 1 }, origin: "table", fields, ...more });

test("columns stand where the first record that has them puts them", () => {
  const records = [record([text("crane", "1"), text("port", "x")]), record([text("crane", "2"), text("built", "2009"), text("port", "y")]), record([text("new", "z")])];
  expect(columnsOf(records)).toEqual(["new", "crane", "built", "port"]);
  expect([...schemasOf([...records, record([], { schema: "boat" })])]).toEqual([["boat", 1], ["crane", 3]]);
});

test("numbers are ordered by size, what is missing comes last", () => {
  const fields = [text("a", "w"), undefined, number("a", "1,200", 1200), number("a", "9", 9), { name: "a", raw: "2010年", value: { date: "2010" } } as Field];
  const raw = (isDescending: boolean) => [...fields].sort((a, b) => compareFields(a, b, isDescending)).map((field) => field?.raw);
  expect(raw(false)).toEqual(["9", "1,200", "2010年", "w", undefined]);
  expect(raw(true)).toEqual(["w", "2010年", "1,200", "9", undefined]);
});

test("nothing in a cell is a formula", () => {
  for (const hostile of ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1", "＝1", "-", "=HYPERLINK(\"http://x\")"]) {
    expect(csvCell(hostile).replace(/^"/, "")[0], hostile).toBe("'");
  }
  expect(["-5", "+1.5", "-1,200.5%", "plain", "a=b", "", "2024-01-02"].map(csvCell)).toEqual(["-5", "+1.5", '"-1,200.5%"', "plain", "a=b", "", "2024-01-02"]);
});

test("cells keep quotes, commas and line ends", () => {
  expect(['a"b', "a,b", "a\nb", "a;b"].map(csvCell)).toEqual(['"a""b"', '"a,b"', '"a\nb"', '"a;b"']);
  const records = [record([text("crane", "=x"), text("port", "Öl, 港")], { page: 3, uri: "=a.csv" })];
  expect(csvOf(records, ["crane", "port"], { document: "document", page: "page" })).toBe('\ufeffcrane,port,document,page\r\n\'=x,"Öl, 港",\'=a.csv,3\r\n');
});

test("documents of the same name are shown with their folders", () => {
  expect([...namesOf(["docs/a/s.csv", "docs/b/s.csv", "docs/w.csv", "docs/a/s.csv"]).values()]).toEqual(["a/s.csv", "b/s.csv", "w.csv"]);
  expect([...namesOf(["s.csv", "b/s.csv"]).values()]).toEqual(["s.csv", "b/s.csv"]);
});
