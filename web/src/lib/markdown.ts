// Renders text of models and documents safely: no pictures, no HTML, links only to http and https. Loaded late, only by
// `Markdown.svelte`.
import createPurifier from "dompurify";
import { Marked } from "marked";

const TAGS = ["p", "br", "hr", "strong", "em", "del", "code", "pre", "blockquote", "ul", "ol", "li", "a", "h3", "h4", "h5", "h6"];
const TABLES = ["table", "thead", "tbody", "tr", "th", "td"];
/** A longer text is shown as it is, because parsing hostile text may take long. */
const MOST = 200_000;

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

const marked = new Marked({
  gfm: true,
  async: false,
  renderer: {
    html: ({ text }) => escaped(text),
    image: ({ text }) => escaped(text),
    heading({ tokens, depth }) {
      // Below the headings of the page.
      const level = Math.min(depth + 2, 6);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
    },
  },
});

const purifier = createPurifier(window);
purifier.addHook("afterSanitizeAttributes", (node) => {
  if (node.nodeName !== "A") {
    return;
  }
  if (!/^https?:/i.test(node.getAttribute("href") ?? "")) {
    node.removeAttribute("href");
    return;
  }
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer");
});

/** The text as nodes that are safe to show. `[1]` to `[citations]` become buttons with `data-citation`. */
export function render(text: string, citations: number, citationLabel: (number: number) => string): DocumentFragment {
  if (MOST < text.length) {
    const fragment = document.createDocumentFragment();
    fragment.append(text);
    return fragment;
  }
  const fragment = purifier.sanitize(marked.parse(text) as string, {
    ALLOWED_TAGS: [...TAGS, ...TABLES],
    ALLOWED_ATTR: ["href", "start"],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
  markCitations(fragment, citations, citationLabel);
  return fragment;
}

function markCitations(fragment: DocumentFragment, citations: number, citationLabel: (number: number) => string): void {
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    if (!node.parentElement?.closest("a, code, pre") && /\[\d+\]/.test(node.data)) {
      texts.push(node);
    }
  }
  for (const node of texts) {
    node.replaceWith(...node.data.split(/(\[\d+\])/).map((part) => citationIn(part, citations, citationLabel)));
  }
}

function citationIn(part: string, citations: number, citationLabel: (number: number) => string): string | HTMLElement {
  const number = Number(/^\[(\d+)\]$/.exec(part)?.[1] ?? 0);
  if (number < 1 || citations < number) {
    return part;
  }
  const button = document.createElement("button");
  button.type = "button";
  button.className = "citation";
  button.dataset.citation = String(number);
  button.textContent = String(number);
  button.setAttribute("aria-label", citationLabel(number));
  return button;
}
