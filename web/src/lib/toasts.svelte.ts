// What is told in passing, and for how long?
export type ToastKind = "info" | "good" | "bad";
export type Toast = { id: number; text: string; kind: ToastKind };

const SHOWN_MS = 6000;
let last = 0;

export const toasts: Toast[] = $state([]);

/** Tells something that needs no answer. Nothing that has to be read: that belongs into the page. */
export function toast(text: string, kind: ToastKind = "info"): void {
  const id = ++last;
  toasts.push({ id, text, kind });
  setTimeout(() => dropToast(id), SHOWN_MS);
}

export function dropToast(id: number): void {
  const at = toasts.findIndex((one) => one.id === id);
  if (at !== -1) {
    toasts.splice(at, 1);
  }
}
