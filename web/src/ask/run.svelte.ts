// Follows a run event by event, or loads one that the base keeps.
import { type Schemas, ProblemError, asProblem, call, isAbort, problemOf } from "../lib/api";
import { events } from "../lib/events";
import type { Answer, Change, Notice, RunEvent } from "../run/types";
import { type Draft, NO_DRAFT, withPiece } from "./draft";
import { type OpenCall, openCallsAt } from "./waiting";

export type AskBody = Schemas["AskRequest"];
type AskEvent = Schemas["AskEvent"];

/** The state of a run; `kept`: it is in the base and not loaded yet, or it runs elsewhere. */
export type State = "kept" | "running" | "answered" | "failed" | "stopped" | "gone";

/** Events are shown after at most this time, in milliseconds, so that many at once cost one drawing. */
const GATHER_MS = 50;

/** One run as it is shown. */
export class Run {
  readonly base: string;
  /** As it was asked. */
  question = $state("");
  /** The question rewritten to be clear without the conversation; null if it is the same. */
  rewritten = $state<string | null>(null);
  method = $state("");
  filter = $state.raw<string[]>([]);
  id = $state<string | null>(null);
  state = $state<State>("running");
  events = $state.raw<RunEvent[]>([]);
  /** The model calls without a reply, the oldest first. */
  open = $state.raw<OpenCall[]>([]);
  /** The answer that a model writes, unchecked. */
  draft = $state.raw<Draft>(NO_DRAFT);
  answer = $state.raw<Answer | null>(null);
  spent = $state.raw<Schemas["Spent"] | null>(null);
  /** The paid US dollars; null if a price is unknown, or while the run goes on. */
  paid = $state<number | null>(null);
  notices = $state.raw<Notice[]>([]);
  problem = $state.raw<ProblemError | null>(null);
  isKept = $state(true);
  began = $state(Date.now());
  ended = $state<number | null>(null);
  /** The changed decision, if it is a fork. */
  fork = $state.raw<Schemas["ForkPoint"] | null>(null);
  /** The request, to repeat it. */
  body: AskBody | null = null;
  #stop: AbortController | null = null;
  #waiting: RunEvent[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(base: string) {
    this.base = base;
  }

  /** Asks; resolves when the run has ended in any way. */
  async ask(body: AskBody): Promise<void> {
    this.body = body;
    this.question = body.question;
    this.method = body.method ?? "pike";
    this.filter = body.filter ?? [];
    const sent = { path: { base: this.base }, body };
    await this.#follow((signal) => events<AskEvent>("post", "/api/v1/bases/{base}/ask", { ...sent, signal }));
  }

  /** Repeats `run` up to the event `at` and decides that event differently; `of` has the question. */
  async forkOf(run: string, of: Run, at: number, change: Change): Promise<void> {
    [this.question, this.rewritten, this.method, this.filter] = [of.question, of.rewritten, of.method, of.filter];
    this.fork = { run, seq: at, change };
    const sent = { path: { base: this.base, run }, body: { at, change } };
    await this.#follow((signal) => events<AskEvent>("post", "/api/v1/bases/{base}/runs/{run}/fork", { ...sent, signal }));
  }

  /** Loads a kept run. */
  async load(id: string): Promise<void> {
    this.id = id;
    this.problem = null;
    try {
      this.#take(await call("get", "/api/v1/bases/{base}/runs/{run}", { path: { base: this.base, run: id } }));
    } catch (error) {
      this.problem = asProblem(error);
      this.state = this.problem.status === 404 ? "gone" : "failed";
    }
  }

  /** Stops the run: no further model call is made. */
  stop(): void {
    this.#stop?.abort();
  }

  /** The number of model calls so far, with those that have no reply yet. */
  get calls(): number {
    if (this.spent === null) {
      return this.events.reduce((sum, event) => sum + (event.calls?.length ?? 0), this.open.length);
    }
    return Object.values(this.spent.by_role).reduce((sum, [calls]) => sum + calls, 0);
  }

  /** Tokens of prompts and replies; null before the end. */
  get tokens(): number | null {
    const parts = this.spent && Object.values(this.spent.by_role);
    return parts && parts.reduce((sum, [, usage]) => sum + usage.prompt_tokens + usage.completion_tokens, 0);
  }

  #take(kept: Schemas["RunResponse"]): void {
    this.question ||= kept.question.text;
    this.rewritten = kept.question.text === this.question ? null : kept.question.text;
    [this.method, this.filter, this.fork] = [kept.method, kept.filter ?? [], kept.forked];
    [this.events, this.answer, this.spent, this.paid] = [kept.events, kept.answer, kept.cost.spent, kept.usd.paid];
    [this.began, this.ended] = [kept.started, kept.ended];
    this.state = kept.state === "answered" ? "answered" : kept.state === "failed" ? "failed" : kept.state === "running" && !kept.interrupted ? "kept" : "stopped";
    if (kept.state === "failed") {
      this.problem = new ProblemError({ code: "run-failed", detail: kept.error ?? "", fault: "model" });
    }
  }

  async #follow(begin: (signal: AbortSignal) => AsyncGenerator<AskEvent, void, void>): Promise<void> {
    this.#stop = new AbortController();
    [this.state, this.problem, this.began] = ["running", null, Date.now()];
    try {
      for await (const event of begin(this.#stop.signal)) {
        this.#receive(event);
      }
      if (this.state === "running") {
        throw new ProblemError({ code: "cut-off" });
      }
    } catch (error) {
      this.state = isAbort(error) ? "stopped" : "failed";
      this.problem = isAbort(error) ? null : asProblem(error);
    }
    this.#flush();
    [this.open, this.draft, this.ended] = [[], NO_DRAFT, Date.now()];
  }

  #receive(event: AskEvent): void {
    if (event.event === "run") {
      [this.id, this.method] = [event.data.run, event.data.method];
      this.#rewrite(event.data.question);
    } else if (event.event === "event") {
      this.#waiting.push(event.data);
      this.#timer ??= setTimeout(() => this.#flush(), GATHER_MS);
    } else if (event.event === "calls") {
      // A call that an event counts is no longer open.
      this.#flush();
      this.open = openCallsAt(event.data, Date.now());
    } else if (event.event === "draft") {
      this.draft = withPiece(this.draft, event.data);
    } else if (event.event === "answer") {
      const { answer, is_kept, notices, question, method, usd } = event.data;
      [this.answer, this.spent, this.paid] = [answer, answer.spent, usd.paid];
      [this.notices, this.isKept, this.method] = [notices, is_kept, method];
      this.#rewrite(question);
      this.state = "answered";
    } else {
      this.problem = problemOf(event.data.status, event.data);
      this.state = "failed";
    }
  }

  #rewrite(question: string): void {
    this.rewritten = question === this.question ? null : question;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.length !== 0) {
      this.events = [...this.events, ...this.#waiting];
      this.#waiting = [];
    }
  }
}
