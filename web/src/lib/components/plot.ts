// Draws a plot with uPlot; only `Plot.svelte` loads it, late.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

import { MOST_OF_NAME, type Values, WHOLE_STEPS, distinct, isWhole, lettersAt, shortened } from "./axis";

/** One row of figures; `null` where there is none. */
export type PlotSeries = {
  label: string;
  values: Values;
  /** The name beside each point, where `kind` is `points`. */
  names?: string[];
  /** The ends of an interval at each figure, where there is one. */
  low?: Values;
  high?: Values;
  /** From this place on the figures are expected, and drawn as a dashed line. */
  known?: number;
};

export type PlotData = {
  kind: "line" | "bars" | "points";
  /** In rising order but for points; places in `ticks` where there are some. */
  x: number[];
  ticks?: string[];
  series: PlotSeries[];
  /** Stacks bars and lines. */
  stacked?: boolean;
  xLabel?: string;
  yLabel?: string;
  formatX?: (value: number) => string;
  formatY?: (value: number) => string;
  /** The end of the axis, which begins at 0. */
  yMost?: number;
  /** The axis begins here, not at 0. */
  yLeast?: number;
};

export type PlotColours = { ink: string; line: string; back: string; font: string; series: string[] };

/** Ticks of more letters in all are tilted. */
const MOST_LETTERS = 70;
/** Lines of more figures are drawn without a mark at each. */
const MOST_POINTS = 150;

/** Draws it into `box`; `onpoint` reports the place of the pointer. */
export function draw(box: HTMLElement, data: PlotData, colours: PlotColours, height: number, onpoint: ((index: number | null) => void) | null): uPlot {
  const format = (given: ((value: number) => string) | undefined) => given ?? String;
  const axis = { stroke: colours.ink, font: colours.font, labelFont: colours.font, labelSize: 20, ticks: { show: false }, grid: { stroke: colours.line, width: 1 } };
  // The highest of a stack is drawn first, so that the lower ones are in front of it.
  const rows = data.stacked ? stack(data.series) : data.series.map((one) => one.values);
  const order = rows.map((_, index) => index);
  if (data.stacked) {
    order.reverse();
  }
  const drawn = order.flatMap((index) => partsOf(data, index, rows[index] ?? [], colours));
  const isTilted = data.kind === "bars" && !data.stacked && data.ticks !== undefined && MOST_LETTERS < data.ticks.length * Math.max(...data.ticks.map((tick) => tick.length));
  const options: uPlot.Options = {
    width: box.clientWidth,
    height,
    legend: { show: false },
    cursor: { show: onpoint !== null, drag: { x: false, y: false }, y: false, points: { show: data.kind !== "bars" && data.series.length < 8 } },
    scales: {
      x: { time: false, range: rangeOfX(data) },
      y: { range: (_, least, most) => [data.yLeast ?? Math.min(0, least), data.yMost ?? (most > 0 ? most + 0.08 * (most - (data.yLeast ?? 0)) : 1)] },
    },
    axes: [
      { ...axis, label: data.xLabel, size: isTilted ? 64 : 30, rotate: isTilted ? 28 : 0, grid: { show: data.kind === "points", stroke: colours.line, width: 1 }, space: 70,
        ...(data.ticks ? { splits: (plot) => places(data.ticks ?? [], plot.width, isTilted ? 30 : 70) } : {}),
        values: (plot, values) => values.map((value) => (data.ticks ? shortened(data.ticks[value] ?? "", isTilted ? lettersAt(plot.width, data.ticks.length) : MOST_OF_NAME) : format(data.formatX)(value))) },
      { ...axis, label: data.yLabel, ...(isWhole(rows) ? { incrs: WHOLE_STEPS } : {}), size: (_, values) => widest(values, colours.font), values: (_, values) => distinct(values.map((value) => format(data.formatY)(value))) },
    ],
    series: [{}, ...drawn.map(([look]) => look)],
    hooks: {
      setCursor: [(plot) => onpoint?.(plot.cursor.idx ?? null)],
      draw: [(plot) => (data.kind === "points" ? name(plot, data.series, colours) : data.series.forEach((one) => intervals(plot, one, colours.ink)))],
    },
  };
  return new uPlot(options, [data.x, ...drawn.map(([, values]) => values)] as uPlot.AlignedData, box);
}

/** The lines of uPlot that show one row of figures: past, expected, and the ends of its intervals, which the scale has to hold. */
function partsOf(data: PlotData, index: number, values: Values, colours: PlotColours): [uPlot.Series, Values][] {
  const one = data.series[index];
  const colour = colours.series[index % colours.series.length] ?? colours.ink;
  const known = one?.known ?? values.length;
  const parts: [uPlot.Series, Values][] = [[lookOf(data, index, colour, colours.back), values.map((value, at) => (at < known ? value : null))]];
  if (known < values.length) {
    const look = { stroke: colours.ink, width: 2, dash: [5, 4], points: { show: true, size: 8, fill: colours.ink, stroke: colours.back } };
    // It begins where the past ends, so that the line goes on.
    parts.push([look, values.map((value, at) => (known - 1 <= at ? value : null))]);
  }
  for (const ends of [one?.low, one?.high]) {
    if (ends) {
      parts.push([{ stroke: "transparent", width: 0, points: { show: false } }, ends]);
    }
  }
  return parts;
}

/** Each row on top of those before it. */
export function stack(series: PlotSeries[]): Values[] {
  const sums: number[] = [];
  return series.map(({ values }) => values.map((value, at) => (sums[at] = (sums[at] ?? 0) + (value ?? 0))));
}

function rangeOfX(data: PlotData): uPlot.Scale.Range {
  if (data.ticks) {
    return [-0.6, Math.max(0, data.ticks.length - 1) + 0.6];
  }
  // Room for the names beside the points.
  return (_, least, most) => (data.kind === "points" ? [Math.min(0, least), most > 0 ? most * 1.25 : 1] : [least, Math.max(most, least + 1e-9)]);
}

/** As many ticks as fit, the last one among them; `space` is that of one tick, in pixels. */
function places(ticks: string[], width: number, space: number): number[] {
  const step = Math.max(1, Math.ceil(ticks.length / Math.max(1, Math.floor((width - 60) / space))));
  return ticks.map((_, at) => at).filter((at) => (ticks.length - 1 - at) % step === 0);
}

function lookOf(data: PlotData, index: number, colour: string, back: string): uPlot.Series {
  if (data.kind === "bars") {
    const isGrouped = !data.stacked && 1 < data.series.length;
    const bars = isGrouped ? besides(data, index) : { size: [0.7, 48] as [number, number], radius: 0.12 };
    return { stroke: colour, fill: colour, width: 0, paths: uPlot.paths.bars?.(bars), points: { show: false } };
  }
  if (data.kind === "line") {
    return { stroke: colour, width: 2, points: { show: data.x.length <= MOST_POINTS, size: 6, fill: back, stroke: colour } };
  }
  return { stroke: colour, paths: () => null, points: { show: true, size: 11, width: 1.5, fill: colour, stroke: back } };
}

/** The bars of one series, beside those of the others at the same place. */
function besides({ x, series }: PlotData, index: number): uPlot.Series.BarsPathBuilderOpts {
  const width = (x.length < 5 ? 0.5 : 0.8) / series.length;
  const unit = 1 as uPlot.Series.BarsPathBuilderFacetUnit.ScaleValue;
  return { size: [1, Infinity], disp: { x0: { unit, values: () => x.map((at) => at + (index - series.length / 2) * width) }, size: { unit, values: () => [0.92 * width] } } };
}

function widest(values: string[] | null, font: string): number {
  const context = document.createElement("canvas").getContext("2d");
  if (!context || !values) {
    return 50;
  }
  context.font = font;
  return Math.ceil(Math.max(24, ...values.map((value) => context.measureText(value).width)) + 16);
}


/** Draws a stroke from the low end of each interval to the high end. */
function intervals(plot: uPlot, { low = [], high = [] }: PlotSeries, colour: string): void {
  const { ctx } = plot;
  const arm = 5 * devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.6 * devicePixelRatio;
  ctx.beginPath();
  low.forEach((from, at) => {
    const to = high[at];
    if (from === null || to === null || to === undefined) {
      return;
    }
    const x = plot.valToPos(plot.data[0][at] ?? 0, "x", true);
    const [bottom, top] = [plot.valToPos(from, "y", true), plot.valToPos(to, "y", true)];
    ctx.moveTo(x, bottom);
    ctx.lineTo(x, top);
    for (const y of [bottom, top]) {
      ctx.moveTo(x - arm, y);
      ctx.lineTo(x + arm, y);
    }
  });
  ctx.stroke();
  ctx.restore();
}

type Box = { left: number; top: number; right: number; bottom: number };

/** Writes each point's name if it fits beside the point; the others are only in the table. */
function name(plot: uPlot, series: PlotSeries[], colours: PlotColours): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  const taken: Box[] = [];
  const marks = series.flatMap(({ values, names }) =>
    values.flatMap((value, at) => {
      const x = plot.data[0][at];
      return value === null || x === undefined ? [] : [{ x: plot.valToPos(x, "x", true), y: plot.valToPos(value, "y", true), text: names?.[at] ?? "" }];
    }),
  );
  for (const { x, y } of marks) {
    taken.push(boxAt(x - 6 * ratio, y - 6 * ratio, 12 * ratio, 12 * ratio));
  }
  ctx.save();
  ctx.font = colours.font.replace(/[\d.]+px/, (size) => `${parseFloat(size) * ratio}px`);
  ctx.fillStyle = colours.ink;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  const high = 15 * ratio;
  for (const { x, y, text } of marks) {
    const wide = ctx.measureText(text).width;
    const away = 9 * ratio;
    const tries = [[x + away, y], [x - away - wide, y], [x - wide / 2, y - away - high / 2], [x - wide / 2, y + away + high / 2], [x + away, y - high], [x + away, y + high], [x - away - wide, y - high], [x - away - wide, y + high]];
    const inside = { left: bbox.left, top: bbox.top, right: bbox.left + bbox.width, bottom: bbox.top + bbox.height };
    for (const [left = 0, middle = 0] of tries) {
      const box = boxAt(left, middle - high / 2, wide, high);
      const isIn = inside.left <= box.left && inside.top <= box.top && box.right <= inside.right && box.bottom <= inside.bottom;
      if (isIn && !taken.some((other) => meet(box, other))) {
        taken.push(box);
        ctx.fillText(text, left, middle);
        break;
      }
    }
  }
  ctx.restore();
}

function boxAt(left: number, top: number, wide: number, high: number): Box {
  return { left, top, right: left + wide, bottom: top + high };
}

function meet(one: Box, other: Box): boolean {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}
