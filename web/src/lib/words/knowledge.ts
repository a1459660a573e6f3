// What does the tab Knowledge say in the language of now? `{knowledge().…}`
import { inLanguage } from "../i18n.svelte";
import { en } from "./knowledge.en";
import { zh } from "./knowledge.zh";

export const knowledge = inLanguage({ en, zh });
