// Finds a place in a document.
import { type Schemas, call } from "../lib/api";
import { type Span, spanOfQuote } from "./spans";

export type Chunk = Schemas["Chunk"];
export type WholeSource = Schemas["WholeSource"];

/** A document or a passage of it, and the words to mark. `source` or `chunk` must be given. */
export type Place = { source?: string; chunk?: string; span?: Span; quote?: string; page?: number | null };

/** The document that the viewer shows, with the passage and the marked words. */
export type Found = WholeSource & { chunk: Chunk | null; span: Span | null; page: number | null };

/** Finds a place. `span` marks the words, else the place of `quote` in the passage. */
export async function find(base: string, place: Place, signal?: AbortSignal): Promise<Found> {
  let source = place.source;
  let passage: Chunk | null = null;
  if (source === undefined) {
    passage = await call("get", "/api/v1/bases/{base}/chunks/{chunk}", { path: { base, chunk: place.chunk ?? "" }, signal });
    source = passage.source;
  }
  const whole = await call("get", "/api/v1/bases/{base}/sources/{source}", { path: { base, source }, signal });
  const chunk = whole.chunks.find((one) => one.id === place.chunk) ?? passage;
  const span = place.span ?? (chunk && place.quote ? spanOfQuote(chunk.text, chunk.span.start, place.quote) : null);
  return { ...whole, chunk, span, page: place.page ?? pageOf(whole.chunks, span) ?? chunk?.page ?? null };
}

/** The page that a span begins on. */
function pageOf(chunks: Chunk[], span: Span | null): number | null {
  if (span === null) {
    return null;
  }
  const boxes = chunks.flatMap((chunk) => chunk.boxes ?? []);
  return boxes.find((box) => span.start < box.span.end && box.span.start < span.end)?.page ?? null;
}

/** The headings above a passage without the document's own title. */
export function headingsOf(chunk: Chunk): string[] {
  return chunk.headings[0] === chunk.title ? chunk.headings.slice(1) : chunk.headings;
}

/** The file of a document: the part before `#`. */
export function fileOf(uri: string): string {
  return uri.split("#")[0] ?? uri;
}
