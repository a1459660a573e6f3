// Loads the documents, files and counts of a base, for all views of the tab.
import { type Schemas, call } from "../lib/api";
import { type ProblemError, asProblem, isAbort, isNoBaseYet } from "../lib/problem";
import { type Access, FULL, askAccess, isOfKey } from "./access";
import { type Row, requestedAs, rowsOf, shownAs } from "./documents/rows";

type Status = Schemas["StatusResponse"];

export class Holdings {
  access: Access = $state.raw(FULL);
  /** Null until they are loaded. */
  sources: Schemas["Source"][] | null = $state.raw(null);
  /** Also null if the key does not see all of the base. */
  files: Schemas["FileLine"][] | null = $state.raw(null);
  status: Status | null = $state.raw(null);
  problem: ProblemError | null = $state.raw(null);

  readonly rows: Row[] = $derived(rowsOf(this.sources ?? [], this.files));
  readonly isEmpty = $derived(this.sources !== null && this.rows.length === 0);
  private readonly byName = $derived(new Map((this.files ?? []).map((file) => [file.name, file])));
  private stop = new AbortController();

  constructor(readonly base: string) {}

  async load(): Promise<void> {
    this.stop.abort();
    this.stop = new AbortController();
    const { signal } = this.stop;
    try {
      this.access = await askAccess(signal);
      await this.loadSources(signal);
      if (this.access.sees === "all" && this.sources !== null) {
        await this.loadCounts(signal);
      }
      this.problem = null;
    } catch (error) {
      if (!isAbort(error)) {
        this.problem = asProblem(error);
      }
    }
  }

  /** The shown name of a file of the base, or of a document in it. */
  shownAs(place: string): string {
    return shownAs(place, this.byName);
  }

  /** The name of a file in requests: its path if an upload has the same name. */
  requested(file: string): string {
    return requestedAs(file, this.files);
  }

  /** Whether the base has a file with that name. */
  has(file: string): boolean {
    return this.byName.has(file);
  }

  close(): void {
    this.stop.abort();
  }

  private async loadSources(signal: AbortSignal): Promise<void> {
    try {
      this.sources = await call("get", "/api/v1/bases/{base}/sources", { path: { base: this.base }, signal });
    } catch (error) {
      if (isAbort(error) || !isNoBaseYet(asProblem(error))) {
        throw error;
      }
      this.sources = [];
    }
  }

  /** Only keys that see the whole base get counts and files; other keys still see the documents. */
  private async loadCounts(signal: AbortSignal): Promise<void> {
    const path = { base: this.base };
    try {
      [this.files, this.status] = await Promise.all([
        call("get", "/api/v1/bases/{base}/files", { path, signal }),
        call("get", "/api/v1/bases/{base}", { path, signal }),
      ]);
    } catch (error) {
      const problem = asProblem(error);
      if (isAbort(error) || !(isNoBaseYet(problem) || isOfKey(problem))) {
        throw error;
      }
      this.files = this.status = null;
    }
  }
}
