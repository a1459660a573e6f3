// Chooses the chart of a result: a line for dates or periods in order, bars for categories, or none.
import type { Schemas } from "../../lib/api";
import type { PlotData } from "../../lib/components/plot";
import { formatNumber } from "../../lib/format";

export type Rows = Schemas["SqlRows"];
type Value = Schemas["DataValue"];
type Column = Pick<Schemas["DataColumn"], "name" | "sql" | "unit">;

/** Columns whose values share an axis, with the same figures as a table. */
export type Chart = { key: string; columns: string[]; data: PlotData; table: { head: string[]; rows: string[][] } };

export type Choice = {
  charts: Chart[];
  /** Columns of numbers that are not drawn: the screen fits only some. */
  leftOut: number;
};

const MOST_BARS = 40;
const MOST_POINTS = 2_000;
const MOST_CHARTS = 4;
/** Colours of a plot. */
const MOST_SERIES = 8;
/** Columns share an axis unless the greatest value of one is more than this many times that of another. */
const MOST_TIMES = 20;

/**
 * The charts of a result whose first column names its rows, each name once, and whose other columns are numbers. Columns of
 * very different size, or with another unit, get charts of their own; `units` are those of the columns. Null where the result has another shape, one row, or too many rows.
 */
export function chartsOf({ columns: [key, ...columns], rows }: Rows, units: ReadonlyMap<string, string> = new Map()): Choice | null {
  if (key === undefined || columns.length === 0 || rows.length < 2 || !columns.every((_, at) => isNumeric(rows, at + 1))) {
    return null;
  }
  const series = columns.map((label, at) => ({ label, unit: units.get(label) ?? "", values: rows.map((row) => numberIn(row[at + 1])) }));
  const names = rows.map((row) => row[0] ?? null);
  const axis = timeAxis(names) ?? categoryAxis(names);
  if (axis === null) {
    return null;
  }
  const groups: (typeof series)[] = [];
  for (const one of series) {
    const group = groups.find((group) => group.length < MOST_SERIES && group.every((other) => one.unit === other.unit && isComparable(sizeOf(one.values), sizeOf(other.values))));
    if (group) {
      group.push(one);
    } else {
      groups.push([one]);
    }
  }
  const drawn = groups.slice(0, MOST_CHARTS);
  const charts = drawn.map((group): Chart => {
    const ordered = group.map(({ label, values }) => ({ label, values: axis.isReversed ? values.toReversed() : values }));
    const cells = (at: number) => ordered.map(({ values }) => shownIn(values[at] ?? null));
    return {
      key, columns: group.map((one) => one.label),
      data: { kind: axis.kind, x: axis.x, ticks: axis.ticks, formatX: axis.formatX, formatY: figure, yLabel: group[0]?.unit || undefined, series: ordered, yLeast: axis.kind === "line" ? leastOf(ordered) : undefined },
      table: { head: [key, ...group.map((one) => one.label)], rows: axis.names.map((name, at) => [name, ...cells(at)]) },
    };
  });
  return { charts, leftOut: series.length - drawn.flat().length };
}

/** The units of the columns of a result, by the columns of the tables; `sum(price) AS total` has the unit of `price`. */
export function unitsOf(results: string[], statement: string, columns: Column[]): Map<string, string> {
  const units = new Map<string, string>();
  for (const result of results) {
    const expression = result.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    const source = new RegExp(`([^,]*)\\sAS\\s+["\`[]?${expression}["\`\\]]?(?=[\\s,]|$)`, "iu").exec(statement)?.[1] ?? result;
    // A count has no unit, and a product or a share has another one.
    const names = /\bcount\s*\(|[*/]/i.test(source) ? [] : [...source.matchAll(/[\p{L}\p{N}_]+/gu)].map(([name]) => name.toLowerCase());
    const found = new Set(columns.filter((column) => [column.sql, column.name].some((name) => names.includes(name.replace(/^["`[]|["`\]]$/g, "").toLowerCase()))).map((column) => column.unit ?? ""));
    const [unit] = found;
    if (found.size === 1 && unit) {
      units.set(result, unit);
    }
  }
  return units;
}

/** Whether each value of a column is a number or missing, and one is there. */
export function isNumeric(rows: Value[][], at: number): boolean {
  return rows.some((row) => typeof row[at] === "number") && rows.every((row) => row[at] === null || typeof row[at] === "number");
}

/** A value as the page shows it: numbers with at most 10 digits that count. */
export function shownIn(value: Value): string {
  return typeof value === "number" ? String(Number(value.toPrecision(10)) === value || Number.isInteger(value) ? value : Number(value.toPrecision(10))) : (value ?? "–");
}

/** `names` are in the order of the axis. */
type Axis = { kind: "line" | "bars"; x: number[]; ticks?: string[]; formatX?: (at: number) => string; names: string[]; isReversed: boolean };

function categoryAxis(names: Value[]): Axis | null {
  const shown = names.map(shownIn);
  return MOST_BARS < names.length || new Set(shown).size < names.length ? null : { kind: "bars", x: shown.map((_, at) => at), ticks: shown, names: shown, isReversed: false };
}

/** The axis of years, quarters, months, days or times that rise or fall from row to row. */
function timeAxis(names: Value[]): Axis | null {
  const periods = names.map(periodOf);
  const [first, second] = periods;
  if (!first || !second || MOST_POINTS < names.length) {
    return null;
  }
  const isReversed = second.at < first.at;
  const inOrder = isReversed ? periods.toReversed() : periods;
  const rises = inOrder.every((one, at) => one?.unit === first.unit && (at === 0 || (inOrder[at - 1]?.at ?? Infinity) < one.at));
  const formatX = (at: number) => (Number.isInteger(at) ? UNITS[first.unit].shown(at) : "");
  const x = inOrder.map((one) => one?.at ?? 0);
  return rises ? { kind: "line", x, formatX, names: (isReversed ? names.toReversed() : names).map(shownIn), isReversed } : null;
}

const two = (value: number) => String(value).padStart(2, "0");
const iso = (milliseconds: number) => (Math.abs(milliseconds) <= 8.64e15 ? new Date(milliseconds).toISOString() : "");
const date = (year: string, month: string, day: string) => Date.parse(`${year}-${month}-${day}T00:00:00Z`);

/** How each unit of time is written, and counted in whole steps. */
const UNITS = {
  year: { form: /^(\d{4})$/, at: (year: string) => Number(year), shown: (at: number) => String(at) },
  quarter: { form: /^(\d{4})-Q([1-4])$/, at: (year: string, quarter: string) => 4 * Number(year) + Number(quarter) - 1, shown: (at: number) => `${Math.floor(at / 4)}-Q${(at % 4) + 1}` },
  month: { form: /^(\d{4})-(0[1-9]|1[0-2])$/, at: (year: string, month: string) => 12 * Number(year) + Number(month) - 1, shown: (at: number) => `${Math.floor(at / 12)}-${two((at % 12) + 1)}` },
  day: { form: /^(\d{4})-(\d\d)-(\d\d)$/, at: (year: string, month: string, day: string) => date(year, month, day) / 86_400_000, shown: (at: number) => iso(at * 86_400_000).slice(0, 10) },
  second: {
    form: /^(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d)(?::(\d\d))?$/,
    at: (year: string, month: string, day: string, hour = "0", minute = "0", second = "0") => date(year, month, day) / 1000 + 3600 * Number(hour) + 60 * Number(minute) + Number(second),
    shown: (at: number) => iso(at * 1000).slice(0, 19).replace("T", " "),
  },
};

function periodOf(name: Value): { unit: keyof typeof UNITS; at: number } | null {
  const text = String(name ?? "");
  for (const unit of Object.keys(UNITS) as (keyof typeof UNITS)[]) {
    const parts = UNITS[unit].form.exec(text);
    const at = parts ? (UNITS[unit].at as (...parts: string[]) => number)(...parts.slice(1)) : NaN;
    // A number is a year only in the range in which people write years.
    if (Number.isFinite(at) && (unit !== "year" || (1000 <= at && at < 3000))) {
      return { unit, at };
    }
  }
  return null;
}

function numberIn(value: Value | undefined): number | null {
  return typeof value === "number" ? value : null;
}

function sizeOf(values: (number | null)[]): number {
  return values.reduce<number>((most, value) => Math.max(most, Math.abs(value ?? 0)), 0);
}

function isComparable(one: number, other: number): boolean {
  return one === 0 || other === 0 || (one <= MOST_TIMES * other && other <= MOST_TIMES * one);
}

/** Where the axis of a line begins if zero is so far below that the line would look flat. */
function leastOf(series: { values: (number | null)[] }[]): number | undefined {
  const values = series.flatMap((one) => one.values).filter((value) => value !== null);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return 0 < least && most - least < least ? least - 0.08 * (most - least || least) : undefined;
}

function figure(value: number): string {
  return formatNumber(value, Math.abs(value) < 1 ? 6 : 2);
}
