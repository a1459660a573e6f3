// Handles single-key shortcuts: `/` the main input, `?` help, `g` then a letter a tab, `1` to `9` a choice.
import { preferences } from "./preferences.svelte";
import { type Tab, go, hrefOf } from "./route.svelte";

export const TAB_KEYS: Record<Tab, string> = { ask: "a", knowledge: "k", runs: "r", settings: "s" };
export const CHOICE_KEYS = [..."123456789"];
const WAIT_MS = 1200;
let sinceG = -Infinity;

/** Performs the action of a key, unless a person types or a dialog is open. The main input has `data-main-input`. */
export function onShortcut(event: KeyboardEvent, base: string | null, openHelp: () => void): void {
  if (!preferences.shortcuts || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isTyping(event.target)) {
    return;
  }
  const followsG = event.timeStamp - sinceG < WAIT_MS;
  sinceG = event.key === "g" ? event.timeStamp : -Infinity;
  const tab = followsG && Object.entries(TAB_KEYS).find(([, letter]) => letter === event.key);
  if (tab) {
    go(hrefOf(tab[0] as Tab, base));
  } else if (event.key === "/") {
    document.querySelector<HTMLElement>("main [data-main-input]")?.focus();
  } else if (CHOICE_KEYS.includes(event.key)) {
    choose(event.key);
  } else if (event.key === "?") {
    openHelp();
  } else {
    return;
  }
  event.preventDefault();
}

/** Presses the button of a key: in the list that has the focus, otherwise in the last list in sight. */
function choose(key: string): void {
  const inSight = [...document.querySelectorAll<HTMLElement>("main [data-choices]")].filter((list) => {
    const { top, bottom } = list.getBoundingClientRect();
    return 0 < bottom && top < innerHeight;
  });
  const list = document.activeElement?.closest("[data-choices]") ?? inSight.at(-1);
  const button = list?.querySelector<HTMLElement>(`[data-choice="${key}"]`);
  button?.focus();
  button?.click();
}

function isTyping(target: EventTarget | null): boolean {
  const isInput = target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));
  return isInput || document.querySelector("dialog[open]") !== null;
}
