// Which key do requests bear, and who is asked for one?
const PLACE = "pikerag.key";

function kept(): string | null {
  return globalThis.sessionStorage?.getItem(PLACE) ?? null;
}

let answer: ((hasKey: boolean) => void) | null = null;
let asked: Promise<boolean> | null = null;

/** The key of this browser tab; gone with it. `isAsked`: a request waits until one is entered. */
export const key = $state({ current: kept(), isAsked: false, wasRefused: false });

/** Keeps a key for this browser tab; none takes it back. */
export function keepKey(entered: string | null): void {
  const clean = entered?.trim() || null;
  key.current = clean;
  if (clean) {
    globalThis.sessionStorage?.setItem(PLACE, clean);
  } else {
    globalThis.sessionStorage?.removeItem(PLACE);
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
