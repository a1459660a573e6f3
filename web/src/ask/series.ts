// Which figures of an answer are drawn, and how?
import type { Schemas } from "../lib/api";

/** Figures with their names; `low` and `high` where there is an interval. */
export type Series = { labels: string[]; values: (number | null)[]; low: (number | null)[]; high: (number | null)[]; isTime: boolean; unit: string; /** From here on it is expected. */ known: number };

const MOST_BARS = 40;
const PERIOD = /^\d{4}(-Q\d|-\d{2})?$/;

/** The figures, and what is expected behind them; the shares where kinds are expected. */
export function seriesOf(worked: Schemas["Worked"]): Series {
  const { figures, forecast, outlook } = worked;
  if (outlook && 0 < outlook.length) {
    return {
      labels: outlook.map((one) => one.kind),
      values: outlook.map((one) => 100 * one.share),
      low: outlook.map((one) => 100 * one.low),
      high: outlook.map((one) => 100 * one.high),
      isTime: false,
      unit: "%",
      known: outlook.length,
    };
  }
  const rows = figures?.rows ?? [];
  const points = forecast?.points ?? [];
  const none = rows.map(() => null);
  const labels = [...rows.map((row) => row.key.join(" · ")), ...points.map((point) => point.period)];
  return {
    labels,
    values: [...rows.map((row) => row.value), ...points.map((point) => point.value)],
    low: [...none, ...points.map((point) => point.low)],
    high: [...none, ...points.map((point) => point.high)],
    isTime: 0 < labels.length && labels.every((label) => PERIOD.test(label)),
    unit: rows[0]?.unit ?? "",
    known: rows.length,
  };
}

/** One figure alone, or too many names, make no picture; nor do figures in different units. */
export function worthDrawing(series: Series): boolean {
  return 2 < series.labels.length && (series.isTime || series.labels.length <= MOST_BARS);
}
