// What do the shell and the shared pieces say in the language of now? `{common().…}`
import { inLanguage } from "../i18n.svelte";
import { en } from "./common.en";
import { zh } from "./common.zh";

export const common = inLanguage({ en, zh });
