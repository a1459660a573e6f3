// Prepares an estimate of indexing for people.
import type { Schemas } from "../../lib/api";

export type Estimated = Schemas["EstimateResponse"];
export type RoleLine = { role: string; prompt: number; completion: number };

/** Whether indexing is free: then it starts at once. */
export function isFree({ estimate, usd }: Estimated): boolean {
  return estimate.calls === 0 && (estimate.embedded_tokens === 0 || usd === 0);
}

/** Whether there is nothing to do. */
export function isIdle({ estimate }: Estimated): boolean {
  return estimate.files === 0 && estimate.calls === 0 && estimate.embedded_tokens === 0 && estimate.unreadable.length === 0;
}

/** The roles that use tokens, the most expensive first. */
export function byRole({ estimate }: Estimated): RoleLine[] {
  const lines = Object.entries(estimate.by_role).map(([role, usage]) => ({ role, prompt: usage.prompt_tokens, completion: usage.completion_tokens }));
  return lines.filter((line) => 0 < line.prompt + line.completion).sort((a, b) => b.prompt + b.completion - a.prompt - a.completion);
}

/** The name of an uploaded file without the server's folder for uploads. */
export function withoutFolder(file: string): string {
  return file.replace(/^.*\.uploads\//, "");
}

/** Files that cannot be read, with the reason. The API types them only as pairs. */
export function pairs(list: readonly unknown[]): [string, string][] {
  return list.filter((pair): pair is [string, string] => Array.isArray(pair) && pair.length === 2).map(([file, reason]) => [String(file), String(reason)]);
}
