// How is a series drawn? By uPlot, in the colours of now; told again when the theme or the room changes.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

import { formatNumber } from "../lib/format";
import type { Series } from "./series";

const HEIGHT = 204;

/** Draws into `element`, and gives back how to take it away. */
export function drawn(element: HTMLElement, series: Series): () => void {
  let plot: uPlot | null = null;
  const again = () => {
    plot?.destroy();
    plot = new uPlot(optionsOf(element, series), dataOf(series), element);
  };
  again();
  const watched = new ResizeObserver(() => {
    if (plot && plot.width !== element.clientWidth && 0 < element.clientWidth) {
      plot.setSize({ width: element.clientWidth, height: HEIGHT });
    }
  });
  watched.observe(element);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", again);
  return () => {
    watched.disconnect();
    dark.removeEventListener("change", again);
    plot?.destroy();
  };
}

function dataOf({ labels, values, low, high, known }: Series): uPlot.AlignedData {
  const past = values.map((value, place) => (place < known ? value : null));
  // What is expected begins where the past ends, so that the line goes on.
  const future = values.map((value, place) => (known - 1 <= place && known < values.length ? value : null));
  return [labels.map((_, place) => place), past, future, low, high];
}

function optionsOf(element: HTMLElement, series: Series): uPlot.Options {
  const ink = colourOf(element, "--ink-soft");
  const line = colourOf(element, "--line");
  const surface = colourOf(element, "--surface");
  const accent = colourOf(element, "--accent");
  const font = `12px ${getComputedStyle(element).fontFamily}`;
  const { labels } = series;
  const bars = uPlot.paths.bars?.({ size: [0.62, 46], radius: 0.12 });
  const last = labels.length - 1;
  const longest = Math.max(...labels.map((label) => label.length));
  const isTilted = !series.isTime && 70 < longest * labels.length;
  return {
    width: element.clientWidth,
    height: HEIGHT,
    cursor: { show: false },
    legend: { show: false },
    padding: [10, 12, 0, 0],
    scales: { x: { time: false, range: [-0.6, last + 0.6] }, y: { range: (_, __, max) => [Math.min(0, ...series.values.map((value) => value ?? 0)), (max || 1) * 1.1] } },
    axes: [
      {
        stroke: ink, font, gap: 6, size: isTilted ? 64 : 32, rotate: isTilted ? -28 : 0,
        grid: { show: false }, ticks: { show: false },
        splits: (plot) => splits(last, plot.width, series.isTime ? 70 : 44),
        values: (_, places) => places.map((place) => shortened(labels[place] ?? "")),
      },
      {
        stroke: ink, font, size: 54, grid: { stroke: line, width: 1 }, ticks: { show: false },
        values: (_, places) => places.map((value) => `${formatNumber(value, 2)}${series.unit === "%" ? "%" : ""}`),
      },
    ],
    series: [
      {},
      series.isTime
        ? { stroke: accent, width: 2, points: { show: true, size: 7, fill: surface, stroke: accent } }
        : { stroke: accent, fill: accent, width: 0, paths: bars, points: { show: false } },
      { stroke: ink, width: 2, dash: [5, 4], points: { show: series.known < labels.length, size: 8, fill: ink, stroke: surface } },
      { stroke: "transparent", width: 0, points: { show: false } },
      { stroke: "transparent", width: 0, points: { show: false } },
    ],
    hooks: { draw: [(plot) => drawIntervals(plot, series, colourOf(element, "--ink"))] },
  };
}

/** Names as many as there is room for, the last one always. */
function splits(last: number, width: number, room: number): number[] {
  const step = Math.max(1, Math.ceil(((last + 1) * room) / Math.max(width - 60, 1)));
  const places = [];
  for (let place = last; 0 <= place; place -= step) {
    places.unshift(place);
  }
  return places;
}

/** A stroke from where the interval begins to where it ends. */
function drawIntervals(plot: uPlot, { low, high }: Series, colour: string) {
  const { ctx } = plot;
  const arm = 5 * devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.6 * devicePixelRatio;
  ctx.beginPath();
  low.forEach((from, place) => {
    const to = high[place];
    if (from === null || to === null || to === undefined) {
      return;
    }
    const x = plot.valToPos(place, "x", true);
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

/** `light-dark(…)` is worked out for colours of elements alone. */
function colourOf(element: HTMLElement, token: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${token})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function shortened(label: string): string {
  return 18 < label.length ? `${label.slice(0, 17)}…` : label;
}
