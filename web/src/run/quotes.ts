// Splits a quote into what a reader sees: the cells of a row under their columns, or the sentence that fits best among others.
import { plainText } from "../lib/plain";
import type { Citation } from "./types";

/** The cells of a quoted row, one for each column; null for other quotes, and where their number differs. */
export function cellsOf(citation: Citation): string[] | null {
  const cells = citation.quote.trim().replace(/^\||\|$/g, "").split("|").map((cell) => plainText(cell.trim()));
  return citation.columns && 0 < citation.columns.length && cells.length === citation.columns.length ? cells : null;
}

/** The best sentence of a quote, and the text before and after it; all of the text is before it if none is marked. */
export function partsOf(citation: Citation): { before: string; best: string; after: string } {
  const whole = { before: plainText(citation.quote), best: "", after: "" };
  if (!citation.best) {
    return whole;
  }
  // Spans count bytes.
  const bytes = new TextEncoder().encode(citation.quote);
  const [start, end] = [citation.best.start - citation.span.start, citation.best.end - citation.span.start];
  if (start < 0 || bytes.length < end || end - start === bytes.length) {
    return whole;
  }
  const text = (from: number, to: number) => new TextDecoder().decode(bytes.slice(from, to));
  const spaced = (part: string) => part.replace(/\s+/g, " ");
  return { before: spaced(text(0, start)), best: plainText(text(start, end)), after: spaced(text(end, bytes.length)) };
}
