// The words of the tab Settings in the language of the page: `{settings().…}`.
import { inLanguage } from "../i18n.svelte";
import { en } from "./settings.en";
import { zh } from "./settings.zh";

export const settings = inLanguage({ en, zh });
