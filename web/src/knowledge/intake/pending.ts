// Selects the uploaded files that are pending.
import type { Schemas } from "../../lib/api";

export type SentFile = Schemas["SentFile"];

/**
 * The files that the base does not have, and those of `left`, whose new version it does not have; without those of `taken`,
 * which are in use. Null means that any may be in use: then no file is known to be pending.
 */
export function pendingOf(all: SentFile[], left: readonly string[], taken: ReadonlySet<string> | null): SentFile[] {
  if (taken === null) {
    return [];
  }
  const newer = new Set(left);
  return all.filter(({ file, in_base }) => (!in_base || newer.has(file)) && !taken.has(file));
}
