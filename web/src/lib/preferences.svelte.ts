// Keeps the preferences of this browser: language, theme, shortcuts.
export type Language = "en" | "zh";
export type Theme = "system" | "light" | "dark";
export type Preferences = { language: Language; theme: Theme; shortcuts: boolean };

const PLACE = "pikerag.preferences";

/** Language, theme, and whether single-key shortcuts work. This browser keeps them. */
export const preferences: Preferences = $state(kept());

/** Changes and keeps some preferences. */
export function prefer(changed: Partial<Preferences>): void {
  Object.assign(preferences, changed);
  globalThis.localStorage?.setItem(PLACE, JSON.stringify(preferences));
}

function kept(): Preferences {
  const found = read(globalThis.localStorage?.getItem(PLACE) ?? "{}");
  const language = found.language === "en" || found.language === "zh" ? found.language : languageOfBrowser();
  const theme = found.theme === "light" || found.theme === "dark" ? found.theme : "system";
  return { language, theme, shortcuts: found.shortcuts !== false };
}

function read(text: string): Partial<Record<keyof Preferences, unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

function languageOfBrowser(): Language {
  const first = globalThis.navigator?.languages?.find((language) => /^(en|zh)\b/.test(language));
  return first?.startsWith("zh") ? "zh" : "en";
}
