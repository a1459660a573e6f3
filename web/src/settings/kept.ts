// Moves what this browser keeps of a base: conversations and uploads.
import { OWNED } from "../lib/key.svelte";

/** Moves everything of a base to its new name; null deletes it, so that a later base of the old name shows none of it. */
export function moveKept(from: string, to: string | null): void {
  const stored = globalThis.localStorage;
  const places = Array.from({ length: stored?.length ?? 0 }, (_, place) => stored.key(place) ?? "");
  for (const begin of OWNED) {
    const own = begin + from;
    for (const place of places.filter((one) => one === own || one.startsWith(`${own}/`))) {
      const kept = stored.getItem(place);
      if (kept !== null && to !== null) {
        stored.setItem(begin + to + place.slice(own.length), kept);
      }
      stored.removeItem(place);
    }
  }
}
