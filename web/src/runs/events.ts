// What does a step of a run say to people? Its title, what goes with it, and what can be opened below.
import type { Schemas } from "../lib/api";
import { formatNumber } from "../lib/format";
import { fault, leftOut, note, planStep, reason, reasons, recollection, row } from "../lib/words/facts";
import { runs } from "../lib/words/runs";

export type RunEvent = Schemas["RunEvent"];
type Shown = { title: string; text: string };
export type Said = { title: string; hop?: number; lines: string[]; thinking?: string; candidates?: Shown[] };

/** What it says; a kind that this page does not know yet by its own name. */
export function said(event: RunEvent): Said {
  const words = runs().events;
  switch (event.event) {
    case "began":
      return { title: words.began(event.method), lines: [event.question] };
    case "proposed":
      return { title: words.proposed(event.proposals.length), hop: event.hop, lines: event.proposals, thinking: event.thinking };
    case "retrieved":
      return { title: words.retrieved(event.candidates.length), hop: event.hop, lines: [], candidates: event.candidates.map(candidate) };
    case "selected":
      return { title: words.selected(event.index + 1), hop: event.hop, lines: [event.title], thinking: event.thinking };
    case "stopped":
      return { title: words.stopped, hop: event.hop, lines: [words.reasons[event.reason] ?? event.reason] };
    case "unreadable":
      return { title: words.unreadable(event.role), lines: [fault(event.reason)] };
    case "gathered":
      return { title: words.gathered(event.candidates.length), lines: [], candidates: event.candidates.map(candidate) };
    case "looked": {
      const facts = event.facts.map((fact) => `${fact.text} [${fact.passage}] (${fact.stands ? words.stands : words.doesNotStand})`);
      return { title: words.looked(event.look), lines: event.answer ? [...facts, words.soFar(event.answer)] : facts, thinking: event.thinking };
    }
    case "thought":
      return { title: words.thought, lines: [event.text] };
    case "asked":
      return { title: words.asked, lines: [event.question] };
    case "resolved":
      return { title: words.resolved, lines: [event.question, event.answer] };
    case "judged": {
      const score = event.score === null ? [] : [`${words.score}: ${formatNumber(event.score, 3)}`];
      return { title: words.judged(words.criteria[event.criterion] ?? event.criterion, event.holds), lines: [event.of, ...score] };
    }
    case "node":
      return { title: words.node(event.node + 1), lines: [event.text] };
    case "merged":
      return { title: words.merged, lines: [...event.steps, words.into(event.into)] };
    case "path":
      return { title: words.path(event.nodes.map((node) => node + 1).join(" → ")), lines: [event.answer] };
    case "consulted":
      return { title: words.consulted(event.nodes.length), lines: event.nodes.map((node) => node.title) };
    case "tagged": {
      const tags = event.tags.map(({ tag, to }) => (to.length === 0 ? tag : `${tag} → ${to.join(", ")}`));
      const keywords = event.keywords.length === 0 ? [] : [words.keywords(event.keywords.join(", "))];
      return { title: words.tagged, lines: [...tags, words.searchedFor(event.query), ...keywords] };
    }
    default:
      return ofLevels(event);
  }
}

type OfLevels = Exclude<RunEvent, { event: "began" | "proposed" | "retrieved" | "selected" | "stopped" | "unreadable" | "gathered" | "looked" | "thought" | "asked" | "resolved" | "judged" | "node" | "merged" | "path" | "consulted" | "tagged" }>;

function ofLevels(event: OfLevels): Said {
  const words = runs().events;
  switch (event.event) {
    case "classified":
      return { title: words.classified(words.classes[event.class] ?? event.class), lines: event.reasons.map(reason) };
    case "planned":
      return { title: words.planned(event.round), lines: [reasons(event.because), ...event.steps.map(planStep)] };
    case "recalled":
      return { title: words.recalled(event.by), lines: [event.question, recollection(event.because)] };
    case "structured": {
      const { records, things, documents } = event.coverage;
      return { title: words.structured(event.schema), lines: [words.coverage(records, things, documents)] };
    }
    case "tabulated":
      return { title: words.tabulated(event.matched), lines: event.rows.map(row) };
    case "foretold":
      return { title: words.foretold(event.forecast.points.length), lines: [] };
    case "organized":
      return { title: words.organized(event.kept, event.given), lines: event.left_out.map(([why, count]) => words.leftOut(leftOut(why), count)) };
    case "answered":
      return { title: words.answered, lines: [event.answer] };
    case "noted":
      return { title: words.noted, lines: [note(event.note)] };
    default: {
      const unknown: { event: string } = event;
      return { title: unknown.event, lines: [] };
    }
  }
}

function candidate(found: Schemas["Candidate"]): Shown {
  const { via } = runs().events;
  return { title: `${found.title} · ${via[found.via] ?? found.via} · ${formatNumber(found.score, 3)}`, text: found.text };
}
