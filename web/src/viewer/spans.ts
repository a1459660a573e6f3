// Converts spans, which count bytes of UTF-8, to places in a text of this page, which counts UTF-16.
import type { Schemas } from "../lib/api";

export type Span = Schemas["Span"];
export type Area = Schemas["Area"];
export type PageBox = Schemas["PageBox"];

/** A text split by a span. */
export type Cut = { before: string; marked: string; after: string };

/** The number of UTF-8 bytes of a text. */
export function byteLength(text: string): number {
  let bytes = 0;
  for (const letter of text) {
    bytes += sizeOf(letter);
  }
  return bytes;
}

/** The index in `text` of its byte `byte`. A byte inside a letter gives the start of the letter; one past the end gives the end. */
export function indexOfByte(text: string, byte: number): number {
  let bytes = 0;
  let index = 0;
  for (const letter of text) {
    bytes += sizeOf(letter);
    if (byte < bytes) {
      return index;
    }
    index += letter.length;
  }
  return index;
}

/** Splits the text, which starts at byte `begins` of its document, by a span of the document; null if they do not overlap. */
export function cut(text: string, begins: number, span: Span): Cut | null {
  const from = indexOfByte(text, span.start - begins);
  const to = indexOfByte(text, span.end - begins);
  if (span.end <= begins || to <= from) {
    return null;
  }
  return { before: text.slice(0, from), marked: text.slice(from, to), after: text.slice(to) };
}

/** The place of a quote in the text of a passage, as a span of its document; null if the text does not contain it. */
export function spanOfQuote(text: string, begins: number, quote: string): Span | null {
  const index = quote === "" ? -1 : text.indexOf(quote);
  if (index === -1) {
    return null;
  }
  const start = begins + byteLength(text.slice(0, index));
  return { start, end: start + byteLength(quote) };
}

export function overlaps(one: Span, other: Span): boolean {
  return one.start < other.end && other.start < one.end;
}

/** Above this share of a letter's width a box is too high for one line: one line has about 2.4, two have 9.6. */
const HIGHEST_LINE = 5;

/**
 * The part of a box that a span takes, estimated from the usual width of letters: the server gives the places of lines and
 * tables, not of letters. `text` is the text of the box. In a table, the rows are found. A paragraph in one box, and a line
 * from right to left, stay whole.
 */
export function narrowed(box: PageBox, text: string, span: Span): Area {
  const parts = cut(text, box.span.start, span);
  const whole = widthOf(text);
  if (parts === null || whole === 0) {
    return box.area;
  }
  const width = box.area.right - box.area.left;
  const height = box.area.bottom - box.area.top;
  const linesOf = (part: string) => part.split("\n").length - 1;
  if (0 < linesOf(text)) {
    const row = height / (linesOf(text) + 1);
    return { ...box.area, top: box.area.top + row * linesOf(parts.before), bottom: box.area.bottom - row * linesOf(parts.after) };
  }
  if (HIGHEST_LINE < (height * whole) / width || /[\u0590-\u08ff\ufb1d-\ufefc]/.test(text)) {
    return box.area;
  }
  const left = box.area.left + (width * widthOf(parts.before)) / whole;
  const right = box.area.right - (width * widthOf(parts.after)) / whole;
  return { ...box.area, left, right };
}

function sizeOf(letter: string): number {
  const code = letter.codePointAt(0) ?? 0;
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

function widthOf(text: string): number {
  let width = 0;
  for (const letter of text) {
    width += /[iljtf.,;:'|!()[\] ]/.test(letter) ? 0.55 : /[A-Zmw%@]/.test(letter) ? 1.35 : "\u2e80" <= letter ? 2 : 1;
  }
  return width;
}
