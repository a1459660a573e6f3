// Joins the passages of a document to blocks: a table that was cut into passages is one table again.
import type { Chunk } from "./place";
import { type Span, overlaps } from "./spans";

/** A row of a table, with the place of its line in the document. */
export type Row = { cells: string[]; place: Span | null; chunk: string };
export type Block = { kind: "text"; chunk: Chunk } | { kind: "table"; chunk: Chunk; header: string[]; rows: Row[] };

/** Passages that continue a table have its header, and no line for it. */
export function blocksOf(chunks: Chunk[]): Block[] {
  const blocks: Block[] = [];
  for (const chunk of chunks) {
    const { table } = chunk;
    if (!table || table.rows.length === 0 || chunk.hidden) {
      blocks.push({ kind: "text", chunk });
      continue;
    }
    const rows = rowsOf(chunk);
    const last = blocks.at(-1);
    const isMore = last?.kind === "table" && !startsTable(chunk) && last.header.join("\n") === table.header.join("\n");
    if (isMore) {
      last.rows.push(...rows);
    } else {
      blocks.push({ kind: "table", chunk, header: table.header, rows });
    }
  }
  return blocks;
}

/** The lines before those of the rows belong to the header. */
function rowsOf(chunk: Chunk): Row[] {
  const { rows = [], lines = [] } = chunk.table ?? {};
  const before = Math.max(0, lines.length - rows.length);
  return rows.map((cells, at) => ({ cells, place: lines[at + before] ?? null, chunk: chunk.id }));
}

function startsTable({ table }: Chunk): boolean {
  return (table?.rows.length ?? 0) < (table?.lines?.length ?? 0);
}

/** Whether a row is meant: the marked words are in it, or, without words, its passage is the one. */
export function isMarked(row: Row, span: Span | null, chunk: string | null): boolean {
  return span === null ? row.chunk === chunk : row.place !== null && overlaps(row.place, span);
}
