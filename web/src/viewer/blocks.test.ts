// Tests that a table in several passages is shown as one.
import { expect, test } from "vitest";

import { blocksOf, isMarked } from "./blocks";
import type { Chunk } from "./place";

const chunk = (id: string, more: Partial<Chunk> = {}) => ({ id, text: id, hidden: false, table: null, ...more }) as unknown as Chunk;
const table = (rows: string[][], lines: [number, number][]) => ({ header: ["part", "town"], rows, lines: lines.map(([start, end]) => ({ start, end })) });
const PARTS = [
  chunk("a", { table: table([["BR-21", "Dunmarsh"], ["SL-04", "Quoyle"]], [[0, 10], [11, 30], [31, 50]]) as Chunk["table"] }),
  chunk("b", { table: table([["LC-12", "Saltern"]], [[51, 70]]) as Chunk["table"] }),
];

test("a_table_in_two_passages_is_one_table", () => {
  const blocks = blocksOf([chunk("text"), ...PARTS, chunk("end")]);
  expect(blocks.map((one) => (one.kind === "table" ? one.rows.map((row) => row.cells[0]) : one.chunk.id))).toEqual(["text", ["BR-21", "SL-04", "LC-12"], "end"]);
  // The next table begins with a line for its header.
  expect(blocksOf([...PARTS, PARTS[0]!]).length).toBe(2);
});

test("cited_rows_are_marked", () => {
  const [block] = blocksOf(PARTS);
  const marked = (span: { start: number; end: number } | null, id: string | null) => (block?.kind === "table" ? block.rows.filter((row) => isMarked(row, span, id)).map((row) => row.cells[0]) : []);
  expect(marked({ start: 35, end: 40 }, "a")).toEqual(["SL-04"]);
  expect(marked({ start: 45, end: 60 }, "a")).toEqual(["SL-04", "LC-12"]);
  expect(marked(null, "b")).toEqual(["LC-12"]);
});
