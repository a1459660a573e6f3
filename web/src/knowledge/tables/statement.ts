// Writes names of tables and columns into SQL statements.

const BARE = /^[\p{L}_][\p{L}\p{N}_]*$/u;
/** A column after one of these words needs no comma. */
const OPENING = /(?:^|[^\p{L}\p{N}_"])(?:select|distinct|all|from|join|where|and|or|not|on|by|having|when|then|else|case|between|in|like|is|limit)\s*$/iu;

/** A name, in quotation marks if SQL would not read it as one. */
export function nameInSql(name: string): string {
  return BARE.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/** The statement that shows the first rows of a table. */
export function firstRows(table: string): string {
  return `SELECT * FROM ${nameInSql(table)} LIMIT 20`;
}

/** `statement` with a column in place of `start..end`, after a comma or a space if it needs one, and where the caret is then. */
export function withColumn(statement: string, start: number, end: number, column: string): { statement: string; caret: number } {
  const before = statement.slice(0, start);
  const after = statement.slice(end);
  const last = before.at(-1) ?? "";
  const isJoined = last === "" || /[\s(,.=<>+\-*/|]/.test(last) && !/(?:[\p{L}\p{N}_"])\s+$/u.test(before);
  const lead = isJoined ? (last === "," ? " " : "") : OPENING.test(before) ? (/\s$/.test(before) ? "" : " ") : `,${/\s$/.test(before) ? "" : " "}`;
  // After a name and a space the comma goes before the space.
  const head = lead === "," ? `${before.trimEnd()}, ` : `${before}${lead}`;
  const name = nameInSql(column);
  const gap = after === "" || /^[\s,);.]/.test(after) ? "" : " ";
  return { statement: `${head}${name}${gap}${after}`, caret: head.length + name.length };
}
