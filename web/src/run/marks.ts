// Places the citation numbers in an answer: at the places of the model, else after the quoted words, else at the end.
import type { Citation } from "./types";

/** The numbers at the end of a text; the others are only in the list. */
const MOST_AT_END = 8;
/** From this number of figures on, each has a line of its own. */
const FEW_FIGURES = 4;
/** Shorter words occur in an answer by chance. */
const LEAST_LETTERS = 12;
const MOST_QUOTES = 60;
/** Words that a sentence of the answer shares with a quote, at least, to have its number. */
const LEAST_SHARED = 2;

/** The figures of a computed answer, one per line: `2024-01: 3; 2024-02: 5` is hard to read. The last line says over what they are computed. */
export function inLines(text: string, by: string): string {
  const { figures, scope } = withoutScope(text);
  const parts = figures.split(/; |；/);
  const isList = by === "reckoning" && FEW_FIGURES <= parts.length && parts.every((part) => /^[^\n]+(: |：|（)[^\n]*$/.test(part));
  return isList ? parts.map((part) => `- ${part}`).join("\n") + (scope && `\n\n${scope}`) : text;
}

/** Cuts off the bracket at the end, which has clauses of its own: `（用水月报：总和：供水量；按 月份 分组）`. */
function withoutScope(text: string): { figures: string; scope: string } {
  const whole = { figures: text, scope: "" };
  if (!/[)）]$/.test(text)) {
    return whole;
  }
  let depth = 0;
  for (let at = text.length - 1; 0 < at; at -= 1) {
    depth += /[)）]/.test(text[at] ?? "") ? 1 : /[(（]/.test(text[at] ?? "") ? -1 : 0;
    if (depth === 0) {
      const [figures, scope] = [text.slice(0, at).trimEnd(), text.slice(at + 1, -1)];
      return /[；：]|[;:] | in /.test(scope) ? { figures, scope } : whole;
    }
  }
  return whole;
}

/** The text with `[1]` for its citations, and the number of citations that it does not show. */
export function withMarks(text: string, citations: Citation[], isQuotation: boolean): { text: string; hidden: number } {
  const known = new Set(citations.map((one) => one.number));
  const written = new Set([...text.matchAll(/\[(\d+)\]/g)].map((match) => Number(match[1])).filter((number) => known.has(number)));
  const quoted = written.size === 0 ? placesOf(text, citations.slice(0, MOST_QUOTES), isQuotation) : [];
  // Numbers behind a list are those of the whole list.
  if (written.size === 0 && !isQuotation && !/(^|\n)- /.test(text)) {
    const placed = new Set(quoted.map((one) => one.number));
    quoted.push(...behindSentences(text, citations.slice(0, MOST_QUOTES).filter((one) => !placed.has(one.number))));
    quoted.sort((a, b) => a.end - b.end || a.number - b.number);
  }
  for (const { number } of quoted) {
    written.add(number);
  }
  const left = citations.filter((one) => !written.has(one.number)).map((one) => one.number);
  const shown = left.slice(0, MOST_AT_END);
  const end = shown.length === 0 ? "" : ` ${shown.map((number) => `[${number}]`).join("")}`;
  const marked = (isQuotation ? paragraphs(text, quoted) : inserted(text, quoted)).trimEnd();
  // Numbers behind a list are those of the whole list.
  const last = /(^|\n)- [^\n]*$/.test(marked) && end !== "" ? `\n\n${end.trim()}` : end;
  return { text: marked + last, hidden: left.length - shown.length };
}

/** The place of the words that a citation quotes. */
type Quoted = { start: number; end: number; number: number };

/** The quoted words in the order of the text. Marks of Markdown and line ends may differ: an answer shows `**Goods.**` as `Goods.` */
function placesOf(text: string, citations: Citation[], isQuotation: boolean): Quoted[] {
  const [all, at] = lettersOf(text);
  const found: Quoted[] = [];
  let next = 0;
  for (const { number, quote } of citations) {
    const [letters] = lettersOf(quote);
    if (letters.length < (isQuotation ? 1 : LEAST_LETTERS)) {
      continue;
    }
    const isFree = (place: number) => place !== -1 && !found.some((one) => (at[place] ?? 0) < one.end && one.start <= (at[place + letters.length - 1] ?? 0));
    const place = [all.indexOf(letters, next), all.indexOf(letters)].find(isFree);
    if (place !== undefined) {
      next = place + letters.length;
      const last = (at[next - 1] ?? 0) + 1;
      // The closing marks belong to the quote.
      found.push({ start: at[place] ?? 0, end: last + (/^[^\s\p{L}\p{N}[（(“「]*/u.exec(text.slice(last))?.[0].length ?? 0), number });
    }
  }
  // The lines of an answer are its quotes, in order.
  const lines = [...text.matchAll(/[^\n]+/g)];
  if (isQuotation && lines.length === citations.length) {
    lines.forEach((line, nth) => {
      const number = citations[nth]?.number ?? 0;
      const [start, end] = [line.index, line.index + line[0].trimEnd().length];
      if (!found.some((one) => one.number === number || (one.start < end && start < one.end))) {
        found.push({ start, end, number });
      }
    });
  }
  return found.sort((a, b) => a.start - b.start);
}

/** The end of the sentence that shares most words with each quote; none in a text of one sentence, and for fewer than two words. */
function behindSentences(text: string, citations: Citation[]): Quoted[] {
  const sentences = [...text.matchAll(/[^.!?。！？\n]+(?:[.!?](?!\s|$)[^.!?。！？\n]*)*[.!?。！？]*/g)].filter((match) => /[\p{L}\p{N}]/u.test(match[0]));
  if (sentences.length < 2) {
    return [];
  }
  const found: Quoted[] = [];
  for (const { number, quote } of citations) {
    const own = wordsOf(quote);
    const counts = sentences.map((match) => [...wordsOf(match[0])].filter((word) => own.has(word)).length);
    const most = Math.max(...counts);
    const sentence = sentences[counts.indexOf(most)];
    if (sentence && LEAST_SHARED <= most) {
      const end = sentence.index + sentence[0].trimEnd().length;
      found.push({ start: end, end, number });
    }
  }
  return found;
}

/** Words of at least four letters, numbers, and pairs of Chinese characters. */
function wordsOf(text: string): Set<string> {
  const latin = text.toLowerCase().match(/[a-z]{4,}|\d[\d.,:-]*\d|\d/g) ?? [];
  const chinese = (text.match(/\p{Script=Han}+/gu) ?? []).flatMap((run) => Array.from({ length: run.length - 1 }, (_, at) => run.slice(at, at + 2)));
  return new Set([...latin, ...chinese]);
}

/** The letters and digits of a text, and their places. */
function lettersOf(text: string): [string, number[]] {
  const found = [...text.matchAll(/[\p{L}\p{N}]/gu)];
  return [found.map(([letter]) => letter).join(""), found.flatMap((match) => Array.from(match[0], () => match.index))];
}

function inserted(text: string, quoted: Quoted[]): string {
  return quoted.toReversed().reduce((marked, { end, number }) => `${marked.slice(0, end)} [${number}]${marked.slice(end)}`, text);
}

/** Each quote in a paragraph of its own, with its number: its lines are joined, and `1.` at its start makes no list. */
function paragraphs(text: string, quoted: Quoted[]): string {
  if (quoted.length === 0) {
    return text.replace(/\n+/g, "\n\n");
  }
  const parts: string[] = [];
  let from = 0;
  for (const { start, end, number } of quoted) {
    // Marks before a quote in its line belong to it: `- `, `1. `, `|`.
    const before = text.slice(from, start);
    const line = before.lastIndexOf("\n") + 1;
    parts.push(...before.slice(0, line).split(/\n+/), `${(before.slice(line) + text.slice(start, end)).replace(/\s*\n\s*/g, " ")} [${number}]`);
    from = end;
  }
  return [...parts, ...text.slice(from).split(/\n+/)].map(withoutList).filter((part) => part !== "").join("\n\n");
}

/** A paragraph that Markdown does not take for an item of a list or a heading. */
function withoutList(part: string): string {
  return part.trim().replace(/^(?:[-*+•#>]+ +|\| *)/, "").replace(/^(\d+)([.)])(?= )/, "$1\\$2");
}
