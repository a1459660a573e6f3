// Words the reasons that the server sends in English without a code.
import { preferences } from "../preferences.svelte";
import { REASONS } from "./reasons.zh";

export type ShownReason = {
  text: string;
  /** The server's words; empty if the text says the same. */
  original: string;
};

/** In Chinese a reason that the page does not recognize becomes the general sentence, with the original beside it. */
export function shownReason(text: string, general: string): ShownReason {
  const plain = aboutFile(text);
  // Names in backticks may be Chinese in an English text.
  if (preferences.language === "en" || /\p{Script=Han}/u.test(text.replace(/`[^`]*`/g, ""))) {
    return { text: plain, original: "" };
  }
  const recognized = inChinese(text);
  return recognized === null ? { text: general, original: plain } : { text: recognized, original: "" };
}

/** The name in a reason may be that of the server's own folder; the page shows the file beside the reason. */
function aboutFile(text: string): string {
  return text.replace(/^`[^`]*` (?=(?:is|has|holds|contains|unpacks|unfolds)\b)/, "The file ");
}

/** A reason in one line, for a tooltip or a sentence. */
export function reasonLine(text: string, general: string): string {
  const reason = shownReason(text, general);
  return reason.original === "" ? reason.text : `${reason.text}（${reason.original}）`;
}

function inChinese(text: string): string | null {
  for (const [pattern, words] of REASONS) {
    const found = pattern.exec(text.trim());
    if (found) {
      return words(...found.slice(1));
    }
  }
  return null;
}
