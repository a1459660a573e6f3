// From what cost on does somebody want to be asked before a question goes out? Kept by this browser.
import type { Forecast } from "./methods";

export type Limits = { usd: number; calls: number };

const PLACE = "pikerag.dear";
const USUAL: Limits = { usd: 0.1, calls: 20 };

export const limits: Limits = $state(kept());

/** Methods that need no word any more while the page is open. */
const quiet = new Set<string>();

export function setLimits(changed: Partial<Limits>): void {
  for (const name of ["usd", "calls"] as const) {
    const value = changed[name];
    if (value !== undefined && Number.isFinite(value) && 0 <= value) {
      limits[name] = value;
    }
  }
  globalThis.localStorage?.setItem(PLACE, JSON.stringify(limits));
}

export function beQuietAbout(methods: string[]): void {
  methods.forEach((method) => quiet.add(method));
}

/** Whether to ask before these methods are used, both for one question: by what it usually takes, for the most that it may take is far from that. */
export function isDear(forecasts: Forecast[], now: Limits = limits): boolean {
  const loud = forecasts.filter((one) => !quiet.has(one.method));
  const usd = loud.reduce((sum, one) => sum + (one.usd.typical ?? 0), 0);
  const calls = loud.reduce((sum, one) => sum + one.forecast.typical.calls, 0);
  return now.usd < usd || now.calls < calls;
}

function kept(): Limits {
  try {
    const found = Object(JSON.parse(globalThis.localStorage?.getItem(PLACE) ?? "{}")) as Partial<Record<keyof Limits, unknown>>;
    const usd = typeof found.usd === "number" ? found.usd : USUAL.usd;
    return { usd, calls: typeof found.calls === "number" ? found.calls : USUAL.calls };
  } catch {
    return { ...USUAL };
  }
}
