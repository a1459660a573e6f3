// Tests how the answer that a model writes is put together.
import { expect, test } from "vitest";

import type { Schemas } from "../lib/api";
import { type Draft, NO_DRAFT, withPiece } from "./draft";

test("pieces_are_appended_and_another_draft_begins_again", () => {
  const piece = (begins: boolean, text: string, part: Schemas["DraftPart"] = "answer"): Schemas["DraftPiece"] => ({ begins, part, text });
  const pieces = [
    piece(true, "It is ", "reasons"),
    piece(false, "a town.", "reasons"),
    piece(true, "In 青"),
    piece(false, "砚 👩"),
    piece(false, "\u200d🔬."),
    piece(true, "In Oslo"),
    piece(true, ""),
    piece(true, "<b>x"),
  ];
  const shown: Draft[] = [];
  let draft = NO_DRAFT;
  for (const one of pieces) {
    draft = withPiece(draft, one);
    shown.push(draft);
  }
  expect(shown.map(({ text }) => text)).toEqual(["It is ", "It is a town.", "In 青", "In 青砚 👩", "In 青砚 👩\u200d🔬.", "In Oslo", "", "<b>x"]);
  expect(shown.map(({ part }) => part)).toEqual(["reasons", "reasons", "answer", "answer", "answer", "answer", "answer", "answer"]);
});
