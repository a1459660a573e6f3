// Holds the bases of the server and the current one.
import { call } from "./api";
import { type ProblemError, asProblem } from "./problem";
import { route } from "./route.svelte";

const PLACE = "pikerag.base";

type Bases = { names: string[] | null; made: string[]; chosen: string | null; problem: ProblemError | null };

/** `names` is null until they are loaded; `made` are those that the page can rename and delete. */
export const bases: Bases = $state({ names: null, made: [], chosen: globalThis.localStorage?.getItem(PLACE) ?? null, problem: null });

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
    const found = await call("get", "/api/v1/bases");
    bases.names = found.map((base) => base.name);
    bases.made = found.filter((base) => base.made).map((base) => base.name);
  } catch (error) {
    bases.problem = asProblem(error);
  }
}
