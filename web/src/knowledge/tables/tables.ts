// The typed tables of a base, as its list shows and filters them.
import type { Schemas } from "../../lib/api";

export type Table = Schemas["DataTable"];

/** The tables that contain all words of `filter` in their titles, names, columns or documents. */
export function filtered(tables: Table[], filter: string): Table[] {
  const words = filter.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  return tables.filter((table) => {
    const columns = table.columns.flatMap((column) => [column.name, column.sql]);
    const text = [table.name, table.title, ...table.about, ...columns, ...table.parts.map((part) => part.uri)].join("\n").toLocaleLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Whether values were counted: of very many rows that a filter admits, the server gives only the number. */
export function isCounted(table: Table): boolean {
  return table.columns.some((column) => 0 < column.filled);
}
