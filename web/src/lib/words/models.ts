// The words for choosing a model in the language of the page: `{models().…}`.
import { inLanguage } from "../i18n.svelte";
import { en } from "./models.en";
import { zh } from "./models.zh";

export const models = inLanguage({ en, zh });
