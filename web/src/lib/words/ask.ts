// The words of the tab Ask in the language of the page: `{ask().…}`.
import { inLanguage } from "../i18n.svelte";
import { en } from "./ask.en";
import { zh } from "./ask.zh";

export const ask = inLanguage({ en, zh });
