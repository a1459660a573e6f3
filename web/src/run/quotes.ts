// Splits a quote into what a reader sees: the cells of a row under their columns, or the sentence that fits best among others.
import { plainText } from "../lib/plain";
import { byteLength, cut } from "../viewer/spans";
import type { Citation } from "./types";

/** The cells of a quoted row, one for each column; null for other quotes, and where their number differs. */
export function cellsOf(citation: Citation): string[] | null {
  const cells = citation.quote.trim().replace(/^\||\|$/g, "").split("|").map((cell) => plainText(cell.trim()));
  return citation.columns && 0 < citation.columns.length && cells.length === citation.columns.length ? cells : null;
}

/** The best sentence of a quote, and the text before and after it; all of the text is before it if none is marked. */
export function partsOf(citation: Citation): { before: string; best: string; after: string } {
  const whole = { before: plainText(citation.quote), best: "", after: "" };
  const { quote, span, best } = citation;
  const size = byteLength(quote);
  if (!best || best.start < span.start || span.start + size < best.end || best.end - best.start === size) {
    return whole;
  }
  const parts = cut(quote, span.start, best);
  const spaced = (part: string) => part.replace(/\s+/g, " ");
  return parts === null ? whole : { before: spaced(parts.before), best: plainText(parts.marked), after: spaced(parts.after) };
}
