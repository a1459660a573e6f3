// Puts the answer that a model writes together, piece by piece. It is not checked; the answer replaces it.
import type { Schemas } from "../lib/api";

/** The text so far, after one more piece. */
export function withPiece(draft: string, piece: Schemas["DraftPiece"]): string {
  return piece.begins ? piece.text : draft + piece.text;
}
