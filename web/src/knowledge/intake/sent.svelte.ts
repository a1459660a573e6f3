// Lists the uploaded files that are pending on the server, also those of closed tabs.
import { call } from "../../lib/api";
import { type ProblemError, asProblem, isAbort } from "../../lib/problem";
import type { Jobs } from "./jobs.svelte";
import type { Intake } from "./queue.svelte";
import { type SentFile, pendingOf } from "./pending";

/** More files than this are discarded by one request. */
const MANY = 20;

export class Sent {
  problem: ProblemError | null = $state.raw(null);
  /** The files at the last request: files that a job returns appear after the next one. */
  private found: SentFile[] = $state.raw([]);
  /** The files being uploaded, estimated or indexed. */
  private readonly taken: ReadonlySet<string> | null = $derived.by(() => {
    const { underWay, held } = this.intake;
    return this.jobs.reads === null ? null : new Set([...this.jobs.reads, ...held, ...underWay.map((entry) => entry.name)]);
  });
  readonly pending: SentFile[] = $derived.by(() => pendingOf(this.found, this.intake.left, this.taken));
  /** Those that no job on the page lists as failed: a file is shown once. */
  readonly unlisted: SentFile[] = $derived.by(() => {
    const failed = new Set(this.jobs.all.filter((job) => this.jobs.seen.has(job.id)).flatMap((job) => job.failed.map(({ sent_as }) => sent_as)));
    return this.pending.filter(({ file }) => !failed.has(file));
  });
  /** Changes when the list must be loaded again. */
  private readonly moment = $derived(JSON.stringify(this.taken && [...this.taken].sort()));

  constructor(
    private jobs: Jobs,
    private intake: Intake,
  ) {}

  /** For an `$effect`: loads the list when files came or went, not with each file of many. */
  follow(): (() => void) | undefined {
    if (this.moment === "null" || this.intake.underWay.length !== 0) {
      return undefined;
    }
    const stop = new AbortController();
    void this.load(stop.signal);
    return () => stop.abort();
  }

  async load(signal?: AbortSignal): Promise<void> {
    try {
      const all = await call("get", "/api/v1/bases/{base}/sent", { path: { base: this.intake.base }, signal });
      this.found = pendingOf(all, this.intake.left, this.taken);
      this.problem = null;
    } catch (error) {
      if (!isAbort(error)) {
        this.problem = asProblem(error);
      }
    }
  }

  /** The number of discarded files: a file that is in the base by now, or that a job is about to read, stays. */
  async discard(files: string[]): Promise<number> {
    let gone = 0;
    try {
      if (MANY < files.length && (await this.#isAllPending(files))) {
        return await this.#discard();
      }
      for (const file of files) {
        gone += await this.#discard(file);
      }
      return gone;
    } finally {
      await this.load();
    }
  }

  async #isAllPending(files: string[]): Promise<boolean> {
    await this.load();
    const now = this.pending.filter(({ in_base }) => !in_base).map(({ file }) => file);
    return now.length === files.length && now.every((file) => files.includes(file));
  }

  async #discard(file?: string): Promise<number> {
    try {
      const gone = await call("delete", "/api/v1/bases/{base}/sent", { path: { base: this.intake.base }, query: file === undefined ? {} : { file } });
      this.intake.forget(gone.map((one) => one.file));
      return gone.length;
    } catch (error) {
      const { status } = asProblem(error);
      if (status === 404 && file !== undefined) {
        this.intake.forget([file]);
      } else if (status !== 409) {
        throw error;
      }
      return 0;
    }
  }
}
