// Describes a request that failed.
import type { components } from "../api/schema";

/** The party that must act. */
export type Fault = components["schemas"]["Fault"];

/** A problem that the server reports (RFC 9457), or one of the page's own: `unreachable`, `unreadable`. */
export class ProblemError extends Error {
  readonly code: string;
  readonly status: number;
  readonly title: string;
  /** The cause in English. */
  readonly detail: string;
  /** The cause in Chinese, if the server sends one. */
  readonly detailZh: string | undefined;
  readonly fault: Fault;
  readonly hint: string | undefined;
  /** The name of the entry in the server's log. */
  readonly id: string | undefined;
  /** With `run-diverged`: the number of the first event that differs. */
  readonly seq: number | null;

  constructor(problem: {
    code: string; status?: number; title?: string; detail?: string; detail_zh?: string | null; fault?: Fault; hint?: string | null; id?: string | null; seq?: number | null;
  }) {
    super(problem.detail || problem.title || problem.code);
    this.name = "ProblemError";
    this.code = problem.code;
    this.status = problem.status ?? 0;
    this.title = problem.title ?? "";
    this.detail = problem.detail ?? "";
    this.detailZh = problem.detail_zh || undefined;
    this.fault = problem.fault ?? "server";
    this.hint = problem.hint ?? undefined;
    this.id = problem.id ?? undefined;
    this.seq = problem.seq ?? null;
  }
}

/** Whether the page stopped the request itself: then there is nothing to show. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** Whether the problem is that the base does not exist yet: it is shown as an empty one. */
export function isNoBaseYet(problem: ProblemError): boolean {
  return problem.status === 404 && problem.code === "no-base";
}

/** Anything thrown, as a problem. */
export function asProblem(error: unknown): ProblemError {
  if (error instanceof ProblemError) {
    return error;
  }
  const detail = error instanceof Error ? error.message : String(error);
  return new ProblemError({ code: "page-defect", detail });
}

/** The problem in the body of a response, or of a `problem` event. */
export function problemOf(status: number, body: unknown): ProblemError {
  const fields = typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
  const text = (name: string) => (typeof fields[name] === "string" ? (fields[name] as string) : undefined);
  const fault = text("fault");
  return new ProblemError({
    code: text("code") ?? `http-${status}`,
    status,
    title: text("title"),
    detail: text("detail"),
    detail_zh: text("detail_zh"),
    fault: fault === "caller" || fault === "model" ? fault : "server",
    hint: text("hint"),
    id: text("id"),
    seq: typeof fields["seq"] === "number" ? fields["seq"] : null,
  });
}
