// The replies of the server, with the names of its OpenAPI document.
//
// Times are milliseconds since 1970. Spans are half-open ranges of bytes of a document's UTF-8 text, pages count from 1.
// Replies may have further fields. A test compares each interface with the document of a server.

export type By = "auto" | "words" | "meaning" | "atoms" | "hybrid" | "hops" | "layers" | "joined" | "fused";
export type SimilarityBy = "meaning" | "words";
export type Level = "L0" | "L1" | "L2" | "L3" | "L4";
export type TaskClass = "factual" | "bridging" | "comparative" | "quantitative" | "summarizing" | "predictive" | "creative";
export type Verdict = "accept" | "correct" | "reject";
export type JobState = "waiting" | "running" | "offered" | "set_aside" | "done" | "incomplete" | "failed";

export interface Span {
  start: number;
  end: number;
}

export interface Table {
  header: string[];
  rows: string[][];
  lines: Span[];
}

/** A passage. `ordinal` is its position in the document, from 0. */
export interface Chunk {
  id: string;
  source: string;
  uri: string;
  title: string;
  section: string | null;
  headings: string[];
  ordinal: number;
  kind: "text" | "table" | "code" | "figure" | "caption";
  text: string;
  span: Span;
  page: number | null;
  table: Table | null;
  summary?: string;
  hidden?: boolean;
}

/** A changed text of a document: `old` as it was read, `new` as it is now; `fragment` is its place inside the file. */
export interface Correction {
  old: string;
  new: string;
  by: string;
  at: number;
  fragment?: string;
}

/** A passage with the corrections whose new text it contains. */
export interface ShownChunk extends Chunk {
  corrections?: Correction[];
}

/** The corrections of a document. `job` reads its file again with them. */
export interface Corrected {
  corrections: Correction[];
  job: number;
}

/** A notice about a run or a search by its kind, with its values. */
export interface Notice {
  notice: string;
  [value: string]: unknown;
}

/**
 * A hit. `score` is relative to the best hit of the same search, which has 1. `similarity`, from 0 to 1, compares between
 * searches of one base with the same `similarity_by`: use it for a threshold. `metadata` are those of the document, and
 * `sent_as` is the name of its upload.
 */
export interface Found {
  score: number;
  similarity: number;
  chunk: Chunk;
  url: string;
  metadata: Record<string, string>;
  sent_as: string | null;
  parts: Record<string, number>;
  atom: string | null;
}

/** The hits, best first. `similarity_by` is the measure of their `similarity`. */
export interface SearchFound {
  hits: Found[];
  similarity_by: SimilarityBy;
  notices: Notice[];
}

export interface ReplacedBy {
  uri: string;
  title: string;
  date?: string;
  version?: string;
}

export interface Citation {
  number: number;
  chunk: string;
  uri: string;
  title: string;
  page: number | null;
  span: Span;
  quote: string;
  check: "verified" | "not_found" | "described";
  columns?: string[];
  best?: Span;
  replaced_by?: ReplacedBy;
  /** Whether people corrected words of the passage. */
  corrected?: boolean;
}

/** A passage that a method chose in `hop`, from 1; 0 for one that was added afterwards. */
export interface ContextChunk {
  chunk: Chunk;
  hop: number;
}

export interface Context {
  chunks: ContextChunk[];
}

/** The author: a model (then `model`), a quotation, a computation or a person (then `name`). */
export interface WrittenBy {
  kind: "language_model" | "quotation" | "reckoning" | "person";
  model?: string;
  name?: string;
}

/** `refused` answers name the missing information in `text`. `missing` lists facts that no passage contains. */
export interface Answer {
  text: string;
  rationale: string;
  refused: boolean;
  written_by: WrittenBy;
  citations: Citation[];
  context: Context;
  missing?: string[];
  quotes?: Record<string, unknown>;
  worked?: Record<string, unknown>;
}

/** US dollars: `spent` counts all calls, `paid` those not read from the ledger; null if a price is unknown. */
export interface RunUsd {
  spent: number | null;
  paid: number | null;
  paid_by_role: Record<string, number>;
}

/** The result of a question. `links` has a link to the passage of each citation, in their order. */
export interface Asked {
  run: string;
  is_kept: boolean;
  question: string;
  method: string;
  answer: Answer;
  usd: RunUsd;
  links: string[];
  notices: Notice[];
}

/** An earlier message of the conversation. */
export interface Turn {
  by: "person" | "assistant";
  text: string;
}

export interface Begun {
  run: string;
  question: string;
  method: string;
}

/** An event of a run by its kind, with its values. */
export interface RunEvent {
  run: string;
  seq: number;
  time: number;
  event: string;
  parent: number | null;
  decision?: boolean;
  [value: string]: unknown;
}

/** A model call that has no reply yet. */
export interface OpenCall {
  role: string;
  model: string;
  passages: number;
  prompt_tokens: number;
  waited_ms: number;
  expected_ms: number | null;
}

/** More text of the unchecked answer. With `begins`, earlier text of the draft is void. */
export interface DraftPiece {
  begins: boolean;
  part: "reasons" | "answer";
  text: string;
}

/** An event of the stream of a question. `answer` is the last one. */
export type AskEvent =
  | { event: "run"; data: Begun }
  | { event: "event"; data: RunEvent }
  | { event: "calls"; data: OpenCall[] }
  | { event: "draft"; data: DraftPiece }
  | { event: "answer"; data: Asked };

export interface Question {
  id: string;
  text: string;
}

export interface Run {
  id: string;
  method: string;
  question: Question;
  state: "running" | "answered" | "failed" | "cancelled";
  started: number;
  ended: number | null;
  interrupted: boolean;
  usd: RunUsd;
  parameters: Record<string, unknown>;
  filter?: string[];
  answer: Answer | null;
  error: string | null;
  error_zh?: string | null;
}

export interface RunDetails extends Run {
  events: RunEvent[];
}

export interface LeftOut {
  file: string;
  reason: string;
  code: string | null;
  reason_zh: string | null;
}

export interface Unpacked {
  files: string[];
  left_out: LeftOut[];
}

/** A file that has arrived. `job` indexes it; null if the upload is held. */
export interface Uploaded {
  file: string;
  held: number;
  is_whole: boolean;
  job: number | null;
  unpacked?: Unpacked;
  upload?: string;
}

export interface FailedFile {
  file: string;
  code: string;
  reason: string;
  reason_zh: string;
  sent_as: string | null;
}

/** Why a request failed (RFC 9457). `code` is stable across versions of the server; `param` is the field that must change. */
export interface Problem {
  type: string;
  status: number;
  title: string;
  code: string;
  fault: "caller" | "model" | "server";
  detail?: string;
  detail_zh?: string | null;
  hint?: string | null;
  id?: string | null;
  param?: string | null;
  seq?: number | null;
}

/** An indexing job. `stand` is its state; `done` of `total` pieces of `stage` are finished. */
export interface Job {
  id: number;
  base: string;
  kind: "index" | "watch" | "complete";
  stand: JobState;
  stage: string;
  done: number;
  total: number;
  failed: FailedFile[];
  attempts: number;
  added: number;
  started: number | null;
  ended: number | null;
  reason: string | null;
  reason_code: string | null;
  reason_zh: string | null;
  problem: Problem | null;
  report: Record<string, unknown> | null;
  bill: Record<string, unknown> | null;
  accepted: Record<string, unknown> | null;
  key: string | null;
  cap_usd: number | null;
}

/** A document of a base. `language` is an ISO 639-3 code. */
export interface Source {
  id: string;
  uri: string;
  title: string;
  media_type: string;
  hash: string;
  language: string | null;
  metadata: Record<string, string>;
  summary?: string;
}

export interface WholeSource {
  source: Source;
  chunks: Chunk[];
}

/** A file of a base. `sent_as` is its name of the upload. */
export interface FileLine {
  name: string;
  path: string;
  sent_as: string | null;
  on_disk: "there" | "gone" | "unclear";
  documents: number;
  chunks: number;
  hash: string;
  same_as: string[];
}

export interface SentFile {
  file: string;
  bytes: number;
  in_base: boolean;
}

export interface Remains {
  calls: number;
  runs: number;
  verified: number;
}

export interface DeletePreview {
  files: string[];
  documents: number;
  chunks: number;
  remains: Remains;
}

/** The deleted files; empty if no file of the base has such a name. */
export interface DeleteResponse {
  deleted: string[];
  remains: Remains;
  forgotten: Remains | null;
  finished: boolean;
  overwrites_later: boolean;
}

export interface Deleted {
  deleted: DeleteResponse;
  was_sent: boolean;
}

/** A base. One that was `made` over REST or on the page can be renamed and deleted there. */
export interface Base {
  name: string;
  made?: boolean;
}

export interface Method {
  name: string;
  family: string;
  summary: string;
  source: string;
  roles: string[];
  needs: string | null;
}

export interface Verified {
  id: string;
  question: string;
  given: string;
  judgement: unknown;
  by: string;
  at: number;
  correction?: string;
  note?: string;
  run?: string;
}

/** The stored feedback. `is_bare`: no passage supports the right answer. */
export interface Feedback {
  verified: Verified;
  is_bare: boolean;
}
