// Reads a report of `pikerag eval`. The API has no type for it: unexpected parts are skipped.

/** A mean with its interval, where it has one. */
export type Figure = { mean: number; low: number | null; high: number | null };
export type Line = { method: string; figures: Record<string, Figure> };
export type Group = { kind: string; name: string; lines: Line[] };
export type Difference = { method: string; against: string; metric: string; questions: number | null; difference: Figure; p: number | null };
export type DataSet = { name: string; lines: Line[]; groups: Group[]; differences: Difference[] };

/** Counted, not shares of one. Less of them is better. */
export const COSTS = ["calls", "tokens", "prompt_tokens", "completion_tokens", "usd", "seconds"];
const COUNTS = new Set([...COSTS, "questions", "failed", "perplexity"]);
const BEST_FIRST = ["acc", "f1", "em", "contained", "rouge_l", "choice"];
const ORDER = ["em", "f1", "precision", "recall", "acc", "contained", "consistency", "final_recall", "refused", "citations"];
const GROUPS = ["by_kind", "by_class", "by_hops"];

export const isShare = (metric: string) => !COUNTS.has(metric);

/** All questions of each data set; of one where the report does not part them. */
export function dataSetsOf(report: unknown): DataSet[] {
  const whole = object(report);
  const parts = list(whole.data_sets).map((part) => dataSetOf(text(object(part).name), object(object(part).report)));
  const all = dataSetOf("", whole);
  return [all, ...parts].filter(({ lines }) => 0 < lines.length);
}

function dataSetOf(name: string, report: Record<string, unknown>): DataSet {
  const groups = GROUPS.flatMap((kind) =>
    list(report[kind]).map((group) => ({ kind, name: text(object(group).name), lines: linesOf(object(group).summaries) })),
  );
  return { name, lines: linesOf(report.overall), groups: groups.filter(({ lines }) => 0 < lines.length), differences: differencesOf(report.significance) };
}

function linesOf(summaries: unknown): Line[] {
  return list(summaries).map((summary) => {
    const { method, further, ...fields } = object(summary);
    const figures: Record<string, Figure> = {};
    for (const [name, value] of [...Object.entries(fields), ...Object.entries(object(further))]) {
      const figure = figureOf(value);
      if (figure) {
        figures[name] = figure;
      }
    }
    const { prompt_tokens: prompt, completion_tokens: reply } = figures;
    if (prompt && reply) {
      figures.tokens = { mean: prompt.mean + reply.mean, low: null, high: null };
    }
    return { method: text(method), figures };
  });
}

function differencesOf(significance: unknown): Difference[] {
  return list(significance).flatMap((one) => {
    const { method, against, metric, questions, difference, p_holm: p } = object(one);
    const figure = figureOf(difference);
    return figure ? [{ method: text(method), against: text(against), metric: text(metric), questions: number(questions), difference: figure, p: number(p) }] : [];
  });
}

/** Which metrics any of the lines has: qualities in their usual order, what is unknown behind them. */
export function qualitiesOf(lines: Line[]): string[] {
  const names = new Set(lines.flatMap(({ figures }) => Object.keys(figures)).filter((name) => isShare(name) || name === "perplexity"));
  return [...names].sort((one, other) => rank(one) - rank(other));
}

/** Costs that are not 0 throughout. */
export function costsOf(lines: Line[]): string[] {
  return COSTS.filter((name) => lines.some(({ figures }) => 0 < (figures[name]?.mean ?? 0)));
}

/** The metric that is shown first. */
export function mainQuality(qualities: string[]): string | undefined {
  return BEST_FIRST.find((name) => qualities.includes(name)) ?? qualities[0];
}

export function sorted(lines: Line[], column: string | null, isDown: boolean): Line[] {
  if (column === null) {
    return lines;
  }
  const sign = isDown ? -1 : 1;
  return [...lines].sort((one, other) => {
    if (column === "method") {
      return sign * one.method.localeCompare(other.method);
    }
    const [a, b] = [one.figures[column]?.mean, other.figures[column]?.mean];
    // Lines without the figure are last in both orders.
    return a === undefined || b === undefined ? Number(a === undefined) - Number(b === undefined) : sign * (a - b);
  });
}

function rank(name: string): number {
  const at = ORDER.indexOf(name);
  return at === -1 ? ORDER.length : at;
}

function figureOf(value: unknown): Figure | null {
  if (typeof value === "number" && Number.isFinite(value)) {
    return { mean: value, low: null, high: null };
  }
  const { mean, low, high } = object(value);
  return typeof mean === "number" && Number.isFinite(mean) ? { mean, low: number(low), high: number(high) } : null;
}

function object(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function number(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
