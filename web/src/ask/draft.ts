// Puts the answer that a model writes together, piece by piece. It is not checked; the answer replaces it.
import type { Schemas } from "../lib/api";

/** The text of an answer so far, or of its reasons; empty without a draft. */
export type Draft = { part: Schemas["DraftPart"]; text: string };

export const NO_DRAFT: Draft = { part: "answer", text: "" };

/** The draft after one more piece. */
export function withPiece(draft: Draft, piece: Schemas["DraftPiece"]): Draft {
  return { part: piece.part, text: piece.begins ? piece.text : draft.text + piece.text };
}
