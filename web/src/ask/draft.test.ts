// Tests how the answer that a model writes is put together.
import { expect, test } from "vitest";

import { withPiece } from "./draft";

test("pieces_are_appended_and_another_draft_begins_again", () => {
  const pieces = [
    { begins: true, text: "In 青" },
    { begins: false, text: "砚 👩" },
    { begins: false, text: "‍🔬." },
    { begins: true, text: "In Oslo" },
    { begins: true, text: "" },
    { begins: true, text: "<b>x" },
  ];
  const shown: string[] = [];
  pieces.reduce((draft, piece) => {
    shown.push(withPiece(draft, piece));
    return withPiece(draft, piece);
  }, "");
  expect(shown).toEqual(["In 青", "In 青砚 👩", "In 青砚 👩‍🔬.", "In Oslo", "", "<b>x"]);
});
