// Tests that spans of bytes mark their words, in any script.
import { expect, test } from "vitest";

import { type PageBox, byteLength, cut, indexOfByte, narrowed, overlaps, spanOfQuote } from "./spans";

const encoder = new TextEncoder();
const TEXTS = ["The lining is 6 mm thin.", "制动衬片小于6毫米时，须更换。", "Ä é 谁 🐟 校准 \u{20bb7} ß", ""];

test("byteLength equals the count of an encoder", () => {
  for (const text of TEXTS) {
    expect(byteLength(text)).toBe(encoder.encode(text).length);
  }
});

test("each letter begins where its bytes begin, and a byte inside it names it too", () => {
  for (const text of TEXTS) {
    let index = 0;
    for (const letter of text) {
      const begins = encoder.encode(text.slice(0, index)).length;
      for (let byte = 0; byte < encoder.encode(letter).length; byte++) {
        expect(indexOfByte(text, begins + byte)).toBe(index);
      }
      index += letter.length;
    }
    expect(indexOfByte(text, 10_000)).toBe(text.length);
    expect(indexOfByte(text, -5)).toBe(0);
  }
});

test("a passage that begins later in its document is parted by a span of the document", () => {
  const text = "制动衬片小于6毫米时，须更换。";
  const quote = "小于6毫米";
  const span = spanOfQuote(text, 1000, quote);
  expect(span).toEqual({ start: 1012, end: 1025 });
  expect(cut(text, 1000, span ?? { start: 0, end: 0 })).toEqual({ before: "制动衬片", marked: quote, after: "时，须更换。" });
  expect(spanOfQuote(text, 1000, "七毫米")).toBeNull();
  expect(spanOfQuote(text, 1000, "")).toBeNull();
});

test("a span that reaches over the ends of a passage marks what is in it, one beside it nothing", () => {
  expect(cut("bcd", 10, { start: 0, end: 12 })).toEqual({ before: "", marked: "bc", after: "d" });
  expect(cut("bcd", 10, { start: 12, end: 99 })).toEqual({ before: "bc", marked: "d", after: "" });
  for (const span of [{ start: 0, end: 10 }, { start: 13, end: 20 }, { start: 11, end: 11 }]) {
    expect(cut("bcd", 10, span)).toBeNull();
  }
  expect(overlaps({ start: 0, end: 10 }, { start: 9, end: 10 })).toBe(true);
  expect(overlaps({ start: 0, end: 10 }, { start: 10, end: 12 })).toBe(false);
});

test("of a line's box as much is marked as the words take", () => {
  const box: PageBox = { page: 1, span: { start: 100, end: 124 }, area: { left: 50, right: 250, top: 10, bottom: 30 } };
  expect(narrowed(box, "一二三四五六七八", { start: 106, end: 112 })).toEqual({ left: 100, right: 150, top: 10, bottom: 30 });
  expect(narrowed(box, "一二三四五六七八", { start: 0, end: 999 })).toEqual(box.area);
  const rows = "Crane | Load\nA | 40\nB | 50";
  const start = 100 + rows.indexOf("B");
  expect(narrowed({ ...box, span: { start: 100, end: 126 } }, rows, { start, end: start + 6 })).toMatchObject({ left: 50, right: 250, top: 10 + 40 / 3 });
  const paragraph = "a paragraph in one box ".repeat(20);
  expect(narrowed({ ...box, span: { start: 100, end: 560 } }, paragraph, { start: 110, end: 130 })).toEqual(box.area);
  expect(narrowed(box, "שלום עולם", { start: 104, end: 106 })).toEqual(box.area);
});
