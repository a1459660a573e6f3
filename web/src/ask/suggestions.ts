// Makes questions from the documents of a base: from its tables, its titles and the atomic questions of a model.
import { type Schemas, call } from "../lib/api";
import type { Language } from "../lib/preferences.svelte";

type Table = Schemas["DataTable"];
type Column = Schemas["DataColumn"];

/** A question that the base can answer. The kinds have words in the dictionary. */
export type Suggestion =
  | { kind: "atomic"; question: string }
  | { kind: "lookup"; table: string; row: string; column: string }
  | { kind: "largest"; table: string; column: string }
  | { kind: "total"; table: string; column: string }
  | { kind: "count"; table: string }
  | { kind: "each"; table: string; column: string; by: string }
  | { kind: "summary"; title: string };

export type Found = { tables: Table[]; titles: string[]; questions: string[] };

/** Documents whose atomic questions are asked for. */
const DOCUMENTS = 3;
const MOST = 6;
/** Longer names make questions that nobody reads. */
const MOST_LETTERS = 48;
const HAN = /\p{Script=Han}/u;

const isShort = (text: string | undefined): text is string => text !== undefined && text.trim() !== "" && text.length <= MOST_LETTERS && !/[“”"\n|]/.test(text);
const isNumber = ({ kind }: Column) => kind === "integer" || kind === "real";
/** A sum of shares, or of prices per metre, has no meaning. */
const isSummable = (column: Column) => isNumber(column) && !/[%/]/.test(column.unit ?? "") && !/percent|rate|share|ratio|率|比例|占比/i.test(column.name);
const folded = (name: string) => spoken(name).toLocaleLowerCase();

/** A name as people write it. */
function spoken(name: string): string {
  return name.replace(/_+/g, " ").trim();
}

/** A table with the columns that a question can name without being taken for another one. */
type Named = { table: string; rows: number; first: Column | undefined; columns: { name: string; column: Column }[] };

/** At most six questions, of several kinds, in the language of the page. */
export function suggestionsFrom({ tables, titles, questions }: Found, language: Language): Suggestion[] {
  const isOwn = (text: string) => HAN.test(text) === (language === "zh");
  // Large tables first: a person reads a small one alone.
  const sorted = tables.toSorted((a, b) => b.rows - a.rows || a.title.localeCompare(b.title)).flatMap((table) => namedOf(table, tables, isOwn));
  const atomic = questions.filter((question) => question.length <= 2 * MOST_LETTERS && isOwn(question)).slice(0, 3).map((question): Suggestion => ({ kind: "atomic", question }));
  const summary = titles.filter((title, at) => isShort(title) && isOwn(title) && titles.indexOf(title) === at && titles.lastIndexOf(title) === at).map((title): Suggestion => ({ kind: "summary", title }));
  // One of each kind, then a second one.
  const kinds = [sorted.flatMap(totalIn), sorted.flatMap(lookupIn), sorted.flatMap(largestIn), sorted.flatMap(eachIn), summary, sorted.flatMap(countIn)];
  const others = [0, 1].flatMap((nth) => kinds.flatMap((kind) => kind.slice(nth, nth + 1)));
  return [...atomic, ...others].slice(0, MOST);
}

/** None if another table has the title, in whole or as a part of its own, or if the title is in another language. */
function namedOf({ title, rows, columns }: Table, all: Table[], isOwn: (text: string) => boolean): Named[] {
  if (!isShort(title) || !isOwn(title) || all.filter((other) => folded(other.title).includes(folded(title))).length !== 1) {
    return [];
  }
  const named = columns.filter((column) => isShort(column.name) && isOwn(column.name) && isAlone(column, columns)).map((column) => ({ name: spoken(column.name), column }));
  return [{ table: spoken(title), rows, first: columns[0], columns: named }];
}

/** Whether no other column has the name, in whole or as a part of its own: `区` is a part of `片区长`. */
function isAlone({ name }: Column, columns: Column[]): boolean {
  return columns.filter((other) => folded(other.name).includes(folded(name))).length === 1;
}

function lookupIn({ table, rows, first, columns }: Named): Suggestion[] {
  // A number alone names no row.
  const row = first?.kind === "identifier" && first.distinct === rows ? first.samples.find((sample) => isShort(sample) && !/^[\d.,]+$/.test(sample)) : undefined;
  const others = columns.filter(({ column }) => column !== first);
  const asked = others.find(({ column }) => ["identifier", "category", "text"].includes(column.kind)) ?? others[0];
  return row !== undefined && asked ? [{ kind: "lookup", table, row, column: asked.name }] : [];
}

function largestIn({ table, columns }: Named): Suggestion[] {
  const asked = columns.find(({ column }) => isNumber(column) && 2 < column.distinct);
  return asked ? [{ kind: "largest", table, column: asked.name }] : [];
}

function totalIn({ table, columns }: Named): Suggestion[] {
  const asked = columns.find(({ column }) => isSummable(column));
  return asked ? [{ kind: "total", table, column: asked.name }] : [];
}

function eachIn({ table, columns, rows }: Named): Suggestion[] {
  const by = columns.find(({ name, column: { kind, distinct } }) => kind === "category" && 1 < distinct && 2 * distinct <= rows && !folded(table).includes(folded(name)));
  const asked = columns.findLast(({ column }) => isSummable(column));
  return by && asked ? [{ kind: "each", table, column: asked.name, by: by.name }] : [];
}

/** Rows are counted only where the title is one word. */
function countIn({ table }: Named): Suggestion[] {
  return /\s/.test(table) ? [] : [{ kind: "count", table }];
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
