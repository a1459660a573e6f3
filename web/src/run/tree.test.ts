// Tests that events are nested below the plan, the round or the sub-question that they belong to.
import { expect, test } from "vitest";

import { type Step, callsOf, sizeOf, treeOf } from "./tree";
import type { Candidate, RunEvent } from "./types";

let seq = 0;
function eventOf(event: Record<string, unknown>): RunEvent {
  const number = seq++;
  return { run: "aaaaaaaa", seq: number, parent: number === 0 ? null : number - 1, time: 1000 + 10 * number, ...event } as unknown as RunEvent;
}

function events(...all: Record<string, unknown>[]): RunEvent[] {
  seq = 0;
  return [{ event: "began", question: "?", method: "m" }, ...all].map(eventOf);
}

function shape(steps: Step[]): unknown[] {
  return steps.map((step) => {
    const name = step.event?.event ?? `round ${step.round}`;
    return step.children.length === 0 ? name : { [name]: shape(step.children) };
  });
}

const candidates = [{ chunk: "a" }, { chunk: "b" }] as unknown as Candidate[];

test("rounds hold what was proposed, found and chosen", () => {
  const tree = treeOf(
    events(
      { event: "noted" }, { event: "proposed", hop: 1, calls: ["x"] }, { event: "retrieved", hop: 1, candidates }, { event: "selected", hop: 1, index: 1, calls: ["y", "z"] },
      { event: "proposed", hop: 2 }, { event: "stopped", hop: 2 }, { event: "judged" }, { event: "gathered", candidates }, { event: "answered" },
    ),
  );
  expect(shape(tree)).toEqual(["noted", { "round 1": ["proposed", "retrieved", "selected"] }, { "round 2": ["proposed", "stopped"] }, "judged", "gathered", "answered"]);
  const [, found, choice] = tree[1]?.children ?? [];
  expect(found?.chosen).toBe(1);
  expect(choice?.from).toBe(candidates);
  expect(tree[1] && callsOf(tree[1])).toBe(3);
  expect(choice?.took).toBe(10);
  expect(sizeOf(tree)).toBe(9);
});

test("a plan holds what was done under it, a new plan what follows", () => {
  const tree = treeOf(
    events({ event: "classified" }, { event: "planned", round: 1 }, { event: "structured" }, { event: "planned", round: 2 }, { event: "gathered", candidates }, { event: "looked" }, { event: "answered" }),
  );
  expect(shape(tree)).toEqual(["classified", { planned: ["structured"] }, { planned: ["gathered", "looked"] }, "answered"]);
});

test("sub-questions hold theirs, and stand beside others of their depth", () => {
  const tree = treeOf(
    events(
      { event: "asked", depth: 1 }, { event: "asked", depth: 2 }, { event: "retrieved", hop: 1, candidates }, { event: "resolved", depth: 2 }, { event: "resolved", depth: 1 },
      { event: "asked", depth: 1 }, { event: "judged" }, { event: "asked", depth: 1 }, { event: "gathered", candidates }, { event: "answered" },
    ),
  );
  expect(shape(tree)).toEqual([{ asked: [{ asked: ["retrieved", "resolved"] }, "resolved"] }, { asked: ["judged"] }, { asked: ["gathered"] }, "answered"]);
});

test("a sub-question holds the plan and the answer of its own", () => {
  const tree = treeOf(
    events(
      { event: "planned", round: 1 }, { event: "asked", depth: 1 }, { event: "gathered", candidates }, { event: "asked", depth: 2 }, { event: "classified" },
      { event: "planned", round: 1 }, { event: "looked" }, { event: "answered" }, { event: "resolved", depth: 2 }, { event: "thought" }, { event: "answered" },
    ),
  );
  expect(shape(tree)).toEqual([{ planned: [{ asked: ["gathered", { asked: ["classified", { planned: ["looked"] }, "answered", "resolved"] }, "thought"] }] }, "answered"]);
});

test("a thousand rounds are nested", () => {
  const many = Array.from({ length: 1000 }, (_, round) => [{ event: "proposed", hop: round + 1 }, { event: "retrieved", hop: round + 1, candidates }]).flat();
  expect(sizeOf(treeOf(events(...many)))).toBe(2000);
});
