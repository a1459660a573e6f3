// Words a problem in the language of the page, by its code.
import { inLanguage } from "../i18n.svelte";
import { preferences } from "../preferences.svelte";
import type { ProblemError } from "../problem";
import { common } from "./common";
import { en } from "./problems.en";
import { zh } from "./problems.zh";

/** What failed, and what to do next. */
export type ProblemWords = { title: string; hint?: string };

/** A problem as the page shows it. */
export type ShownProblem = {
  title: string;
  /** The cause in this case; empty if the title says it all. */
  text: string;
  hint: string;
  /** The server's words in another language than the page's; empty if the page shows the same in its own. */
  original: string;
};

const words = inLanguage({ en, zh });

/** Problems with a statement: the server's Chinese cause blames the base, and the words of SQLite are English. */
const OF_STATEMENT = new Set(["bad-sql", "sql-not-allowed", "sql-too-slow", "bad-plan", "no-such-table", "no-such-column"]);

/** The server sends its causes in English, and some in Chinese too; its titles and hints are not shown if the page has its own. */
export function shownProblem(problem: ProblemError): ShownProblem {
  const { general, codes } = words();
  const own = codes[problem.code];
  if (preferences.language === "en") {
    const title = own?.title ?? (problem.title || general);
    return { title, text: problem.detail === title ? "" : problem.detail, hint: own?.hint ?? problem.hint ?? "", original: "" };
  }
  const logged = problem.id === undefined ? "" : common().logged(problem.id);
  const cause = OF_STATEMENT.has(problem.code) ? undefined : problem.detailZh;
  return { title: own?.title ?? general, text: [cause ?? "", logged].join(""), hint: own?.hint ?? "", original: cause === undefined ? problem.detail : "" };
}

/** A problem in one line. */
export function problemLine(problem: ProblemError): string {
  const { title, text } = shownProblem(problem);
  return text === "" ? title : `${title}${common().colon}${text}`;
}
