// Holds the bases of the server and the current one.
import { call } from "./api";
import { type ProblemError, asProblem } from "./problem";
import { route } from "./route.svelte";

const PLACE = "pikerag.base";

type Bases = { names: string[] | null; chosen: string | null; problem: ProblemError | null };

/** `names` is null until they are loaded. */
export const bases: Bases = $state({ names: null, chosen: globalThis.localStorage?.getItem(PLACE) ?? null, problem: null });

/** The current base: that of the address, else the one chosen last, else the first. Null if there is none. */
export function currentBase(): string | null {
  const names = bases.names ?? [];
  const wanted = route.current.base;
  if (wanted !== null) {
    return names.includes(wanted) ? wanted : null;
  }
  return names.find((name) => name === bases.chosen) ?? names[0] ?? null;
}

/** Remembers a base as the one chosen last. */
export function rememberBase(name: string): void {
  bases.chosen = name;
  globalThis.localStorage?.setItem(PLACE, name);
}

/** Loads the bases of the server. */
export async function loadBases(): Promise<void> {
  bases.problem = null;
  try {
    bases.names = (await call("get", "/api/v1/bases")).map((base) => base.name);
  } catch (error) {
    bases.problem = asProblem(error);
  }
}
