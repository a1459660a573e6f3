// What does the page know of a request that was not done?
import type { components } from "../api/schema";
import { preferences } from "./preferences.svelte";

/** Who has to do something about it. */
export type Fault = components["schemas"]["Fault"];

/** A problem as the server tells it (RFC 9457), or one of the page's own: `unreachable`, `unreadable`. */
export class ProblemError extends Error {
  readonly code: string;
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly fault: Fault;
  readonly hint: string | undefined;
  /** With `run-diverged`: the number of the event that did not come as it had. */
  readonly seq: number | null;

  constructor(problem: { code: string; status?: number; title?: string; detail?: string; fault?: Fault; hint?: string | null; seq?: number | null }) {
    super(problem.detail || problem.title || problem.code);
    this.name = "ProblemError";
    this.code = problem.code;
    this.status = problem.status ?? 0;
    this.title = problem.title ?? problem.code.replaceAll("-", " ");
    this.detail = problem.detail ?? "";
    this.fault = problem.fault ?? "server";
    this.hint = problem.hint ?? undefined;
    this.seq = problem.seq ?? null;
  }
}

/** Whether somebody stopped it: nothing that is to be shown. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** Anything that was thrown, as a problem that can be shown. */
export function asProblem(error: unknown): ProblemError {
  if (error instanceof ProblemError) {
    return error;
  }
  const detail = error instanceof Error ? error.message : String(error);
  return new ProblemError({ code: "page-defect", detail });
}

/** The problem that `body` tells: of a response, or of a `problem` event. */
export function problemOf(status: number, body: unknown): ProblemError {
  const told = typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
  const text = (name: string) => (typeof told[name] === "string" ? (told[name] as string) : undefined);
  const fault = text("fault");
  return new ProblemError({
    code: text("code") ?? `http-${status}`,
    status,
    title: text("title"),
    detail: (preferences.language === "zh" && text("detail_zh")) || text("detail"),
    fault: fault === "caller" || fault === "model" ? fault : "server",
    hint: text("hint"),
    seq: typeof told["seq"] === "number" ? told["seq"] : null,
  });
}
