// Turns the figures of an answer into a plot.
import type { Schemas } from "../lib/api";
import type { PlotData } from "../lib/components/plot";
import { formatNumber } from "../lib/format";

/** A plot whose figures have names. */
export type NamedPlot = PlotData & { ticks: string[] };

const MOST_BARS = 40;
const PERIOD = /^\d{4}(-Q\d|-\d{2})?$/;

/** The figures, those of the groups of a table, or the expected shares of kinds; figures with other units have a plot of their own. */
export function plotsOf({ figures, groups, outlook }: Schemas["Worked"]): NamedPlot[] {
  const shares = outlook ?? [];
  if (0 < shares.length) {
    const [values, low, high] = (["share", "low", "high"] as const).map((part) => shares.map((one) => 100 * one[part]));
    return [named("bars", shares.map((one) => one.kind), { label: "", values: values ?? [], low: low ?? [], high: high ?? [] }, "%")];
  }
  const rows = figures?.rows ?? groups ?? [];
  // A group without a figure has no unit: it goes with the first one.
  const first = rows.find((row) => row.unit)?.unit ?? "";
  const unitOf = (row: (typeof rows)[number]) => row.unit || (row.value === null ? first : "");
  return [...new Set(rows.map(unitOf))].map((unit) => timeOrBars(rows.filter((row) => unitOf(row) === unit).map((row) => [row.key.join(" · "), row.value]), [], unit));
}

/** A series with its forecast: its own past, or the figures of a run of an earlier version. */
export function plotOfForecast(forecast: Forecast, figures: Schemas["Figures"] | undefined): NamedPlot {
  const own: Known[] = (forecast.past ?? []).map((known) => [known.period, known.value]);
  const past = 0 < own.length ? own : (figures?.rows ?? []).map((row): Known => [row.key.join(" · "), row.value]);
  return timeOrBars(past, forecast.points, forecast.unit ?? figures?.rows[0]?.unit);
}

type Forecast = Schemas["Forecast"];
type Known = [string, number | null];

function timeOrBars(past: Known[], points: Forecast["points"], unit: string | undefined): NamedPlot {
  const none = past.map(() => null);
  const ticks = [...past.map(([name]) => name), ...points.map((point) => point.period)];
  const isTime = 0 < ticks.length && ticks.every((tick) => PERIOD.test(tick));
  const values = [...past.map(([, value]) => value), ...points.map((point) => point.value)];
  const [low, high] = [[...none, ...points.map((point) => point.low)], [...none, ...points.map((point) => point.high)]];
  return named(isTime ? "line" : "bars", ticks, { label: "", values, low, high, known: past.length }, unit ?? "");
}

/** One or two figures, or too many names, are not worth a plot. */
export function isWorthDrawing({ kind, ticks }: NamedPlot): boolean {
  return 2 < ticks.length && (kind === "line" || ticks.length <= MOST_BARS);
}

function named(kind: PlotData["kind"], ticks: string[], series: PlotData["series"][number], unit: string): NamedPlot {
  return { kind, x: ticks.map((_, at) => at), ticks, series: [series], yLabel: unit === "" || unit === "%" ? undefined : unit, formatY: (value) => `${formatNumber(value, 2)}${unit === "%" ? "%" : ""}` };
}
