// Puts the steps of two runs side by side: common steps in one line, other steps beside each other.
import type { Schemas } from "../lib/api";
import type { RunEvent } from "../run/types";

/** `both` is a common step; `first` and `second` are side by side, and one of them may be missing. */
export type Pair = { both: RunEvent } | { first?: RunEvent; second?: RunEvent };

export function pairsOf(lines: Schemas["DiffLine"][]): Pair[] {
  const pairs: Pair[] = [];
  let apart: { first: RunEvent[]; second: RunEvent[] } = { first: [], second: [] };
  const put = () => {
    for (let at = 0; at < Math.max(apart.first.length, apart.second.length); at++) {
      pairs.push({ first: apart.first[at], second: apart.second[at] });
    }
    apart = { first: [], second: [] };
  };
  for (const { of, event } of lines) {
    if (of === "both") {
      put();
      pairs.push({ both: event });
    } else {
      apart[of].push(event);
    }
  }
  put();
  return pairs;
}
