// The words of the shell, of the shared pieces and of names in the language of the page: `{common().…}`.
import { inLanguage } from "../i18n.svelte";
import { en } from "./common.en";
import { zh } from "./common.zh";

export const common = inLanguage({ en, zh });

/** The name of a base as people see it. */
export function baseName(name: string): string {
  return name === "default" ? common().defaultBase : name;
}

/** The name of a model role; a role that this page does not know is shown as it is. */
export function roleName(role: string): string {
  return common().roles[role] ?? role;
}

/** The name of a stage of indexing. */
export function stageName(stage: string): string {
  return common().stages[stage] ?? stage;
}

/** A place in a document: the sheet of a spreadsheet, or a page. */
export function pageName(page: number, uri: string): string {
  const file = uri.split("#", 1)[0] ?? uri;
  return /\.(xlsx|xlsm|xlsb|xls|ods)$/i.test(file) ? common().sheet(page) : common().page(page);
}
