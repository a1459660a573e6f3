// Keeps the key of this browser tab, and asks for one.
const PLACE = "pikerag.key";
/** The owner of the questions, answers and uploads that this browser keeps: the public part of a key; empty without keys. */
const OWNER = "pikerag.owner";
export const OWNED = ["pikerag.conversations/", "pikerag.held/", "pikerag.upload/"];

function kept(): string | null {
  return globalThis.sessionStorage?.getItem(PLACE) ?? null;
}

let answer: ((hasKey: boolean) => void) | null = null;
let asked: Promise<boolean> | null = null;

/** The key of this browser tab, which forgets it when it closes. `isAsked`: a request waits for a key. */
export const key = $state({ current: kept(), isAsked: false, wasRefused: false });

function ownerOf(one: string | null): string {
  return one?.split("_")[1] ?? "";
}

/** Whether the key of this tab is the one under which this browser keeps questions, answers and uploads. */
export function ownsStored(): boolean {
  return (globalThis.localStorage?.getItem(OWNER) ?? "") === ownerOf(key.current);
}

/** Deletes what was stored under another key. */
function take(next: string | null): void {
  const stored = globalThis.localStorage;
  const owner = ownerOf(next);
  if (!stored || (stored.getItem(OWNER) ?? "") === owner) {
    return;
  }
  const places = Array.from({ length: stored.length }, (_, place) => stored.key(place) ?? "");
  places.filter((place) => OWNED.some((begin) => place.startsWith(begin))).forEach((place) => stored.removeItem(place));
  stored.setItem(OWNER, owner);
}

/** Keeps a key for this browser tab; null removes it. Another key starts with an empty page. */
export function keepKey(entered: string | null): void {
  const clean = entered?.trim() || null;
  const isOther = key.current !== null && ownerOf(key.current) !== ownerOf(clean);
  take(clean);
  key.current = clean;
  if (clean) {
    globalThis.sessionStorage?.setItem(PLACE, clean);
  } else {
    globalThis.sessionStorage?.removeItem(PLACE);
  }
  if (isOther) {
    globalThis.location?.reload();
  }
}

/** Whether a header can contain it. */
export function isPossibleKey(entered: string): boolean {
  return /^[\x21-\x7e]+$/.test(entered.trim());
}

/** Opens the dialog and waits; all requests share one dialog. Returns whether there is a key now. */
export function askForKey(): Promise<boolean> {
  asked ??= new Promise((resolve) => {
    answer = resolve;
    key.wasRefused = key.current !== null;
    key.isAsked = true;
  });
  return asked;
}

/** The result of the dialog: a key, or none. */
export function answerKey(entered: string | null): void {
  if (entered !== null) {
    keepKey(entered);
  }
  key.isAsked = false;
  answer?.(entered !== null);
  answer = asked = null;
}
