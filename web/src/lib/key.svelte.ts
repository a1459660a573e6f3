// Which key do requests bear, and who is asked for one?
const PLACE = "pikerag.key";
/** Whose questions, answers and uploads this browser keeps: the public part of a key; nothing without keys. */
const OWNER = "pikerag.owner";
const OWNED = ["pikerag.conversations/", "pikerag.held/", "pikerag.upload/"];

function kept(): string | null {
  return globalThis.sessionStorage?.getItem(PLACE) ?? null;
}

let answer: ((hasKey: boolean) => void) | null = null;
let asked: Promise<boolean> | null = null;

/** The key of this browser tab; gone with it. `isAsked`: a request waits until one is entered. */
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

/** Keeps a key for this browser tab; none takes it back. Another key than before begins with an empty page. */
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

/** Whether it can stand in the head of a request at all. */
export function isPossibleKey(entered: string): boolean {
  return /^[\x21-\x7e]+$/.test(entered.trim());
}

/** Opens the dialog and waits for it; all that wait share one. Whether there is a key now. */
export function askForKey(): Promise<boolean> {
  asked ??= new Promise((resolve) => {
    answer = resolve;
    key.wasRefused = key.current !== null;
    key.isAsked = true;
  });
  return asked;
}

/** What came of the dialog: a key, or none. */
export function answerKey(entered: string | null): void {
  if (entered !== null) {
    keepKey(entered);
  }
  key.isAsked = false;
  answer?.(entered !== null);
  answer = asked = null;
}
