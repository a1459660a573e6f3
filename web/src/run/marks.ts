// Places the citation numbers in an answer: at the places of the model, else after the quoted words, else at the end.
import type { Citation } from "./types";

/** The numbers at the end of a text; the others are only in the list. */
const MOST_AT_END = 8;

/** From this number of figures on, each has a line of its own. */
const FEW_FIGURES = 4;

/** The figures of a computed answer, one per line: `2024-01: 3; 2024-02: 5` is hard to read. */
export function inLines(text: string, by: string): string {
  const parts = text.split(/; |；/);
  const isList = by === "reckoning" && FEW_FIGURES <= parts.length && parts.every((part) => /^[^\n]+(: |：|（)[^\n]*$/.test(part));
  return isList ? parts.map((part) => `- ${part}`).join("\n") : text;
}

/** The text with `[1]` for its citations, and the number of citations that it does not show. */
export function withMarks(text: string, citations: Citation[], isQuotation: boolean): { text: string; hidden: number } {
  const known = new Set(citations.map((one) => one.number));
  const written = new Set([...text.matchAll(/\[(\d+)\]/g)].map((match) => Number(match[1])).filter((number) => known.has(number)));
  let marked = text;
  if (written.size === 0) {
    for (const { number, quote } of citations.slice(0, 60)) {
      const at = quote.length < 12 ? -1 : marked.indexOf(quote);
      if (at !== -1) {
        marked = `${marked.slice(0, at + quote.length)} [${number}]${marked.slice(at + quote.length)}`;
        written.add(number);
      }
    }
  }
  const left = citations.filter((one) => !written.has(one.number)).map((one) => one.number);
  const shown = left.slice(0, MOST_AT_END);
  const end = shown.length === 0 ? "" : ` ${shown.map((number) => `[${number}]`).join("")}`;
  // Each quote has its own line.
  const lines = isQuotation ? marked.replace(/\n+/g, "\n\n") : marked;
  // Numbers behind a list are those of the whole list.
  const last = /(^|\n)- [^\n]*$/.test(lines.trimEnd()) && end !== "" ? `\n\n${end.trim()}` : end;
  return { text: lines.trimEnd() + last, hidden: left.length - shown.length };
}
