// Words the wait for the model calls of a run.
import type { Schemas } from "../lib/api";
import { formatDuration, formatNumber } from "../lib/format";
import { ask } from "../lib/words/ask";

/** A model call without a reply; `since` is its beginning, in milliseconds since 1970. */
export type OpenCall = Schemas["OpenCall"] & { since: number };

/** The calls as the server sent them `now`, with their beginnings. */
export function openCallsAt(calls: Schemas["OpenCall"][], now: number): OpenCall[] {
  return calls.map((call) => ({ ...call, since: now - call.waited_ms }));
}

/** The model of the oldest call and its task; without a call, that the run goes on. */
export function waitTitle(calls: OpenCall[]): string {
  const words = ask().run;
  const [call] = calls;
  return call ? words.waits(call.model, words.tasks[call.role]) : words.running;
}

/** The size of the oldest call, its time so far and its usual time, and the number of the others; empty without a call. */
export function waitDetails(calls: OpenCall[], now: number): string {
  const words = ask().run;
  const [call, ...others] = calls;
  if (!call) {
    return "";
  }
  const parts = [words.toRead(call.passages, formatNumber(Number(call.prompt_tokens.toPrecision(2))))];
  const waited = wholeSeconds(now - call.since);
  if (0 < waited) {
    parts.push(formatDuration(waited));
  }
  if (call.expected_ms !== null) {
    parts.push(words.usually(formatDuration(Math.max(1000, wholeSeconds(call.expected_ms)))));
  }
  if (0 < others.length) {
    parts.push(words.moreCalls(others.length));
  }
  return parts.join(" · ");
}

function wholeSeconds(milliseconds: number): number {
  return Math.round(milliseconds / 1000) * 1000;
}
