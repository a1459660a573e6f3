// The errors of the client: one class for each decision that a caller can take.

import type { Job, Problem } from "./types.js";

/** Every error of this package. */
export class PikeragError extends Error {
  override name = "PikeragError";
}

/** The server was not reached, or the connection broke. Start `pikerag serve`, or check the address. */
export class ConnectionFailed extends PikeragError {
  override name = "ConnectionFailed";
}

/** The server sent nothing for longer than the timeout. Its run stops when the connection closes. */
export class TimedOut extends ConnectionFailed {
  override name = "TimedOut";
}

/** The reply is not one of a pikerag server. */
export class ReplyError extends PikeragError {
  override name = "ReplyError";
}

/** A job did not reach `done`. `job.stand` is its state, `job.failed` lists the files that failed. */
export class JobError extends PikeragError {
  override name = "JobError";

  constructor(readonly job: Job) {
    const reasons = job.failed.map((failed) => failed.reason);
    const reason = reasons.join("; ") || job.reason || job.problem?.detail || "no reason given";
    super(`job ${job.id} is \`${job.stand}\`: ${reason}`);
  }
}

/** The server refused the request, or failed. */
export class ProblemError extends PikeragError {
  override name = "ProblemError";
  readonly status: number;
  /** Stable across versions of the server. */
  readonly code: string;
  readonly detail: string;
  readonly detailZh: string | undefined;
  /** The side that must act: `caller`, `model` or `server`. */
  readonly fault: string;
  /** What to do next. */
  readonly hint: string | undefined;
  /** Finds the explanation in the server's log. */
  readonly id: string | undefined;
  /** The field of the request that must change, if it is known. */
  readonly param: string | undefined;

  constructor(
    readonly problem: Problem,
    /** Seconds to wait before the next attempt, if the server names them. */
    readonly retryAfter?: number,
  ) {
    const text = `${problem.status} ${problem.code}: ${problem.detail || problem.title}`;
    super(problem.hint ? `${text} (${problem.hint})` : text);
    this.status = problem.status;
    this.code = problem.code;
    this.detail = problem.detail ?? "";
    this.detailZh = problem.detail_zh ?? undefined;
    this.fault = problem.fault;
    this.hint = problem.hint ?? undefined;
    this.id = problem.id ?? undefined;
    this.param = problem.param ?? undefined;
  }
}

/** The error of a response with another status than 2xx. */
export async function failure(response: Response): Promise<ProblemError> {
  const text = await response.text();
  const fault = 500 <= response.status ? "server" : "caller";
  const known = { type: "about:blank", title: response.statusText, fault } as const;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // A proxy before the server, or another server.
  }
  if (typeof value === "object" && value !== null && "code" in value && typeof value.code === "string") {
    return new ProblemError({ ...known, ...value, code: value.code, status: response.status }, retryAfter(response));
  }
  const detail = text.slice(0, 300).trim().replace(/\s+/g, " ");
  const hint = "check the address: this reply is not one of pikerag";
  return new ProblemError({ ...known, status: response.status, code: `http-${response.status}`, detail, hint }, retryAfter(response));
}

/** Seconds from the header `Retry-After`, which holds seconds or a date. */
export function retryAfter(response: Response): number | undefined {
  const value = response.headers.get("retry-after")?.trim() ?? "";
  if (/^\d+$/.test(value)) return Number(value);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000);
}
