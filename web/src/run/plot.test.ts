// Tests which plot the figures of an answer become.
import { expect, test } from "vitest";

import type { Schemas } from "../lib/api";
import { type NamedPlot, isWorthDrawing, plotOfForecast, plotsOf } from "./plot";

const worked = (parts: object) => parts as Schemas["Worked"];
const plotOf = (of: Schemas["Worked"]) => plotsOf(of)[0] as NamedPlot;
const parts = <T>(some: object) => some as T;
const rows = (...keys: string[]) => ({ rows: keys.map((key, at) => ({ key: [key], value: at + 1, unit: null })) });

test("a forecast continues its series as a line with intervals", () => {
  const points = [{ period: "2024-03", value: 3, low: 2, high: 4 }];
  const past = [1, 2].map((value) => ({ period: `2024-0${value}`, value }));
  const own = plotOfForecast(parts({ points, past }), undefined);
  const ofFigures = plotOfForecast(parts({ points }), parts(rows("2024-01", "2024-02")));
  for (const data of [own, ofFigures]) {
    expect([data.kind, data.ticks, data.x]).toEqual(["line", ["2024-01", "2024-02", "2024-03"], [0, 1, 2]]);
    expect(data.series).toEqual([{ label: "", values: [1, 2, 3], low: [null, null, 2], high: [null, null, 4], known: 2 }]);
  }
});

test("shares are bars in percent", () => {
  const data = plotOf(worked({ outlook: [{ kind: "wear", share: 0.25, low: 0.125, high: 0.5 }] }));
  expect([data.kind, data.series, data.formatY?.(25)]).toEqual(["bars", [{ label: "", values: [25], low: [12.5], high: [50] }], "25%"]);
});

test("groups of a table are bars", () => {
  const data = plotOf(worked({ groups: rows("North", "South", "East").rows }));
  expect([data.kind, data.ticks, data.series[0]?.values]).toEqual(["bars", ["North", "South", "East"], [1, 2, 3]]);
});

test("figures with other units have a plot of their own", () => {
  const figure = (key: string, value: number | null, unit: string | null) => ({ key: [key], value, unit });
  const plots = plotsOf(worked({ figures: { rows: [figure("a", 1, "km"), figure("b", null, null), figure("c", 2, "EUR")] } }));
  expect(plots.map((plot) => [plot.ticks, plot.yLabel])).toEqual([[["a", "b"], "km"], [["c"], "EUR"]]);
});

test("two figures or too many names are not drawn", () => {
  expect(isWorthDrawing(plotOf(worked({ figures: rows("a", "b") })))).toBe(false);
  expect(isWorthDrawing(plotOf(worked({ figures: rows("a", "b", "c") })))).toBe(true);
  expect(isWorthDrawing(plotOf(worked({ figures: rows(...Array.from({ length: 41 }, (_, at) => `n${at}`)) })))).toBe(false);
});
