// What has come of a question so far? A run that is followed event by event, or one that is kept and looked up.
import { type Schemas, ProblemError, asProblem, call, isAbort, problemOf } from "../lib/api";
import { events } from "../lib/events";
import type { Answer, Change, Notice, RunEvent } from "../run/types";

export type AskBody = Schemas["AskRequest"];
type Told = Schemas["AskEvent"];

/** How it stands; `kept`: it is in the base and was not looked up yet. */
export type Stand = "kept" | "under-way" | "answered" | "failed" | "stopped" | "gone";

/** Events are shown so many milliseconds after they came at the latest: many at once cost one drawing. */
const GATHER_MS = 50;

/** One run as it is shown. */
export class Run {
  readonly base: string;
  /** As it was asked. */
  question = $state("");
  /** As it was written to stand alone; null where that is the same. */
  rewritten = $state<string | null>(null);
  method = $state("");
  filter = $state.raw<string[]>([]);
  id = $state<string | null>(null);
  stand = $state<Stand>("under-way");
  events = $state.raw<RunEvent[]>([]);
  answer = $state.raw<Answer | null>(null);
  spent = $state.raw<Schemas["Spent"] | null>(null);
  /** US dollars that were paid; null where a price is not known, or it goes on. */
  paid = $state<number | null>(null);
  notices = $state.raw<Notice[]>([]);
  problem = $state.raw<ProblemError | null>(null);
  isKept = $state(true);
  began = $state(Date.now());
  ended = $state<number | null>(null);
  /** What was decided otherwise, if it is a fork. */
  fork = $state.raw<Schemas["ForkPoint"] | null>(null);
  /** What was sent, to be sent again. */
  body: AskBody | null = null;
  #stop: AbortController | null = null;
  #waiting: RunEvent[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(base: string) {
    this.base = base;
  }

  /** Asks. Comes back when it has ended, whichever way. */
  async ask(body: AskBody): Promise<void> {
    this.body = body;
    this.question = body.question;
    this.method = body.method ?? "pike";
    this.filter = body.filter ?? [];
    const sent = { path: { base: this.base }, body };
    await this.#follow((signal) => events<Told>("post", "/api/v1/bases/{base}/ask", { ...sent, signal }));
  }

  /** Walks `run` up to the event `at`, and goes on otherwise; `of` is asked the same. */
  async forkOf(run: string, of: Run, at: number, change: Change): Promise<void> {
    [this.question, this.rewritten, this.method, this.filter] = [of.question, of.rewritten, of.method, of.filter];
    this.fork = { run, seq: at, change };
    const sent = { path: { base: this.base, run }, body: { at, change } };
    await this.#follow((signal) => events<Told>("post", "/api/v1/bases/{base}/runs/{run}/fork", { ...sent, signal }));
  }

  /** Looks a kept run up. */
  async look(id: string): Promise<void> {
    this.id = id;
    this.problem = null;
    try {
      this.#take(await call("get", "/api/v1/bases/{base}/runs/{run}", { path: { base: this.base, run: id } }));
    } catch (error) {
      this.problem = asProblem(error);
      this.stand = this.problem.status === 404 ? "gone" : "failed";
    }
  }

  /** Nothing more is asked of a model. */
  stop(): void {
    this.#stop?.abort();
  }

  /** How many calls of models there were so far. */
  get calls(): number {
    if (this.spent === null) {
      return this.events.reduce((sum, event) => sum + (event.calls?.length ?? 0), 0);
    }
    return Object.values(this.spent.by_role).reduce((sum, [calls]) => sum + calls, 0);
  }

  /** Tokens of prompts and replies; known at the end. */
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
    this.stand = kept.state === "answered" ? "answered" : kept.state === "failed" ? "failed" : kept.state === "running" && !kept.interrupted ? "kept" : "stopped";
    if (kept.state === "failed") {
      this.problem = new ProblemError({ code: "run-failed", detail: kept.error ?? "", fault: "model" });
    }
  }

  async #follow(begin: (signal: AbortSignal) => AsyncGenerator<Told, void, void>): Promise<void> {
    this.#stop = new AbortController();
    [this.stand, this.problem, this.began] = ["under-way", null, Date.now()];
    try {
      for await (const told of begin(this.#stop.signal)) {
        this.#hear(told);
      }
      if (this.stand === "under-way") {
        throw new ProblemError({ code: "cut-off" });
      }
    } catch (error) {
      this.stand = isAbort(error) ? "stopped" : "failed";
      this.problem = isAbort(error) ? null : asProblem(error);
    }
    this.#flush();
    this.ended = Date.now();
  }

  #hear(told: Told): void {
    if (told.event === "run") {
      [this.id, this.method] = [told.data.run, told.data.method];
      this.#rewrite(told.data.question);
    } else if (told.event === "event") {
      this.#waiting.push(told.data);
      this.#timer ??= setTimeout(() => this.#flush(), GATHER_MS);
    } else if (told.event === "answer") {
      const { answer, is_kept, notices, question, method, usd } = told.data;
      [this.answer, this.spent, this.paid] = [answer, answer.spent, usd.paid];
      [this.notices, this.isKept, this.method] = [notices, is_kept, method];
      this.#rewrite(question);
      this.stand = "answered";
    } else {
      this.problem = problemOf(told.data.status, told.data);
      this.stand = "failed";
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
