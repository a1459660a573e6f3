// Turns records into a table, and a table into a CSV file in which a spreadsheet finds no formula.
import type { Schemas } from "../../lib/api";

export type Record = Schemas["Record"];
type Value = Schemas["RecordField"];

/** The schemas by name, with the number of their records. */
export function schemasOf(records: Record[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { schema } of records) {
    counts.set(schema, (counts.get(schema) ?? 0) + 1);
  }
  return new Map([...counts].sort(([a], [b]) => a.localeCompare(b)));
}

/** The fields of all, each where the first record that has it puts it. */
export function columnsOf(records: Record[]): string[] {
  const columns: string[] = [];
  for (const { fields } of records) {
    let at = -1;
    for (const { name } of fields) {
      const place = columns.indexOf(name);
      if (place === -1) {
        columns.splice(at + 1, 0, name);
      }
      at = place === -1 ? at + 1 : place;
    }
  }
  return columns;
}

export function fieldOf(record: Record, column: string): Value | undefined {
  return record.fields.find(({ name }) => name === column);
}

/** The sort key of a field: the size of a number, the time of a date, else the text. */
export function sortKey(field: Value | undefined): number | string | null {
  const value = field?.value;
  if (!field) {
    return null;
  }
  if (value && "number" in value) {
    return value.number.amount;
  }
  return value && "date" in value ? value.date : field.raw;
}

/** Numbers before words; missing values are last in both orders. */
export function compareFields(a: Value | undefined, b: Value | undefined, isDescending: boolean): number {
  const [left, right] = [sortKey(a), sortKey(b)];
  if (left === null || right === null) {
    return Number(left === null) - Number(right === null);
  }
  const sign = isDescending ? -1 : 1;
  if (typeof left === "number" && typeof right === "number") {
    return sign * (left - right);
  }
  if (typeof left !== typeof right) {
    return sign * (typeof left === "number" ? -1 : 1);
  }
  return sign * String(left).localeCompare(String(right), undefined, { numeric: true });
}

/** A cell of a CSV file. A text that a spreadsheet would compute gets an apostrophe; a plain number stays one. */
export function csvCell(text: string): string {
  const isFormula = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/u.test(text) && !/^[+-]?\d[\d.,]*%?$/.test(text);
  const safe = isFormula ? `'${text}` : text;
  return /[",;\t\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The records of one schema as CSV, with their places. A byte order mark comes first: without it Excel guesses the encoding. */
export function csvOf(records: Record[], columns: string[], place: { document: string; page: string }): string {
  const rows = records.map((record) => [...columns.map((column) => fieldOf(record, column)?.raw ?? ""), record.uri, String(record.page ?? "")]);
  return `\ufeff${[[...columns, place.document, place.page], ...rows].map((row) => `${row.map(csvCell).join(",")}\r\n`).join("")}`;
}

/** The shown name of each document: its file's name, with as many folders as tell it from the others. */
export function namesOf(uris: string[]): Map<string, string> {
  const all = [...new Set(uris)].map((uri) => uri.split("/"));
  const last = (parts: string[], count: number) => parts.slice(-count).join("/");
  return new Map(
    all.map((parts) => {
      let count = 1;
      while (count < parts.length && 1 < all.filter((other) => last(other, count) === last(parts, count)).length) {
        count += 1;
      }
      return [parts.join("/"), last(parts, count)];
    }),
  );
}
