// Keeps the cost from which the page asks before a question, in this browser.
import type { Forecast } from "./methods";

export type Limits = { usd: number; calls: number };

// The name of earlier versions: it keeps what people set.
const PLACE = "pikerag.dear";
const USUAL: Limits = { usd: 0.1, calls: 20 };

export const limits: Limits = $state(kept());

/** Methods that need no confirmation while the page is open. */
const skipped = new Set<string>();

export function setLimits(changed: Partial<Limits>): void {
  for (const name of ["usd", "calls"] as const) {
    const value = changed[name];
    if (value !== undefined && Number.isFinite(value) && 0 <= value) {
      limits[name] = value;
    }
  }
  globalThis.localStorage?.setItem(PLACE, JSON.stringify(limits));
}

export function skipConfirmation(methods: string[]): void {
  methods.forEach((method) => skipped.add(method));
}

/** Whether to ask before these methods answer one question: by their usual cost, because the most is far above it. */
export function isExpensive(forecasts: Forecast[], now: Limits = limits): boolean {
  const counted = forecasts.filter((one) => !skipped.has(one.method));
  const usd = counted.reduce((sum, one) => sum + (one.usd.typical ?? 0), 0);
  const calls = counted.reduce((sum, one) => sum + one.forecast.typical.calls, 0);
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
