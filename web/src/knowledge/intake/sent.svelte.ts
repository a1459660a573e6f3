// Which files wait with the server, though the tab that sent them may be gone?
import { call } from "../../lib/api";
import { type ProblemError, asProblem, isAbort } from "../../lib/problem";
import type { Jobs } from "./jobs.svelte";
import type { Intake } from "./queue.svelte";
import { type SentFile, waitingOf } from "./waiting";

/** More than so many are thrown away by one request. */
const MANY = 20;

export class Sent {
  problem: ProblemError | null = $state.raw(null);
  /** As it was when the server was asked last: what comes back from a job is there after the next time. */
  private found: SentFile[] = $state.raw([]);
  /** What is on its way into the base: sent, estimated or indexed. */
  private readonly taken: ReadonlySet<string> | null = $derived.by(() => {
    const { underWay, held } = this.intake;
    return this.jobs.reads === null ? null : new Set([...this.jobs.reads, ...held, ...underWay.map((entry) => entry.name)]);
  });
  readonly waiting: SentFile[] = $derived.by(() => waitingOf(this.found, this.intake.left, this.taken));
  /** Changes where the server has to be asked anew. */
  private readonly moment = $derived(JSON.stringify(this.taken && [...this.taken].sort()));

  constructor(
    private jobs: Jobs,
    private intake: Intake,
  ) {}

  /** For an `$effect`: asks whenever something came or went, not with each file of many. */
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
      this.found = waitingOf(all, this.intake.left, this.taken);
      this.problem = null;
    } catch (error) {
      if (!isAbort(error)) {
        this.problem = asProblem(error);
      }
    }
  }

  /** How many went: one that is in the base by now, or that a job is about to read, stays. */
  async throwAway(files: string[]): Promise<number> {
    let gone = 0;
    try {
      if (MANY < files.length && (await this.#isAllThatWaits(files))) {
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

  async #isAllThatWaits(files: string[]): Promise<boolean> {
    await this.load();
    const now = this.waiting.filter(({ in_base }) => !in_base).map(({ file }) => file);
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
