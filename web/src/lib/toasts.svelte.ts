// Holds short notices, which disappear by themselves.
export type ToastKind = "info" | "good" | "bad";
export type Toast = { id: number; text: string; kind: ToastKind };

const SHOWN_MS = 6000;
let last = 0;

export const toasts: Toast[] = $state([]);

/** Shows a notice that needs no answer. Important texts belong into the page. */
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
