// Writes a result as a CSV file (RFC 4180) in which a spreadsheet finds no formula.
import { csvCell } from "../records/csv";
import type { Rows } from "./chart";

/** Begins with a byte order mark: without it Excel guesses the encoding. A missing value is an empty cell. */
export function csvOf({ columns, rows }: Rows): string {
  const lines = [columns.map(csvCell), ...rows.map((row) => row.map((value) => (typeof value === "number" ? String(value) : csvCell(value ?? ""))))];
  // A line without any character would be no row.
  return `\ufeff${lines.map((cells) => `${cells.join(",") || '""'}\r\n`).join("")}`;
}
