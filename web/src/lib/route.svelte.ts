// Reads and writes the address of a place: `#/TAB/BASE/REST…?QUERY`; without a base, the one chosen last.
export const TABS = ["ask", "knowledge", "runs", "settings"] as const;
export type Tab = (typeof TABS)[number];

export type Route = { tab: Tab; base: string | null; rest: string[]; query: URLSearchParams };

/** The props of each tab. Another base mounts it again. */
export type TabProps = { base: string; rest: string[]; query: URLSearchParams };

/** The place of the current address. */
export const route: { current: Route } = $state({ current: parseRoute(globalThis.location?.hash ?? "") });

/** The text before the tab's name in the title of the window; a tab sets it, and each change of the tab empties it. */
export const pageTitle = $state({ detail: "" });

globalThis.addEventListener?.("hashchange", () => {
  route.current = parseRoute(location.hash);
});

/** The address of a place in the page, for links: `hrefOf("runs", base, run)`. */
export function hrefOf(tab: Tab, base: string | null = null, rest: string[] = [], query: Record<string, string> = {}): string {
  const parts = [tab, ...(base === null ? [] : [base, ...rest])].map(encodeURIComponent);
  const asked = new URLSearchParams(query).toString();
  return `#/${parts.join("/")}${asked && `?${asked}`}`;
}

/** Goes there; `replace` leaves no step back. */
export function go(href: string, { replace = false } = {}): void {
  if (replace) {
    history.replaceState(null, "", href);
    route.current = parseRoute(href);
  } else {
    location.hash = href;
  }
}

/** The place of an address; an unreadable one gives the first tab. */
export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#?\/?/, "").split(/\?(.*)/s);
  const [tab, base, ...rest] = path.split("/").map(decoded);
  const known = TABS.find((one) => one === tab) ?? "ask";
  return { tab: known, base: base || null, rest: rest.filter((part) => part !== ""), query: new URLSearchParams(query) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
