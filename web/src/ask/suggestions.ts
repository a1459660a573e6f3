// Makes questions from the documents of a base: from its tables, its titles and the atomic questions of a model.
import { type Schemas, call } from "../lib/api";

type Table = Schemas["DataTable"];
type Column = Schemas["DataColumn"];

/** A question that the base can answer. The kinds have words in the dictionary. */
export type Suggestion =
  | { kind: "atomic"; question: string }
  | { kind: "lookup"; table: string; row: string; column: string }
  | { kind: "largest"; table: string; column: string }
  | { kind: "each"; table: string; column: string; by: string }
  | { kind: "summary"; title: string };

export type Found = { tables: Table[]; titles: string[]; questions: string[] };

/** Documents whose atomic questions are asked for. */
const DOCUMENTS = 3;
const MOST = 6;
/** Longer names make questions that nobody reads. */
const MOST_LETTERS = 48;

const isShort = (text: string | undefined): text is string => text !== undefined && text.trim() !== "" && text.length <= MOST_LETTERS && !/[“”"\n|]/.test(text);
const isNumber = ({ kind }: Column) => kind === "integer" || kind === "real";

/** At most six questions, of several kinds. */
export function suggestionsFrom({ tables, titles, questions }: Found): Suggestion[] {
  // Large tables first: a person reads a small one alone.
  const sorted = tables.filter(({ title }) => isShort(title)).sort((a, b) => b.rows - a.rows || a.title.localeCompare(b.title));
  const atomic = questions.filter((question) => question.length <= 2 * MOST_LETTERS).slice(0, 3).map((question): Suggestion => ({ kind: "atomic", question }));
  const lookup = sorted.flatMap(lookupIn);
  const largest = sorted.flatMap(largestIn);
  const each = sorted.flatMap(eachIn);
  const summary = titles.filter(isShort).map((title): Suggestion => ({ kind: "summary", title }));
  // One of each kind, then a second one.
  const kinds = [lookup, each, largest, summary];
  const others = [0, 1].flatMap((nth) => kinds.flatMap((kind) => kind.slice(nth, nth + 1)));
  return [...atomic, ...others].slice(0, MOST);
}

function lookupIn({ title, columns }: Table): Suggestion[] {
  const [first, ...others] = columns;
  const [row] = first?.samples ?? [];
  const column = others.find(({ kind, name }) => ["identifier", "category", "text"].includes(kind) && isShort(name)) ?? others.find(({ name }) => isShort(name));
  return first && first.kind === "identifier" && isShort(row) && column ? [{ kind: "lookup", table: title, row, column: column.name }] : [];
}

function largestIn({ title, columns }: Table): Suggestion[] {
  const column = columns.find((one) => isNumber(one) && 2 < one.distinct && isShort(one.name));
  return column ? [{ kind: "largest", table: title, column: column.name }] : [];
}

function eachIn({ title, columns, rows }: Table): Suggestion[] {
  const by = columns.find(({ kind, distinct, name }) => kind === "category" && 1 < distinct && 2 * distinct <= rows && isShort(name));
  const column = columns.findLast((one) => isNumber(one) && isShort(one.name));
  return by && column ? [{ kind: "each", table: title, column: column.name, by: by.name }] : [];
}

/** What the base offers for questions; parts that the key may not read are missing. */
export async function findOffered(base: string, hasQuestions: boolean): Promise<Found> {
  const path = { base };
  const [tables, sources] = await Promise.all([
    call("get", "/api/v1/bases/{base}/tables", { path }).catch((): Table[] => []),
    call("get", "/api/v1/bases/{base}/sources", { path }).catch((): Schemas["Source"][] => []),
  ]);
  const texts = sources.filter(({ media_type, uri }) => !uri.includes("#") && !/csv|spreadsheet|excel|json/.test(media_type));
  const asked = hasQuestions ? texts.slice(0, DOCUMENTS) : [];
  const around = await Promise.all(asked.map(({ id }) => call("get", "/api/v1/bases/{base}/graph", { path, query: { of: id, depth: 3, most: 60 } }).catch(() => null)));
  const questions = around.flatMap((found) => found?.nodes.find(({ node, kind }) => node === "atom" && kind === "question")?.text ?? []);
  return { tables, titles: texts.map(({ title }) => title), questions };
}
