// What does the tab Ask say in the language of now? `{ask().…}`
import { inLanguage } from "../i18n.svelte";
import { en } from "./ask.en";
import { zh } from "./ask.zh";

export const ask = inLanguage({ en, zh });
