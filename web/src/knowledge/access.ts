// What may be done here with the key of now? What it may not is hidden or explained, not refused after a click.
import { call } from "../lib/api";
import type { ProblemError } from "../lib/problem";

/** `sees`: all of the base, or the part that the key's filter shows. */
export type Access = { mayWrite: boolean; mayForget: boolean; sees: "all" | "part" };

export const FULL: Access = { mayWrite: true, mayForget: true, sees: "all" };

type OfKey = { scope: string; filter: string } | null;

/** What a key may do; without keys whoever reaches the server may do all. */
export function accessOf(key: OfKey): Access {
  if (key === null) {
    return FULL;
  }
  const sees = key.filter === "" ? "all" : "part";
  return { mayWrite: key.scope !== "read" && sees === "all", mayForget: key.scope === "admin" && sees === "all", sees };
}

export async function askAccess(signal?: AbortSignal): Promise<Access> {
  return accessOf((await call("get", "/api/v1/budget", { signal })).key);
}

/** Whether a problem says that the base was never written to: to be shown as an empty one. */
export function isNoBaseYet(problem: ProblemError): boolean {
  return problem.status === 404 && problem.code === "no-base";
}

/** Whether a problem is of the key, not of the request. */
export function isOfKey(problem: ProblemError): boolean {
  return problem.status === 403 && ["only-part", "scope-too-small"].includes(problem.code);
}
