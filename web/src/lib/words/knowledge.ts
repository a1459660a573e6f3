// The words of the tab Knowledge in the language of the page: `{knowledge().…}`.
import { inLanguage } from "../i18n.svelte";
import { en } from "./knowledge.en";
import { zh } from "./knowledge.zh";

export const knowledge = inLanguage({ en, zh });
