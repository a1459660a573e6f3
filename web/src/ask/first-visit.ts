// Decides which step of the first visit comes next, and keeps how far it is in this browser.
import type { Schemas } from "../lib/api";

const PLACE = "pikerag.first-visit";

/** `new`: nothing was decided. `begun`: a model was chosen here. `without`: the user goes on without one. `over`: the guide is not shown again. */
export type Visit = "new" | "begun" | "without" | "over";
export type Step = "model" | "documents" | "question";
export const STEPS: Step[] = ["model", "documents", "question"];

/** What is known about the server and the base. */
export type Known = { visit: Visit; hasModel: boolean; offline: boolean; documents: number; hasAsked: boolean };

export function keptVisit(): Visit {
  const kept = globalThis.localStorage?.getItem(PLACE);
  return kept === "begun" || kept === "without" || kept === "over" ? kept : "new";
}

export function keepVisit(visit: Visit): void {
  globalThis.localStorage?.setItem(PLACE, visit);
}

/** Whether the caller may choose models: without keys everybody may, else keys of scope `admin` that see everything. */
export function mayChoose(key: Pick<NonNullable<Schemas["Budget"]["key"]>, "scope" | "bases" | "filter"> | null): boolean {
  return key === null || (key.scope === "admin" && key.bases.length === 0 && key.filter === "");
}

/** Whether the server must be asked for its models: nothing else shows whether this is a first visit. */
export function isPossible({ visit, documents, hasModel }: Pick<Known, "visit" | "documents" | "hasModel">): boolean {
  return visit !== "over" && (visit !== "new" || documents === 0 || !hasModel);
}

/** The step to do now; null if the guide is not shown. */
export function stepOf({ visit, hasModel, offline, documents, hasAsked }: Known): Step | null {
  if (visit === "over" || offline) {
    return null;
  }
  if (!hasModel && visit !== "without") {
    return "model";
  }
  if (visit === "new") {
    // The model was set elsewhere: the page shows the way to documents without the guide.
    return null;
  }
  if (documents === 0) {
    return "documents";
  }
  return hasAsked ? null : "question";
}
