// Places the citation numbers in an answer: where the model put them, else behind the words that they quote, else at the end.
import type { Citation } from "./types";

/** At the end of a text so many numbers; the others stand in the list. */
const MOST_AT_END = 8;

/** The text with `[1]` for its citations, and how many of them are not in it. */
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
  // Quotes stand each on a line of its own.
  const lines = isQuotation ? marked.replace(/\n+/g, "\n\n") : marked;
  return { text: lines.trimEnd() + end, hidden: left.length - shown.length };
}
