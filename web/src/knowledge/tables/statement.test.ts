// Tests where a column goes in a statement.
import { expect, test } from "vitest";

import { firstRows, nameInSql, withColumn } from "./statement";

/** A statement in which `|` is the caret, or two of them the selection. */
function inserted(marked: string, column = "year"): string {
  const [before = "", ...rest] = marked.split("|");
  const after = rest.at(-1) ?? "";
  const statement = rest.length === 2 ? `${before}${rest[0]}${after}` : before + after;
  const { statement: changed, caret } = withColumn(statement, before.length, statement.length - after.length, column);
  return `${changed.slice(0, caret)}|${changed.slice(caret)}`;
}

test("a column takes the place of the star, the next one comes after a comma", () => {
  expect(inserted("SELECT |*| FROM t")).toBe("SELECT year| FROM t");
  expect(inserted("SELECT year| FROM t", "co2")).toBe("SELECT year, co2| FROM t");
  expect(inserted("SELECT year | FROM t", "co2")).toBe("SELECT year, co2| FROM t");
  expect(inserted("SELECT year,| FROM t", "co2")).toBe("SELECT year, co2| FROM t");
  expect(inserted("SELECT year, | FROM t", "co2")).toBe("SELECT year, co2| FROM t");
  expect(inserted("SELECT avg(|) FROM t", "co2")).toBe("SELECT avg(co2|) FROM t");
  expect(inserted("SELECT avg(a)| FROM t", "co2")).toBe("SELECT avg(a), co2| FROM t");
});

test("after a word of SQL or an operator there is no comma", () => {
  expect(inserted("SELECT * FROM t WHERE|")).toBe("SELECT * FROM t WHERE year|");
  expect(inserted("SELECT * FROM t GROUP BY |")).toBe("SELECT * FROM t GROUP BY year|");
  expect(inserted("SELECT * FROM t WHERE a = |")).toBe("SELECT * FROM t WHERE a = year|");
  expect(inserted("SELECT t.|")).toBe("SELECT t.year|");
  expect(inserted("|")).toBe("year|");
  expect(inserted("SELECT |a")).toBe("SELECT year| a");
});

test("a name that SQL would not read is quoted", () => {
  expect(["co2_2", "城市", "2nd", 'a "b"', ""].map(nameInSql)).toEqual(["co2_2", "城市", '"2nd"', '"a ""b"""', '""']);
  expect(firstRows("全国地级行政区")).toBe("SELECT * FROM 全国地级行政区 LIMIT 20");
});
