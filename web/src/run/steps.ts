// Words a step of a run: an icon, a line for the result, lines for the details.
import { formatNumber, formatPercent } from "../lib/format";
import type { IconName } from "../lib/components/icons";
import { ask } from "../lib/words/ask";
import { common, roleName } from "../lib/words/common";
import { fault, leftOut, note, planStep, reason, reasons, recollection, row } from "../lib/words/facts";
import type { Kind, RunEvent } from "./types";

export const ICON_OF: Record<Kind, IconName> = {
  began: "ask", classified: "tag", planned: "runs", proposed: "help", retrieved: "search", selected: "check", stopped: "stop", unreadable: "warning",
  gathered: "folder", looked: "eye", thought: "edit", asked: "ask", resolved: "quote", judged: "compare", node: "graph", merged: "graph", path: "right", consulted: "graph",
  tagged: "tag", recalled: "thumbUp", structured: "runs", tabulated: "settings", queried: "settings", foretold: "clock", organized: "filter", answered: "check", filled: "edit", noted: "info",
};

/** The result of a step, in a line. */
export function lineOf(event: RunEvent): string {
  const words = ask().tree;
  switch (event.event) {
    case "began":
      return `${event.method}${common().colon}${event.question}`;
    case "classified":
      return ask().worked.classes[event.class] ?? event.class;
    case "planned":
      return event.round === 1 ? event.steps.map(planStep).join(" → ") : reasons(event.because);
    case "proposed":
      return event.proposals.join(" · ") || words.nothingProposed;
    case "retrieved":
      return words.candidates(event.candidates.length);
    case "gathered":
      return words.passages(event.candidates.length);
    case "selected":
      return `${event.index + 1}. ${event.title}`;
    case "stopped":
      return words.stops[event.reason] ?? event.reason;
    case "unreadable":
      return `${roleName(event.role)}${common().colon}${fault(event.reason)}`;
    case "looked":
      return event.answer ? words.wouldAnswer(event.answer) : words.facts(event.facts.length);
    case "thought":
      return event.text;
    case "node":
      return `${event.node + 1}. ${event.text}`;
    case "asked":
      return event.question;
    case "resolved":
      return event.answer;
    case "answered":
      return event.answer || ask().answer.refused;
    case "judged":
      return `${words.criteria[event.criterion] ?? event.criterion} ${event.holds ? words.yes : words.no}${event.score === null ? "" : `${common().inBrackets(formatNumber(event.score, 2))}`}`;
    case "merged":
      return words.merged(event.steps.length, event.into);
    case "path":
      return `${event.nodes.map((node) => node + 1).join(" → ")}${common().colon}${event.answer}`;
    case "consulted":
      return event.nodes.map((node) => node.title).join(" · ");
    case "tagged":
      return event.tags.map((tag) => tag.tag).join(" · ") || words.searches(event.query);
    case "recalled":
      return `${event.by}${common().colon}${recollection(event.because)}`;
    case "structured":
      return words.records(event.coverage.records, event.schema);
    case "tabulated":
      return words.things(event.matched);
    case "queried":
      return words.rows(event.matched, event.tables.join(" · "));
    case "foretold":
      return words.models(event.forecast.tried.length);
    case "organized":
      return words.kept(event.kept, event.given);
    case "filled":
      return words.filled(event.schema, event.is_filled);
    case "noted":
      return note(event.note);
    default:
      // A kind of event that this page does not know.
      return "";
  }
}

/** The details of a step, as lines; `StepDetail.svelte` draws the larger ones. */
export function detailsOf(event: RunEvent): string[] {
  const words = ask().tree;
  switch (event.event) {
    case "classified":
      return [...event.reasons.map(reason), words.by[event.by] ?? event.by];
    case "planned":
      return event.round === 1 ? [reasons(event.because)] : event.steps.map(planStep);
    case "proposed":
      return 1 < event.proposals.length ? event.proposals : [];
    case "looked":
      return [words.reading(event.look)];
    case "resolved":
    case "recalled":
      return [event.question];
    case "judged":
      return [event.of, words.by[event.by] ?? event.by];
    case "merged":
      return event.steps;
    case "node":
      return event.after.length === 0 ? [] : [words.after(event.after.map((node) => node + 1).join(common().comma))];
    case "consulted":
      return event.nodes.map((node) => `${formatNumber(node.score, 3)}  ${node.title}`);
    case "tagged":
      return [
        ...event.tags.map((tag) => `${tag.tag}${tag.class ? common().inBrackets(tag.class) : ""} → ${tag.to.join(common().semicolon) || "?"}`),
        words.searches(event.query),
        ...(event.keywords.length === 0 ? [] : [words.keywords(event.keywords.join(common().semicolon))]),
      ];
    case "structured":
      return [words.documents(event.coverage.with_records, event.coverage.documents), words.things(event.coverage.things)];
    case "tabulated":
      return event.rows.map(row);
    case "queried":
      return [...event.sql, ...(event.unused.length === 0 ? [] : [words.unused(event.unused.join(" · "))])];
    case "foretold":
      return event.forecast.tried.map((tried) => {
        const mase = tried.mase === null ? "" : common().inBrackets(formatPercent(tried.mase));
        return `${ask().worked.models[tried.model] ?? tried.model}${common().colon}${ask().worked.error} ${formatNumber(tried.mae, 2)}${mase}`;
      });
    case "organized":
      return event.left_out.map(([why, count]) => words.leftOut(count, leftOut(why)));
    default:
      return [];
  }
}

/** The model's own words with a step; may be empty. */
export function thinkingOf(event: RunEvent): string {
  return "thinking" in event ? event.thinking : "";
}
