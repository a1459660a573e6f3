// Where does a span, which counts bytes of UTF-8, stand in a text of this page, which counts UTF-16?
import type { Schemas } from "../lib/api";

export type Span = Schemas["Span"];
export type Area = Schemas["Area"];
export type PageBox = Schemas["PageBox"];

/** A text parted by a span. */
export type Cut = { before: string; marked: string; after: string };

/** How many bytes of UTF-8 a text has. */
export function byteLength(text: string): number {
  let bytes = 0;
  for (const letter of text) {
    bytes += sizeOf(letter);
  }
  return bytes;
}

/** The index in `text` of its byte `byte`; of one inside a letter, where that begins; beyond the end, the end. */
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

/** The text, which begins at byte `begins` of its document, parted by a span of the document; null if none of it is in it. */
export function cut(text: string, begins: number, span: Span): Cut | null {
  const from = indexOfByte(text, span.start - begins);
  const to = indexOfByte(text, span.end - begins);
  if (span.end <= begins || to <= from) {
    return null;
  }
  return { before: text.slice(0, from), marked: text.slice(from, to), after: text.slice(to) };
}

/** Where a quote stands in the text of a passage, as a span of its document; null where it does not stand there. */
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

/**
 * The part of a line's box that a span takes, told from how wide its letters usually are: the server tells where lines
 * stand, not letters. `line` is the text of the box. A line that runs from right to left stays whole.
 */
export function narrowed(box: PageBox, line: string, span: Span): Area {
  const parts = cut(line, box.span.start, span);
  const whole = widthOf(line);
  if (parts === null || whole === 0 || /[\u0590-\u08ff\ufb1d-\ufefc]/.test(line)) {
    return box.area;
  }
  const width = box.area.right - box.area.left;
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
