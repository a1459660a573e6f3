// Tests which charts a result becomes.
import { expect, test } from "vitest";

import { type Rows, chartsOf, shownIn, unitsOf } from "./chart";

const result = (columns: string[], ...rows: Rows["rows"]): Rows => ({ columns, rows, is_cut: false });
/** The kind, places and values of each chart. */
const drawn = (rows: Rows) => chartsOf(rows)?.charts.map(({ data }) => [data.kind, data.ticks ?? data.x.map((at) => data.formatX?.(at)), data.series.map((one) => one.values)]) ?? null;

test("categories become bars", () => {
  expect(drawn(result(["species", "n"], ["Adelie", 152], ["Gentoo", null], [null, 3]))).toEqual([["bars", ["Adelie", "Gentoo", "–"], [[152, null, 3]]]]);
});

test("periods in order become a line, from the first to the last", () => {
  expect(drawn(result(["year", "n"], [2009, 5], [2008, 7], [2006, 1]))).toEqual([["line", ["2006", "2008", "2009"], [[1, 7, 5]]]]);
  expect(drawn(result(["q", "n"], ["2013-Q3", 1], ["2013-Q4", 2], ["2014-Q1", 3]))).toEqual([["line", ["2013-Q3", "2013-Q4", "2014-Q1"], [[1, 2, 3]]]]);
  expect(drawn(result(["m", "n"], ["2013-11", 1], ["2014-01", 2]))).toEqual([["line", ["2013-11", "2014-01"], [[1, 2]]]]);
  expect(drawn(result(["d", "n"], ["1969-12-31", 1], ["2014-02-28", 2]))).toEqual([["line", ["1969-12-31", "2014-02-28"], [[1, 2]]]]);
  expect(drawn(result(["t", "n"], ["2018-01-31 02:00:31", 1], ["2018-01-31T02:16", 2]))).toEqual([["line", ["2018-01-31 02:00:31", "2018-01-31 02:16:00"], [[1, 2]]]]);
});

test("years out of order, in other words, or beyond years become bars", () => {
  expect(drawn(result(["year", "n"], [2009, 9], [2007, 8], [2008, 7]))?.[0]?.slice(0, 2)).toEqual(["bars", ["2009", "2007", "2008"]]);
  expect(drawn(result(["year", "n"], ["2009", 9], ["2010-01", 8]))?.[0]?.[0]).toBe("bars");
  expect(drawn(result(["size", "n"], [9, 9], [12000, 8]))?.[0]?.[0]).toBe("bars");
  expect(drawn(result(["d", "n"], ["2013-02-31x", 9], ["2013-99-01", 8]))?.[0]?.[0]).toBe("bars");
});

test("columns of similar size share an axis, others get one of their own", () => {
  const both = result(["species", "n", "m", "mass"], ["a", 1, 2, 3700], ["b", 3, 4, 5076]);
  expect(chartsOf(both)?.charts.map((chart) => chart.columns)).toEqual([["n", "m"], ["mass"]]);
  expect(chartsOf(both)?.charts[0]?.table).toEqual({ head: ["species", "n", "m"], rows: [["a", "1", "2"], ["b", "3", "4"]] });
  const many = result(["y", ..."abcdefghij"], ["p", ...Array<number>(10).fill(1)], ["q", ...Array<number>(10).fill(2)]);
  expect(chartsOf(many)?.charts.map((chart) => chart.columns.length)).toEqual([8, 2]);
  const apart = result(["y", ..."abcdef"], ["p", 1, 1e2, 1e4, 1e6, 1e8, 1e10], ["q", 1, 1e2, 1e4, 1e6, 1e8, 1e10]);
  expect([chartsOf(apart)?.charts.length, chartsOf(apart)?.leftOut]).toEqual([4, 2]);
});

test("columns with other units get charts of their own, each with its unit", () => {
  const months = result(["month", "water", "calls"], ["2025-01", 612, 418], ["2025-02", 574, 362]);
  const units = new Map([["water", "m³"], ["calls", "calls"]]);
  expect(chartsOf(months, units)?.charts.map((chart) => [chart.columns, chart.data.yLabel])).toEqual([[["water"], "m³"], [["calls"], "calls"]]);
  expect(chartsOf(months, new Map([["water", "m³"]]))?.charts.map((chart) => [chart.columns, chart.data.yLabel])).toEqual([[["water"], "m³"], [["calls"], undefined]]);
  expect(chartsOf(months)?.charts.length).toBe(1);
});

test("a result has the units of the columns that it is computed from", () => {
  const column = (name: string, unit: string | null) => ({ name, sql: name, unit });
  const columns = [column("price_eur", "EUR"), column("days", null), column("供水量", "万吨")];
  const units = (results: string[], statement: string) => Object.fromEntries(unitsOf(results, statement, columns));
  expect(units(["s", "price", "days"], "SELECT s, sum(price_eur) AS price, max(days) AS days FROM t GROUP BY 1")).toEqual({ price: "EUR" });
  expect(units(["供水量"], "SELECT 月份, 供水量 FROM 用水月报")).toEqual({ 供水量: "万吨" });
  expect(units(["n", "p"], "SELECT count(price_eur) AS n, price_eur * days AS p FROM t")).toEqual({});
});

test("a line far above zero does not look flat", () => {
  expect(chartsOf(result(["y", "co2"], [2000, 360], [2001, 400]))?.charts[0]?.data.yLeast).toBeCloseTo(356.8);
  expect(chartsOf(result(["y", "co2"], [2000, 1], [2001, 400]))?.charts[0]?.data.yLeast).toBeUndefined();
  expect(chartsOf(result(["y", "co2"], ["a", 360], ["b", 400]))?.charts[0]?.data.yLeast).toBeUndefined();
});

test("other results have no chart", () => {
  for (const [name, rows] of Object.entries({
    "one row": result(["a", "n"], ["x", 1]),
    "one column": result(["n"], [1], [2]),
    "no column": result([]),
    "words after the first column": result(["a", "n", "b"], ["x", 1, "y"], ["z", 2, "y"]),
    "nothing to draw": result(["a", "n"], ["x", null], ["y", null]),
    "a name twice": result(["a", "n"], ["x", 1], ["x", 2]),
    "too many names": result(["a", "n"], ...Array.from({ length: 41 }, (_, at): [string, number] => [`n${at}`, at])),
    "too many years": result(["a", "n"], ...Array.from({ length: 2_001 }, (_, at): [number, number] => [1_000 + (at % 1_999), at])),
  })) {
    expect(chartsOf(rows), name).toBeNull();
  }
});

test("numbers are shown with the digits that count", () => {
  expect([3733.0882352941176, 0.1 + 0.2, 2008, 12345678901, -1.5e-9, "007", null].map(shownIn)).toEqual(["3733.088235", "0.3", "2008", "12345678901", "-1.5e-9", "007", "–"]);
});
