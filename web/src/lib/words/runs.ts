// What does the tab Runs say in the language of now? `{runs().…}`
import { inLanguage } from "../i18n.svelte";
import { en } from "./runs.en";
import { zh } from "./runs.zh";

export const runs = inLanguage({ en, zh });
