// Are runs counted, chosen and put into their days as they are to be?
import { expect, test } from "vitest";

import type { Schemas } from "../lib/api";
import { type Run, chosen, daysOf, dollarsOf, methodsOf, ratesOf, standingOf, sumOf } from "./sums";

type Roles = Schemas["Spent"]["by_role"];
const usage = (prompt_tokens: number, completion_tokens: number) => ({ prompt_tokens, completion_tokens });

function run(id: string, started: Date, given: Partial<Run> & { spent?: Roles; paid?: Roles } = {}): Run {
  const { spent = {}, paid = {}, ...more } = given;
  const made = { id, method: "kar3", started: started.getTime(), state: "answered", interrupted: false, question: { id: "asked", text: "Who?" }, cost: { spent: { by_role: spent }, paid: { by_role: paid } } };
  return { ...made, ...more } as unknown as Run;
}

test("calls and tokens of all roles together", () => {
  expect(sumOf({ by_role: { propose: [3, usage(1071, 108)], answer: [1, usage(1924, 19)] } })).toEqual({ calls: 4, prompt: 2995, reply: 127 });
  expect(sumOf({ by_role: {} })).toEqual({ calls: 0, prompt: 0, reply: 0 });
});

test("days without a run are there too, also where the clock is set", () => {
  const roles = { answer: [1, usage(1000, 100)] } satisfies Roles;
  const all = [
    run("c", new Date(2026, 3, 2, 0, 0, 1), { method: "pike", spent: roles }),
    run("b", new Date(2026, 2, 28, 23, 59), { spent: roles, paid: roles }),
    run("a", new Date(2026, 2, 28, 0, 0), { spent: roles, paid: roles }),
  ];
  const days = daysOf(all, { prompt: 1e-6, reply: 2e-6 });
  expect(days.map((day) => new Date(day.start).getDate())).toEqual([28, 29, 30, 31, 1, 2]);
  expect(days.map((day) => day.runs)).toEqual([2, 0, 0, 0, 0, 1]);
  expect(days[0]).toMatchObject({ spent: { calls: 2, prompt: 2000, reply: 200 }, paid: { calls: 2 }, byMethod: new Map([["kar3", 2]]) });
  expect(days[0]?.dollars).toBeCloseTo(0.0024);
  // From the record alone: nothing was paid.
  expect(days[5]).toMatchObject({ spent: { calls: 1 }, paid: { calls: 0 }, dollars: 0 });
  expect(daysOf(all, null)[0]?.dollars).toBeNull();
  expect(daysOf([], null)).toEqual([]);
});

test("prices are told from a forecast's two bills", () => {
  const bill = (calls: number, prompt: number, reply: number) => ({ calls, ...usage(prompt, reply) });
  const forecast = { typical: bill(6, 4018, 182), most: bill(24, 435_072, 49_152), basis: "", learned_from: 0 };
  const rates = ratesOf({ method: "kar3", forecast, usd: { typical: 0.004382, most: 0.533376 } });
  expect(rates?.prompt).toBeCloseTo(1e-6, 12);
  expect(rates?.reply).toBeCloseTo(2e-6, 12);
  expect(dollarsOf({ calls: 1, prompt: 1000, reply: 500 }, rates)).toBeCloseTo(0.002);
  expect(ratesOf({ method: "kar3", forecast, usd: { typical: null, most: null } })).toBeNull();
  // One bill twice, or none at all, tells nothing.
  expect(ratesOf({ method: "x", forecast: { ...forecast, most: forecast.typical }, usd: { typical: 1, most: 1 } })).toBeNull();
  const nothing = { ...forecast, typical: bill(0, 0, 0), most: bill(0, 0, 0) };
  expect(ratesOf({ method: "x", forecast: nothing, usd: { typical: 0, most: 0 } })).toBeNull();
});

test("runs are chosen by all words, method and state", () => {
  const all = [
    run("aaaa1111", new Date(), { question: { id: "asked", text: "谁校准传感器？ Sensor" } }),
    run("bbbb2222", new Date(), { method: "pike", state: "running", interrupted: true, filter: ["folder=law"] }),
    run("cccc3333", new Date(), { state: "failed" }),
  ];
  const ids = (text: string, method = "", standing = "") => chosen(all, { text, method, standing }).map(({ id }) => id);
  expect(ids("")).toHaveLength(3);
  expect(ids(" SENSOR 传感器 ")).toEqual(["aaaa1111"]);
  expect(ids("bbbb")).toEqual(["bbbb2222"]);
  expect(ids("folder=law")).toEqual(["bbbb2222"]);
  expect(ids("", "kar3", "failed")).toEqual(["cccc3333"]);
  expect(ids("", "", "running")).toEqual([]);
  expect(all.map(standingOf)).toEqual(["answered", "interrupted", "failed"]);
  expect(methodsOf(all)).toEqual(["kar3", "pike"]);
});
