// What did runs take: each, together, and day by day?
import type { Schemas } from "../lib/api";

export type Run = Schemas["RunSummary"];
/** As it stands in the list: `interrupted` is a run whose process is gone. */
export type Standing = Schemas["RunState"] | "interrupted";
export const STANDINGS: Standing[] = ["answered", "failed", "cancelled", "running", "interrupted"];

export type Sum = { calls: number; prompt: number; reply: number };
/** US dollars for a token of a prompt and of a reply. */
export type Rates = { prompt: number; reply: number };
export type Wanted = { text: string; method: string; standing: string };
/** `dollars` is what was paid; null without rates. */
export type Day = { start: number; runs: number; byMethod: Map<string, number>; spent: Sum; paid: Sum; dollars: number | null };

export function standingOf(run: Run): Standing {
  return run.state === "running" && run.interrupted ? "interrupted" : run.state;
}

export function sumOf(spent: Schemas["Spent"]): Sum {
  const sum = { calls: 0, prompt: 0, reply: 0 };
  for (const [calls, usage] of Object.values(spent.by_role)) {
    sum.calls += calls;
    sum.prompt += usage.prompt_tokens;
    sum.reply += usage.completion_tokens;
  }
  return sum;
}

export function plus(one: Sum, other: Sum): Sum {
  return { calls: one.calls + other.calls, prompt: one.prompt + other.prompt, reply: one.reply + other.reply };
}

export function dollarsOf(sum: Sum, rates: Rates | null): number | null {
  return rates === null ? null : sum.prompt * rates.prompt + sum.reply * rates.reply;
}

/**
 * What tokens cost, by two bills of a forecast. The server's list of runs tells no money; a forecast of two different
 * amounts of tokens has both prices in it. Where models differ it is the dearest of them, so the sum is an upper bound.
 */
export function ratesOf({ forecast, usd }: Schemas["QuestionForecast"]): Rates | null {
  const { typical, most } = forecast;
  const part = typical.prompt_tokens * most.completion_tokens - most.prompt_tokens * typical.completion_tokens;
  if (usd.typical === null || usd.most === null || part === 0) {
    return null;
  }
  const prompt = (usd.typical * most.completion_tokens - usd.most * typical.completion_tokens) / part;
  const reply = (typical.prompt_tokens * usd.most - most.prompt_tokens * usd.typical) / part;
  return Number.isFinite(prompt) && Number.isFinite(reply) && -1e-9 < prompt && -1e-9 < reply ? { prompt: Math.max(0, prompt), reply: Math.max(0, reply) } : null;
}

/** Those that have all the words in question, method, name, answer or filter, and stand as wanted. */
export function chosen(runs: Run[], { text, method, standing }: Wanted): Run[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return runs.filter((run) => {
    if ((method && run.method !== method) || (standing && standingOf(run) !== standing)) {
      return false;
    }
    const whole = [run.question.text, run.method, run.id, run.answer?.text ?? "", ...(run.filter ?? [])].join("\n").toLowerCase();
    return words.every((word) => whole.includes(word));
  });
}

/** The names of methods in them, those that were used most first. */
export function methodsOf(runs: Run[]): string[] {
  const counts = new Map<string, number>();
  for (const { method } of runs) {
    counts.set(method, (counts.get(method) ?? 0) + 1);
  }
  return [...counts].sort(([a, many], [b, few]) => few - many || a.localeCompare(b)).map(([method]) => method);
}

/** All days from the first run's to the last one's, those without a run among them, by the clock of whoever looks. */
export function daysOf(runs: Run[], rates: Rates | null): Day[] {
  const days = new Map<number, Day>();
  const starts = runs.map((run) => startOfDay(run.started));
  const last = Math.max(...starts);
  for (let start = Math.min(...starts); start <= last; start = nextDay(start)) {
    const none = { calls: 0, prompt: 0, reply: 0 };
    days.set(start, { start, runs: 0, byMethod: new Map(), spent: none, paid: none, dollars: rates && 0 });
  }
  for (const run of runs) {
    const day = days.get(startOfDay(run.started));
    if (day) {
      day.runs += 1;
      day.byMethod.set(run.method, (day.byMethod.get(run.method) ?? 0) + 1);
      day.spent = plus(day.spent, sumOf(run.cost.spent));
      day.paid = plus(day.paid, sumOf(run.cost.paid));
      day.dollars = dollarsOf(day.paid, rates);
    }
  }
  return [...days.values()];
}

function startOfDay(time: number): number {
  return new Date(time).setHours(0, 0, 0, 0);
}

/** Not 24 hours on: days on which the clock is set are longer or shorter. */
function nextDay(start: number): number {
  const day = new Date(start);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1).getTime();
}
