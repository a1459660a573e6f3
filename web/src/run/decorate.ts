// Marks the citation numbers in an answer by their check, and shows the quotation under the pointer.
import type { Attachment } from "svelte/attachments";

import type { Citation } from "./types";

type Words = { checks: Record<Citation["check"], string>; citation: (number: number, title: string, check: string) => string };

/** For the element around `Markdown`: marks its buttons, now and after each drawing; calls `show` with the one under the pointer. */
export function decorated(citations: Citation[], words: Words, show: (number: number | null, element: HTMLElement) => void): Attachment<HTMLElement> {
  return (element) => {
    const mark = () => {
      for (const button of element.querySelectorAll<HTMLElement>("button[data-citation]:not([data-check])")) {
        const citation = citations.find((one) => one.number === Number(button.dataset.citation));
        if (citation) {
          button.dataset.check = citation.check;
          button.setAttribute("aria-label", words.citation(citation.number, citation.title, words.checks[citation.check]));
        }
      }
    };
    const listening = new AbortController();
    const buttonOf = (event: Event) => (event.target as HTMLElement).closest<HTMLElement>("button[data-citation]");
    const enter = (event: Event) => {
      const button = buttonOf(event);
      if (button) {
        show(Number(button.dataset.citation), button);
      }
    };
    const leave = (event: Event) => {
      const button = buttonOf(event);
      if (button) {
        // The browser also reports a button that leaves the page, while Svelte draws: then no state may change.
        queueMicrotask(() => listening.signal.aborted || show(null, button));
      }
    };
    const escape = (event: KeyboardEvent) => event.key === "Escape" && leave(event);
    const observer = new MutationObserver(mark);
    observer.observe(element, { childList: true, subtree: true });
    mark();
    const options = { signal: listening.signal };
    for (const [name, listener] of [["pointerover", enter], ["focusin", enter], ["pointerout", leave], ["focusout", leave], ["click", leave]] as const) {
      element.addEventListener(name, listener, options);
    }
    element.addEventListener("keydown", escape, options);
    return () => {
      listening.abort();
      observer.disconnect();
    };
  };
}
