// Runs SQL statements over the tables of a base, one at a time.
import { call } from "../../lib/api";
import { type ProblemError, asProblem, isAbort } from "../../lib/problem";
import type { Rows } from "./chart";

export type Result = {
  statement: string;
  rows: Rows;
  /** As long as the page waited. */
  milliseconds: number;
  /** Rows that were asked for at most. */
  most: number;
};

/** Rows of a result: as the server gives them without a number, and the most that it gives. */
export const USUAL_ROWS = 1_000;
export const MOST_ROWS = 10_000;

export class Query {
  statement = $state("");
  result: Result | null = $state.raw(null);
  problem: ProblemError | null = $state.raw(null);
  isRunning = $state(false);
  isStopped = $state(false);
  #stop: AbortController | null = null;

  constructor(readonly base: string, statement: string) {
    this.statement = statement;
  }

  /** The result of the statement before stays while this one runs. */
  async run(statement = this.statement, most = USUAL_ROWS): Promise<void> {
    this.#stop?.abort();
    const stop = (this.#stop = new AbortController());
    [this.isRunning, this.isStopped, this.problem] = [true, false, null];
    const began = performance.now();
    try {
      const rows = await call("post", "/api/v1/bases/{base}/sql", { path: { base: this.base }, body: { statement, most }, signal: stop.signal });
      this.result = { statement, rows, milliseconds: performance.now() - began, most };
    } catch (error) {
      if (stop !== this.#stop) {
        return;
      }
      this.isStopped = isAbort(error);
      [this.result, this.problem] = [null, this.isStopped ? null : asProblem(error)];
    }
    this.isRunning = false;
  }

  /** Ends the waiting; the server ends its work after 10 seconds at the latest. */
  stop(): void {
    this.#stop?.abort();
  }
}
