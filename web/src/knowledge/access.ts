// Tells what the current key can do. Other actions are hidden or explained, not refused after a click.
import { call } from "../lib/api";
import type { ProblemError } from "../lib/problem";

/** `sees`: all of the base, or the part that the key's filter shows. */
export type Access = { mayWrite: boolean; mayForget: boolean; sees: "all" | "part" };

export const FULL: Access = { mayWrite: true, mayForget: true, sees: "all" };

type OfKey = { scope: string; filter: string } | null;

/** The access of a key; without keys, anyone who can reach the server can do everything. */
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

/** Whether the key, not the request, causes the problem. */
export function isOfKey(problem: ProblemError): boolean {
  return problem.status === 403 && ["only-part", "scope-too-small"].includes(problem.code);
}
