// Which of the files that were sent wait: to be indexed, or to be thrown away?
import type { Schemas } from "../../lib/api";

export type SentFile = Schemas["SentFile"];

/**
 * Those that the base does not hold, and of `left` those whose version of now it does not hold; without those that are
 * `taken` at the moment. Null where any may be: then none is known to wait.
 */
export function waitingOf(all: SentFile[], left: readonly string[], taken: ReadonlySet<string> | null): SentFile[] {
  if (taken === null) {
    return [];
  }
  const newer = new Set(left);
  return all.filter(({ file, in_base }) => (!in_base || newer.has(file)) && !taken.has(file));
}
