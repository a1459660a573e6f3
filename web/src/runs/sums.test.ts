// Tests that runs are summed, chosen and assigned to their days.
import { expect, test } from "vitest";

import type { Schemas } from "../lib/api";
import { type Run, chosen, daysOf, hasMoney, methodsOf, moneyOf, stateOf, sumOf } from "./sums";

type Roles = Schemas["Spent"]["by_role"];
const usage = (prompt_tokens: number, completion_tokens: number) => ({ prompt_tokens, completion_tokens });

const usd = (paid: number | null): Run["usd"] => ({ spent: paid, paid, paid_by_role: paid === null ? {} : { answer: paid } });

function run(id: string, started: Date, given: Partial<Run> & { spent?: Roles; paid?: Roles } = {}): Run {
  const { spent = {}, paid = {}, usd = { spent: null, paid: null, paid_by_role: {} }, ...more } = given;
  const made = { id, method: "kar3", started: started.getTime(), state: "answered", interrupted: false, question: { id: "asked", text: "Who?" }, cost: { spent: { by_role: spent }, paid: { by_role: paid } }, usd };
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
    run("b", new Date(2026, 2, 28, 23, 59), { spent: roles, paid: roles, usd: usd(0.0012) }),
    run("a", new Date(2026, 2, 28, 0, 0), { spent: roles, paid: roles, usd: usd(0.0012) }),
  ];
  const days = daysOf(all);
  expect(days.map((day) => new Date(day.start).getDate())).toEqual([28, 29, 30, 31, 1, 2]);
  expect(days.map((day) => day.runs)).toEqual([2, 0, 0, 0, 0, 1]);
  expect(days[0]).toMatchObject({ spent: { calls: 2, prompt: 2000, reply: 200 }, paid: { calls: 2 }, byMethod: new Map([["kar3", 2]]) });
  expect(days[0]?.money).toEqual({ dollars: 0.0024, isAll: true });
  // From the record alone: nothing was paid.
  expect(days[5]).toMatchObject({ spent: { calls: 1 }, paid: { calls: 0 }, money: { dollars: 0, isAll: true } });
  expect(days[2]?.money).toEqual({ dollars: 0, isAll: true });
  expect(daysOf([])).toEqual([]);
});

test("money is the sum of what is known, and says so where some is not", () => {
  const roles = { answer: [1, usage(1000, 100)], propose: [2, usage(500, 50)] } satisfies Roles;
  const paid = (id: string, given: Run["usd"]) => run(id, new Date(), { spent: roles, paid: roles, usd: given });
  const [known, other, unknown] = [paid("a", usd(0.5)), paid("b", usd(0.25)), paid("c", usd(null))];
  const partly = paid("d", { spent: null, paid: null, paid_by_role: { answer: 0.125 } });
  const free = run("e", new Date(), { spent: roles });
  expect(moneyOf([known, other])).toEqual({ dollars: 0.75, isAll: true });
  // A free run needs no price.
  expect(moneyOf([known, free])).toEqual({ dollars: 0.5, isAll: true });
  expect(moneyOf([known, unknown])).toEqual({ dollars: 0.5, isAll: false });
  expect(moneyOf([known, partly])).toEqual({ dollars: 0.625, isAll: false });
  expect(moneyOf([unknown, free])).toBeNull();
  expect(moneyOf([])).toEqual({ dollars: 0, isAll: true });
  expect([[known, unknown], [partly], [unknown, free], []].map(hasMoney)).toEqual([true, true, false, false]);
});

test("runs are chosen by all words, method and state", () => {
  const all = [
    run("aaaa1111", new Date(), { question: { id: "asked", text: "谁校准传感器？ Sensor" } }),
    run("bbbb2222", new Date(), { method: "pike", state: "running", interrupted: true, filter: ["folder=law"] }),
    run("cccc3333", new Date(), { state: "failed" }),
  ];
  const ids = (text: string, method = "", state = "") => chosen(all, { text, method, state }).map(({ id }) => id);
  expect(ids("")).toHaveLength(3);
  expect(ids(" SENSOR 传感器 ")).toEqual(["aaaa1111"]);
  expect(ids("bbbb")).toEqual(["bbbb2222"]);
  expect(ids("folder=law")).toEqual(["bbbb2222"]);
  expect(ids("", "kar3", "failed")).toEqual(["cccc3333"]);
  expect(ids("", "", "running")).toEqual([]);
  expect(all.map(stateOf)).toEqual(["answered", "interrupted", "failed"]);
  // A refusal has no answer, and is not shown as one.
  expect(stateOf(run("dddd4444", new Date(), { answer: { text: "", refused: true } as Run["answer"] }))).toBe("refused");
  // A model that gave no words refused, too.
  expect(stateOf(run("dddd4445", new Date(), { answer: { text: " ", refused: false } as Run["answer"] }))).toBe("refused");
  expect(methodsOf(all)).toEqual(["kar3", "pike"]);
});
