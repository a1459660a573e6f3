// Words the facts of a run in the language of the page. A fact without words in one language fails to compile. Words of
// models and of runs that earlier versions kept are shown as they are.
import type { Schemas } from "../api";
import { formatNumber } from "../format";
import { inLanguage } from "../i18n.svelte";
import { en } from "./facts.en";
import { zh } from "./facts.zh";

export type { Schemas };

/** The facts by the name of their tag. */
export type FactsOf = {
  reason: Exclude<Schemas["Statement_Reason"], string>;
  step: Exclude<Schemas["Statement_PlanStep"], string>;
  recollection: Exclude<Schemas["Statement_Recollection"], string>;
  note: Exclude<Schemas["Statement_Note"], string>;
  fault: Exclude<Schemas["Statement_UnreadableReply"], string>;
};

/** Why a passage is not read. */
export type LeftOut = Extract<Schemas["Event"], { event: "organized" }>["left_out"][number][0];

/** Words for every variant of a tagged union. */
export type Dictionary<Fact, Tag extends keyof Fact> = {
  [Name in Fact[Tag] & string]: (fact: Extract<Fact, Record<Tag, Name>>) => string;
};

const facts = inLanguage({ en, zh });

/** The name of a variant that this page does not know is shown in its place. */
function worded(words: object, tag: string, fact: object): string {
  const own = (words as Record<string, ((fact: object) => string) | undefined>)[tag];
  return own?.(fact) ?? tag.replaceAll("_", " ");
}

export function reason(of: Schemas["Statement_Reason"]): string {
  return typeof of === "string" ? of : worded(facts().reasons, of.reason, of);
}

export function reasons(of: Schemas["Statement_Reason"][]): string {
  return of.map(reason).join(facts().join);
}

export function planStep(of: Schemas["Statement_PlanStep"]): string {
  return typeof of === "string" ? of : worded(facts().steps, of.step, of);
}

export function recollection(of: Schemas["Statement_Recollection"]): string {
  return typeof of === "string" ? of : worded(facts().recollections, of.recollection, of);
}

export function note(of: Schemas["Statement_Note"]): string {
  return typeof of === "string" ? of : worded(facts().notes, of.note, of);
}

export function fault(of: Schemas["Statement_UnreadableReply"]): string {
  return typeof of === "string" ? of : worded(facts().faults, of.fault, of);
}

export function leftOut(why: LeftOut): string {
  return facts().leftOut[why] ?? why;
}

export function row(of: Schemas["Statement_TabulatedRow"]): string {
  if (typeof of === "string") {
    return of;
  }
  const value = `${formatNumber(of.value, 2)}${of.unit === null ? "" : ` ${of.unit}`}`;
  return of.key.length === 0 ? value : `${of.key.map((part) => part || "–").join(", ")}${facts().key}${value}`;
}
