// Words the parts of an answer that refuses: each once, without what only the command line can do.
import { withoutStatements } from "./statements";
import type { Answer } from "./types";

/** The part of a sentence that names a setting and a command: `（`[[records]]`，参见 `pikerag schema propose`）`. */
const OF_RECORDS = / ?[(（]`\[\[records\]\]`[^()（）]*[)）]/g;

/** An answer without text counts as a refusal. */
export function isRefusal(answer: Answer): boolean {
  return answer.refused || answer.text.trim() === "";
}

/** Whether an answer needs records that are not declared. */
export function needsRecords(answer: Answer): boolean {
  return [answer.text, answer.rationale, ...(answer.missing ?? [])].some((text) => text.includes("[[records]]"));
}

/** A text of the answer, with the statements that it names. */
export function wordsOf(text: string): { text: string; statements: string[] } {
  return withoutStatements(text.replace(OF_RECORDS, ""));
}

/** The gaps that the text does not name already. */
export function missingOf(answer: Answer): string[] {
  const own = wordsOf(answer.text).text.trim();
  return [...new Set((answer.missing ?? []).map((one) => wordsOf(one).text.trim()))].filter((one) => one !== "" && one !== own);
}
