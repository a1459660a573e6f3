// The words of the tab Runs in the language of the page: `{runs().…}`.
import { inLanguage } from "../i18n.svelte";
import { en } from "./runs.en";
import { zh } from "./runs.zh";

export const runs = inLanguage({ en, zh });
