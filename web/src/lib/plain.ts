// Takes the marks of Markdown out of a text, where a line or an excerpt shows it.

/** `**1. Goods.** See [a](b.md)` as `1. Goods. See a`; the ends of the lines stay. `bullet` begins the items of a list. */
export function plainText(text: string, bullet = ""): string {
  return text
    .split("\n")
    .filter((line) => !/^\s*(?:\|?(?:\s*:?-+:?\s*\|)+\s*(?::?-+:?)?|[-*_=]{3,}|`{3,}\w*)\s*$/.test(line))
    .map((line) => line.replace(/^\s*(?:#{1,6}\s+|>\s?)+/, "").replace(/^(\s*)[-*+•]\s+/, bullet && `$1${bullet}`).replace(/^\s*\|\s*/, "").replace(/\s*\|\s*$/, ""))
    .join("\n")
    .replace(/!?\[([^\]\n]*)\]\([^()\n]*\)/g, "$1")
    .replace(/(\*\*|__)(?=\S)([^\n]*?\S)\1/g, "$2")
    .replace(/(^|[\s（(“"])\*(?=[^\s*])([^*\n]*[^\s*])\*(?=[\s.,;:!?）)”"]|$)/gm, "$1$2")
    // The other half of a mark is in the text before or after.
    .replace(/^\s*\*\*\s+|\s+\*\*\s*$/gm, "")
    .replace(/`([^`\n]+)`/g, "$1");
}
