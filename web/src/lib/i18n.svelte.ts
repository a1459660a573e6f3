// Gives words in the language of the page: `common().retry`. Numbers, money, dates, bytes and durations come from `format.ts`.
import { type Language, preferences } from "./preferences.svelte";

/**
 * The words of one part of the page in the language of now: `export const ask = inLanguage({ en, zh })`, then
 * `{ask().title}`. Chinese has to have all that English has, with the same arguments. Read it in templates, `$derived`
 * and handlers, not once at the top of a module: it follows the switch.
 */
export function inLanguage<Words>(words: Record<Language, Words>): () => Words {
  return () => words[preferences.language];
}
