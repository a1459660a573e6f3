// What does the tab Settings say in the language of now? `{settings().…}`
import { inLanguage } from "../i18n.svelte";
import { en } from "./settings.en";
import { zh } from "./settings.zh";

export const settings = inLanguage({ en, zh });
