// Keeps the conversations of a base in this browser, as short notes; the runs are in the base.
import { type Schemas } from "../lib/api";
import { ownsStored } from "../lib/key.svelte";
import type { Change } from "../run/types";
import { type AskBody, Run } from "./run.svelte";

/** A question with the run that answers it; with two where methods are compared. */
export type Exchange = { key: number; question: string; runs: Run[] };
type KeptExchange = { question: string; answer: string; runs: { id: string; method: string }[] };
export type Kept = { id: string; title: string; at: number; exchanges: KeptExchange[] };

const MOST_KEPT = 60;
/** The exchanges that go with a follow-up question, and the letters of each answer. */
const EARLIER = 6;
const EARLIER_LETTERS = 2000;

/** The questions about a base; they go on while another tab is open. */
export class Session {
  readonly base: string;
  id = $state(newId());
  exchanges = $state.raw<Exchange[]>([]);
  kept = $state.raw<Kept[]>([]);
  #last = 0;

  constructor(base: string) {
    this.base = base;
    this.kept = readKept(base);
  }

  /** The conversation so far, for a follow-up question. */
  get earlier(): Schemas["Turn"][] {
    return this.exchanges.slice(-EARLIER).flatMap(({ question, runs }) => {
      const text = runs.find((run) => run.answer)?.answer?.text;
      const asked = runs[0]?.rewritten ?? question;
      return text ? [{ by: "person" as const, text: asked }, { by: "assistant" as const, text: text.slice(0, EARLIER_LETTERS) }] : [];
    });
  }

  get isBusy(): boolean {
    return this.exchanges.some(({ runs }) => runs.some((run) => run.state === "running"));
  }

  /** Asks by each of the methods, all at once. */
  async ask(body: AskBody, methods: string[]): Promise<void> {
    const earlier = this.earlier;
    const runs = methods.map(() => new Run(this.base));
    const asked = runs.map((run, place) => run.ask({ ...body, method: methods[place], earlier }));
    this.#add(body.question, runs);
    await Promise.all(asked);
    this.#keep();
  }

  /** Decides an event differently: a new run, the next one in the conversation. */
  async fork(of: Run, at: number, change: Change): Promise<void> {
    const run = new Run(this.base);
    const forked = run.forkOf(of.id ?? "", of, at, change);
    this.#add(of.question, [run]);
    await forked;
    this.#keep();
  }

  /** Repeats a failed question. */
  async retry(exchange: Exchange, run: Run): Promise<void> {
    const other = new Run(this.base);
    const runs = exchange.runs.map((one) => (one === run ? other : one));
    this.exchanges = this.exchanges.map((one) => (one === exchange ? { ...exchange, runs } : one));
    if (run.fork && run.state === "failed") {
      await other.forkOf(run.fork.run, run, run.fork.seq, run.fork.change);
    } else {
      await other.ask(run.body ?? { question: run.question, method: run.method, filter: run.filter });
    }
    this.#keep();
  }

  stop(): void {
    for (const { runs } of this.exchanges) {
      runs.filter((run) => run.state === "running").forEach((run) => run.stop());
    }
  }

  /** A new conversation. */
  start(): void {
    this.stop();
    this.id = newId();
    this.exchanges = [];
  }

  /** Continues a kept conversation. */
  open(kept: Kept): void {
    this.start();
    this.id = kept.id;
    this.exchanges = kept.exchanges.map(({ question, runs }) => ({ key: ++this.#last, question, runs: runs.map((one) => this.#load(one.id, question, one.method)) }));
  }

  /** Shows the run with this identifier: in its conversation, else alone. */
  openRun(id: string): void {
    if (this.exchanges.some(({ runs }) => runs.some((run) => run.id === id))) {
      return;
    }
    this.start();
    const run = this.#load(id, "", "");
    this.exchanges = [{ key: ++this.#last, question: "", runs: [run] }];
  }

  drop(id: string): void {
    this.#write(readKept(this.base).filter((one) => one.id !== id));
    if (id === this.id) {
      this.start();
    }
  }

  #load(id: string, question: string, method: string): Run {
    const run = new Run(this.base);
    [run.state, run.question, run.method] = ["kept", question, method];
    void run.load(id);
    return run;
  }

  #add(question: string, runs: Run[]): void {
    this.exchanges = [...this.exchanges, { key: ++this.#last, question, runs }];
  }

  #keep(): void {
    const exchanges = this.exchanges.flatMap(({ question, runs }): KeptExchange[] => {
      const kept = runs.flatMap((run) => (run.id !== null && run.isKept ? [{ id: run.id, method: run.method }] : []));
      const answer = runs.find((run) => run.answer)?.answer?.text.slice(0, 200) ?? "";
      return kept.length === 0 ? [] : [{ question: question || (runs[0]?.question ?? ""), answer, runs: kept }];
    });
    const title = exchanges[0]?.question;
    if (title) {
      const others = readKept(this.base).filter((one) => one.id !== this.id);
      this.#write([{ id: this.id, title, at: Date.now(), exchanges }, ...others].slice(0, MOST_KEPT));
    }
  }

  #write(kept: Kept[]): void {
    this.kept = kept;
    try {
      localStorage.setItem(placeOf(this.base), JSON.stringify(kept));
    } catch {
      // The storage is full or forbidden: the list lasts as long as the page.
    }
  }
}

const sessions = new Map<string, Session>();

/** The session of a base; the same each time the tab opens. */
export function sessionOf(base: string): Session {
  const session = sessions.get(base) ?? new Session(base);
  sessions.set(base, session);
  return session;
}

function placeOf(base: string): string {
  return `pikerag.conversations/${base}`;
}

function newId(): string {
  return `${Date.now().toString(36)}${Math.random().toString(36).slice(2, 8)}`;
}

function readKept(base: string): Kept[] {
  if (!ownsStored()) {
    return [];
  }
  try {
    const found: unknown = JSON.parse(localStorage.getItem(placeOf(base)) ?? "[]");
    return Array.isArray(found) ? found.filter(isKept) : [];
  } catch {
    return [];
  }
}

function isKept(one: Partial<Kept> | null): one is Kept {
  return typeof one?.id === "string" && typeof one.title === "string" && typeof one.at === "number" && Array.isArray(one.exchanges);
}
