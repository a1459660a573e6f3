// Sums the cost of runs: each, together, and day by day.
import type { Schemas } from "../lib/api";

export type Run = Schemas["RunSummary"];
/** The state in the list: `refused` has no answer, `interrupted` is a run whose process is gone. */
export type ShownState = Schemas["RunState"] | "refused" | "interrupted";
export const STATES: ShownState[] = ["answered", "refused", "failed", "cancelled", "running", "interrupted"];

export type Sum = { calls: number; prompt: number; reply: number };
/** The paid US dollars. Not all of them if some prices are unknown: then more was paid. */
export type Money = { dollars: number; isAll: boolean };
export type Wanted = { text: string; method: string; state: string };
export type Day = { start: number; runs: number; byMethod: Map<string, number>; spent: Sum; paid: Sum; money: Money | null };

export function stateOf(run: Run): ShownState {
  if (run.state === "running" && run.interrupted) {
    return "interrupted";
  }
  const isRefused = run.answer !== null && run.answer !== undefined && (run.answer.refused || run.answer.text.trim() === "");
  return run.state === "answered" && isRefused ? "refused" : run.state;
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

/** Whether the price of any of them is known. */
export function hasMoney(runs: Run[]): boolean {
  return runs.some(isPriced);
}

/** The money paid for them together; null if something was paid and no price is known. */
export function moneyOf(runs: Run[]): Money | null {
  const unknown = runs.filter(({ usd, cost }) => usd.paid === null && sumOf(cost.paid).calls !== 0);
  if (unknown.length !== 0 && !hasMoney(runs)) {
    return null;
  }
  // In a run with a role without a price, the other roles count.
  const dollars = runs.map(({ usd }) => usd.paid ?? Object.values(usd.paid_by_role).reduce((sum, one) => sum + one, 0));
  return { dollars: dollars.reduce((sum, one) => sum + one, 0), isAll: unknown.length === 0 };
}

function isPriced({ usd }: Run): boolean {
  return usd.paid !== null || Object.keys(usd.paid_by_role).length !== 0;
}

/** The runs that contain all the words in question, method, name, answer or filter, and have the wanted state. */
export function chosen(runs: Run[], { text, method, state }: Wanted): Run[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return runs.filter((run) => {
    if ((method && run.method !== method) || (state && stateOf(run) !== state)) {
      return false;
    }
    const whole = [run.question.text, run.method, run.id, run.answer?.text ?? "", ...(run.filter ?? [])].join("\n").toLowerCase();
    return words.every((word) => whole.includes(word));
  });
}

/** The names of their methods, the most frequent first. */
export function methodsOf(runs: Run[]): string[] {
  const counts = new Map<string, number>();
  for (const { method } of runs) {
    counts.set(method, (counts.get(method) ?? 0) + 1);
  }
  return [...counts].sort(([a, many], [b, few]) => few - many || a.localeCompare(b)).map(([method]) => method);
}

/** All days from the first run to the last one, also those without a run, in the local time of the browser. */
export function daysOf(runs: Run[]): Day[] {
  const days = new Map<number, Day>();
  const byDay = new Map<number, Run[]>();
  const starts = runs.map((run) => startOfDay(run.started));
  const last = Math.max(...starts);
  for (let start = Math.min(...starts); start <= last; start = nextDay(start)) {
    const none = { calls: 0, prompt: 0, reply: 0 };
    days.set(start, { start, runs: 0, byMethod: new Map(), spent: none, paid: none, money: null });
  }
  for (const run of runs) {
    const day = days.get(startOfDay(run.started));
    if (day) {
      day.runs += 1;
      day.byMethod.set(run.method, (day.byMethod.get(run.method) ?? 0) + 1);
      day.spent = plus(day.spent, sumOf(run.cost.spent));
      day.paid = plus(day.paid, sumOf(run.cost.paid));
      const those = byDay.get(day.start) ?? [];
      those.push(run);
      byDay.set(day.start, those);
    }
  }
  for (const day of days.values()) {
    day.money = moneyOf(byDay.get(day.start) ?? []);
  }
  return [...days.values()];
}

function startOfDay(time: number): number {
  return new Date(time).setHours(0, 0, 0, 0);
}

/** Not 24 hours later: days on which the clock changes are longer or shorter. */
function nextDay(start: number): number {
  const day = new Date(start);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1).getTime();
}
