// Nests the events of a run: rounds, sub-questions and plans hold what happened in them.
import type { Candidate, RunEvent } from "./types";

/** An event, or a round of several, with the steps below it. */
export type Step = {
  key: string;
  /** None for a round, which is no event. */
  event: RunEvent | null;
  /** The number of a round, or of the round of a step that is shown alone. */
  round: number | null;
  /** How long it took since the event before, in milliseconds. */
  took: number;
  /** The candidates of a choice, and the place of the chosen one. */
  from: Candidate[];
  chosen: number | null;
  children: Step[];
};

type Open = { step: Step; kind: "plan" | "asked" | "round"; depth: number };

/** The steps of a run. The first event holds the question and is no step. */
export function treeOf(events: RunEvent[]): Step[] {
  const top: Step[] = [];
  let open: Open[] = [];
  let found: Step | null = null;
  let before: RunEvent | null = null;
  const closeTo = (kind: Open["kind"], depth = -1) => {
    const at = open.findIndex((one) => one.kind === kind && depth <= one.depth);
    open = at === -1 ? open : open.slice(0, at);
  };
  const put = (step: Step) => (open.at(-1)?.step.children ?? top).push(step);
  const enter = (step: Step, kind: Open["kind"], depth: number) => {
    put(step);
    open.push({ step, kind, depth });
  };
  const resolved = resolvedOf(events);
  for (const event of events) {
    const step = stepOf(event, before);
    before = event;
    const hop = "hop" in event ? event.hop : null;
    if (event.event === "began") {
      continue;
    }
    if (hop === null && !["unreadable", "noted", "judged", "tagged", "looked"].includes(event.event)) {
      closeTo("round");
    }
    switch (event.event) {
      case "planned":
      case "answered":
        // A sub-question may have a plan and an answer of its own.
        open = open.slice(0, open.findLastIndex((one) => one.step.event !== null && resolved.has(one.step.event.seq)) + 1);
        event.event === "planned" ? enter(step, "plan", 0) : put(step);
        break;
      case "asked":
        closeTo("asked", event.depth);
        enter(step, "asked", event.depth);
        break;
      case "resolved":
        closeTo("asked", event.depth + 1);
        put(step);
        closeTo("asked", event.depth);
        break;
      case "proposed":
      case "retrieved":
      case "selected":
      case "stopped":
        if (!open.some((one) => one.kind === "round" && one.depth === hop)) {
          closeTo("round");
          enter({ ...emptyStep(`round-${event.seq}`), round: hop }, "round", hop ?? 0);
        }
        put(step);
        if (event.event === "stopped") {
          closeTo("round");
        }
        break;
      default:
        put(step);
    }
    if (event.event === "retrieved" || event.event === "gathered") {
      found = step;
      step.from = event.candidates;
    } else if (event.event === "proposed") {
      found = null;
    } else if (found && (event.event === "selected" || event.event === "stopped")) {
      step.from = found.from;
      found.chosen = event.event === "selected" ? event.index : found.chosen;
    }
  }
  return unwrapped(top);
}

/** The numbers of the sub-questions that are resolved later. */
function resolvedOf(events: RunEvent[]): Set<number> {
  const resolved = new Set<number>();
  let open: Extract<RunEvent, { event: "asked" }>[] = [];
  for (const event of events) {
    if (event.event !== "asked" && event.event !== "resolved") {
      continue;
    }
    const same = open.find((one) => one.depth === event.depth);
    if (event.event === "resolved" && same) {
      resolved.add(same.seq);
    }
    open = open.filter((one) => one.depth < event.depth);
    if (event.event === "asked") {
      open.push(event);
    }
  }
  return resolved;
}

/** An event by itself, which nothing encloses. */
export function leafOf(event: RunEvent): Step {
  return { ...stepOf(event, null), from: "candidates" in event ? event.candidates : [], round: "hop" in event ? event.hop : null };
}

/** How many calls of models a step took with all below it. */
export function callsOf(step: Step): number {
  return step.children.reduce((sum, child) => sum + callsOf(child), step.event?.calls?.length ?? 0);
}

/** How many events there are below. */
export function sizeOf(steps: Step[]): number {
  return steps.reduce((sum, step) => sum + (step.event ? 1 : 0) + sizeOf(step.children), 0);
}

function stepOf(event: RunEvent, before: RunEvent | null): Step {
  // Parallel steps are listed one after the other: there the clock goes back.
  return { ...emptyStep(`event-${event.seq}`), event, took: before ? Math.max(0, event.time - before.time) : 0 };
}

function emptyStep(key: string): Step {
  return { key, event: null, round: null, took: 0, from: [], chosen: null, children: [] };
}

/** A round of one step alone is that step. */
function unwrapped(steps: Step[]): Step[] {
  return steps.map((step) => {
    step.children = unwrapped(step.children);
    const [only] = step.children;
    return step.event === null && step.children.length === 1 && only && only.event?.event !== "proposed" ? only : step;
  });
}
