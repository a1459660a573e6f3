// Writes numbers, money, dates, bytes and durations in the language of the page.
import { preferences } from "./preferences.svelte";

function locale(): string {
  const { language } = preferences;
  return globalThis.navigator?.languages?.find((one) => one.startsWith(language)) ?? (language === "zh" ? "zh-CN" : "en");
}

function inUnit(value: number, unit: string, maximumFractionDigits: number): string {
  // The short form of a byte has no plural in English.
  return new Intl.NumberFormat(locale(), { style: "unit", unit, unitDisplay: unit === "byte" && preferences.language === "en" ? "long" : "short", maximumFractionDigits }).format(value);
}

/** `12,345`; with `digits` after the point at most. */
export function formatNumber(value: number, digits = 0): string {
  return new Intl.NumberFormat(locale(), { maximumFractionDigits: digits }).format(value);
}

/** `0.42` as `42%`. */
export function formatPercent(share: number, digits = 0): string {
  return new Intl.NumberFormat(locale(), { style: "percent", maximumFractionDigits: digits }).format(share);
}

/** US dollars; small sums keep two digits that count: `$0.0042`. */
export function formatMoney(dollars: number): string {
  const isSmall = dollars !== 0 && Math.abs(dollars) < 0.1;
  const digits = isSmall ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 2 };
  return new Intl.NumberFormat(locale(), { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol", ...digits }).format(dollars);
}

/** Day and time; of a text (RFC 3339), or milliseconds since 1970. */
export function formatDate(when: string | number, style: "day" | "full" = "full"): string {
  const date = new Date(when);
  if (Number.isNaN(date.getTime())) {
    return String(when);
  }
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: style === "full" ? "short" : undefined }).format(date);
}

/** `5 minutes ago`, `yesterday`. */
export function formatAgo(when: string | number, now = Date.now()): string {
  const seconds = (new Date(when).getTime() - now) / 1000;
  if (Number.isNaN(seconds)) {
    return String(when);
  }
  const format = new Intl.RelativeTimeFormat(locale(), { numeric: "auto" });
  const units = [["year", 31_557_600], ["month", 2_629_800], ["day", 86_400], ["hour", 3600], ["minute", 60]] as const;
  for (const [unit, length] of units) {
    if (length <= Math.abs(seconds)) {
      return format.format(Math.trunc(seconds / length), unit);
    }
  }
  return format.format(Math.trunc(seconds), "second");
}

/** `1.5 MB`: thousands, not 1024s. */
export function formatBytes(bytes: number): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];
  const step = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  return inUnit(bytes / 1000 ** step, units[step] ?? "byte", step === 0 ? 0 : 1);
}

/** `340 ms`, `3.2 sec`, `2 min 5 sec`, `1 hr 4 min`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) {
    return inUnit(Math.round(milliseconds), "millisecond", 0);
  }
  if (milliseconds < 59_950) {
    return inUnit(milliseconds / 1000, "second", 1);
  }
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 3600) {
    return `${inUnit(Math.floor(seconds / 60), "minute", 0)} ${inUnit(seconds % 60, "second", 0)}`;
  }
  return `${inUnit(Math.floor(seconds / 3600), "hour", 0)} ${inUnit(Math.floor((seconds % 3600) / 60), "minute", 0)}`;
}

/** The name of a language by its code of ISO 639: `deu` as `German`. A code without a name is shown as it is. */
export function formatLanguage(code: string): string {
  try {
    return new Intl.DisplayNames(locale(), { type: "language" }).of(code) ?? code;
  } catch {
    return code;
  }
}
