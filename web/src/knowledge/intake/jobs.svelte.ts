// Follows the jobs of a base until they end, also after a reload of the page.
import { type Schemas, call } from "../../lib/api";
import { events } from "../../lib/events";
import { type ProblemError, asProblem, isAbort, isNoBaseYet } from "../../lib/problem";
import { isOfKey } from "../access";

export type Job = Schemas["Job"];
const AGAIN_MS = 2000;

export function isOver({ stand }: Job): boolean {
  return stand !== "waiting" && stand !== "running";
}

export class Jobs {
  all: Job[] = $state.raw([]);
  problem: ProblemError | null = $state.raw(null);
  /** The jobs that were seen running: their results are shown. */
  seen: ReadonlySet<number> = $state.raw(new Set<number>());
  /** The uploaded files that running jobs read; null if it may be any. */
  readonly reads: ReadonlySet<string> | null = $derived.by(() => this.readNow());
  private isFound = $state(false);
  private takenBy = new Map<number, readonly string[]>();
  private watched = new Set<number>();
  private stop = new AbortController();

  constructor(
    readonly base: string,
    /** Called when a job has ended. */
    private onover: (job: Job) => void,
  ) {}

  async find(): Promise<void> {
    try {
      const jobs = await call("get", "/api/v1/bases/{base}/jobs", { path: { base: this.base }, signal: this.stop.signal });
      this.all = jobs;
      this.problem = null;
      jobs.filter((job) => !isOver(job)).forEach((job) => this.follow(job));
    } catch (error) {
      const problem = asProblem(error);
      if (!isAbort(error) && !isOfKey(problem) && !isNoBaseYet(problem)) {
        this.problem = problem;
      }
    }
    this.isFound = true;
  }

  /** `files`: the uploaded files that it reads; any if omitted. */
  follow(job: Job, files?: readonly string[]): void {
    if (files) {
      this.takenBy.set(job.id, files);
    }
    this.put(job);
    this.seen = new Set([...this.seen, job.id]);
    if (!this.watched.has(job.id)) {
      this.watched.add(job.id);
      void this.watch(job.id);
    }
  }

  /** Follows a job by its number: it reads a file of the base. */
  async followNumber(id: number): Promise<void> {
    this.follow(await call("get", "/api/v1/bases/{base}/jobs/{job}", { path: { base: this.base, job: id } }), []);
  }

  dismiss(id: number): void {
    this.seen = new Set([...this.seen].filter((one) => one !== id));
  }

  close(): void {
    this.stop.abort();
  }

  private readNow(): ReadonlySet<string> | null {
    const files = this.all.filter((job) => !isOver(job)).map(({ id }) => this.takenBy.get(id));
    return this.isFound && files.every((some) => some !== undefined) ? new Set(files.flat()) : null;
  }

  private put(job: Job): void {
    this.all = [job, ...this.all.filter((one) => one.id !== job.id)].sort((a, b) => b.id - a.id);
  }

  private async watch(id: number): Promise<void> {
    const { signal } = this.stop;
    const path = { base: this.base, job: id };
    while (!signal.aborted) {
      try {
        for await (const { event, data } of events<{ event: "job"; data: Job }>("get", "/api/v1/bases/{base}/jobs/{job}", { path, signal })) {
          if (event === "job") {
            this.put(data);
          }
        }
        const job = this.all.find((one) => one.id === id);
        if (job && isOver(job)) {
          this.onover(job);
          return;
        }
      } catch (error) {
        // The base was replaced, and has other jobs.
        if (isAbort(error) || asProblem(error).status === 404) {
          this.all = this.all.filter((one) => one.id !== id || isOver(one));
          return;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}
