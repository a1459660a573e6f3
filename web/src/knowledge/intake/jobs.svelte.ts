// How far is indexing? The jobs of a base, each followed until it is over, and found again after the page was loaded anew.
import { type Schemas, call } from "../../lib/api";
import { events } from "../../lib/events";
import { type ProblemError, asProblem, isAbort } from "../../lib/problem";
import { isNoBaseYet, isOfKey } from "../access";

export type Job = Schemas["Job"];
const AGAIN_MS = 2000;

export function isOver({ stand }: Job): boolean {
  return stand !== "waiting" && stand !== "running";
}

export class Jobs {
  all: Job[] = $state.raw([]);
  problem: ProblemError | null = $state.raw(null);
  /** Those that were seen under way: what became of them is told. */
  seen: ReadonlySet<number> = $state.raw(new Set<number>());
  /** The sent files that jobs under way read; null where it may be any. */
  readonly reads: ReadonlySet<string> | null = $derived.by(() => this.readNow());
  private isFound = $state(false);
  private takenBy = new Map<number, readonly string[]>();
  private watched = new Set<number>();
  private stop = new AbortController();

  constructor(
    readonly base: string,
    /** One is over. */
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

  /** `files`: the sent ones that it reads, any if they are not named. */
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

  /** A job of which the number alone is known: it reads a file of the base. */
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
        // The base was replaced: its jobs are others.
        if (isAbort(error) || asProblem(error).status === 404) {
          this.all = this.all.filter((one) => one.id !== id || isOver(one));
          return;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}
