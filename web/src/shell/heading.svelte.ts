// Moves the focus to the heading when another part of a tab is shown, as between tabs.
import { tick, untrack } from "svelte";

/** Call it while a component is made; `place` names the part that is shown. */
export function focusHeadingOf(place: () => string): void {
  let shown = untrack(place);
  $effect(() => {
    if (place() !== shown) {
      shown = place();
      window.scrollTo(0, 0);
      void tick().then(() => document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true }));
    }
  });
}
