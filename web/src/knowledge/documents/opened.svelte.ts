// Loads the open document: its passages, the knowledge extracted from them, and its corrections.
import { type Schemas, call } from "../../lib/api";
import { type ProblemError, asProblem, isAbort } from "../../lib/problem";
import { type Chunk, type GraphNode, madeOf } from "./tree";

type Correction = Schemas["Correction"];

export class Opened {
  whole: Schemas["WholeSource"] | null = $state.raw(null);
  problem: ProblemError | null = $state.raw(null);
  /** The knowledge extracted from the passages that were opened. */
  made: ReadonlyMap<string, GraphNode[]> = $state.raw(new Map<string, GraphNode[]>());
  madeProblem: ProblemError | null = $state.raw(null);
  corrections: Correction[] | null = $state.raw(null);
  private stop = new AbortController();

  constructor(
    readonly base: string,
    readonly source: string,
  ) {}

  async load(): Promise<void> {
    try {
      this.whole = await call("get", "/api/v1/bases/{base}/sources/{source}", { path: { base: this.base, source: this.source }, signal: this.stop.signal });
      this.problem = null;
      this.made = new Map();
    } catch (error) {
      if (!isAbort(error)) {
        this.problem = asProblem(error);
      }
    }
  }

  async loadCorrections(): Promise<void> {
    try {
      const path = { base: this.base, source: this.source };
      this.corrections = (await call("get", "/api/v1/bases/{base}/sources/{source}/reading", { path, signal: this.stop.signal })).corrections;
    } catch {
      // The document's own problem is already shown, and without a reading there is no correction to undo.
      this.corrections = null;
    }
  }

  async loadMade(chunk: Chunk): Promise<void> {
    if (this.made.has(chunk.id)) {
      return;
    }
    this.madeProblem = null;
    try {
      const around = await call("get", "/api/v1/bases/{base}/graph", { path: { base: this.base }, query: { of: chunk.id, depth: 1, most: 200 }, signal: this.stop.signal });
      this.made = new Map([...this.made, [chunk.id, madeOf(around)]]);
    } catch (error) {
      if (!isAbort(error)) {
        this.madeProblem = asProblem(error);
      }
    }
  }

  /** The passage of a link; if the document was read again, the one in its place. */
  chunkOf(id: string | null, ordinal: number | null): Chunk | null {
    const chunks = this.whole?.chunks ?? [];
    return chunks.find((chunk) => chunk.id === id) ?? (ordinal === null ? null : (chunks[Math.min(ordinal, chunks.length - 1)] ?? null));
  }

  close(): void {
    this.stop.abort();
  }
}
