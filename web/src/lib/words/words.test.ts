// Tests the dictionaries: both languages have all words, Chinese holds no English sentence, and the wording follows STYLE.md.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { parse } from "svelte/compiler";
import ts from "typescript";
import { expect, test } from "vitest";

const SOURCES = fileURLToPath(new URL("../..", import.meta.url));
const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const WORDS = join(SOURCES, "lib/words");

/** Words of STYLE.md's table that no string of the page may contain. */
const BANNED = [
  "told", "foretold", "whoever", "who asks", "reckon", "reckons", "reckoned", "reckoning", "anew", "mend", "mended", "mends", "dear", "dearest", "lacking", "kin", "at hand", "so many",
  "bears out", "borne", "borne out", "is to be", "are to be", "what waits", "stands",
];

/** Chinese terms that the glossary replaces, with their replacement. */
const SETTLED = [
  ["词元", "Token"], ["段落", "文本块"], ["彻底遗忘", "彻底删除"], ["词对", "同义词"], ["创想", "创意"], ["机油", "润滑油"], ["不有用", "没有用"], ["不足够", "不够"],
  ["原文属实", "与原文一致"], ["重排序模型", "重排模型"], ["已核实的回答", "人工核实的问答"], ["已确认答案", "人工核实的问答"],
] as const;

/** English in Chinese mode, each with its reason. */
const ENGLISH_IN_CHINESE: Record<string, string> = {
  "Switch this page to English": "the label of the switch is in the language that it leads to",
  "JSON Lines": "the name of a format",
  "JSON Schema": "the name of a format",
  "pikerag eval": "a command",
  "pikerag trust": "a command",
};

/** Texts of templates outside the dictionaries, each with its reason. */
const LITERALS: Record<string, string> = {
  "shell/Help.svelte: Esc": "the name of a key",
};

/** The attributes and component properties that people read. */
const READ_ATTRIBUTES = new Set(["title", "placeholder", "aria-label", "aria-description", "aria-valuetext", "aria-roledescription", "alt", "label", "text", "general", "none", "head"]);

const languages = ["en", "zh"] as const;
const dictionaries = readdirSync(WORDS).filter((name) => name.endsWith(".en.ts")).map((name) => name.slice(0, -".en.ts".length));

type Value = string | ((...args: never[]) => unknown) | { [key: string]: Value };

async function dictionary(name: string, language: (typeof languages)[number]): Promise<Value> {
  const module: Record<string, Value> = await import(`./${name}.${language}.ts`);
  return module[language] ?? {};
}

/** The paths of all entries with their types. A text in one language may be a function in the other. */
function shape(value: Value, path = ""): string[] {
  if (typeof value !== "object") {
    return [path];
  }
  return Object.entries(value).flatMap(([key, own]) => shape(own, `${path}.${key}`));
}

/** The strings of a file without keys, imports and types: each template is one string, with ◯ for its expressions. */
function stringsOf(file: string): string[] {
  const found: string[] = [];
  const walk = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node)) {
      return;
    }
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) {
      const isKey = (ts.isPropertyAssignment(node.parent) && node.parent.name === node) || ts.isElementAccessExpression(node.parent);
      if (!isKey) {
        found.push(node.text);
      }
    } else if (ts.isTemplateExpression(node)) {
      found.push([node.head.text, ...node.templateSpans.map((span) => span.literal.text)].join("◯"));
    }
    ts.forEachChild(node, walk);
  };
  walk(ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true));
  return found;
}

/** Two or more English words in a row. */
function englishIn(text: string): string[] {
  return text.match(/[A-Za-z][A-Za-z’'-]*(?:[ ,]+ ?[A-Za-z][A-Za-z’'-]*)+/g) ?? [];
}

function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(ending)).map((name) => join(folder, name));
}

test.each(dictionaries)("%s has every word in both languages", async (name) => {
  const [en, zh] = [shape(await dictionary(name, "en")), shape(await dictionary(name, "zh"))];
  // English takes the summaries of methods from the server.
  const own = (path: string) => !path.startsWith(".methods.summaries");
  expect(en.length).toBeGreaterThan(5);
  expect(zh.filter(own)).toEqual(expect.arrayContaining(en.filter(own)));
  expect(en.filter(own)).toEqual(expect.arrayContaining(zh.filter(own)));
});

test("Chinese strings hold no English sentence", () => {
  const files = filesBelow(WORDS, ".zh.ts");
  const found = files.flatMap((file) => stringsOf(file).flatMap(englishIn));
  expect(files.length).toBeGreaterThanOrEqual(dictionaries.length);
  expect(found.filter((english) => !(english in ENGLISH_IN_CHINESE))).toEqual([]);
  expect(Object.keys(ENGLISH_IN_CHINESE).filter((english) => !found.includes(english)), "exceptions without a use").toEqual([]);
});

test("Chinese strings use the terms of the glossary", () => {
  const strings = filesBelow(WORDS, ".zh.ts").flatMap(stringsOf);
  expect(strings.flatMap((text) => SETTLED.flatMap(([term, better]) => (text.includes(term) ? [`${term} → ${better}: ${text}`] : [])))).toEqual([]);
});

test("strings hold no banned word", () => {
  const files = [...filesBelow(WORDS, ".en.ts"), ...filesBelow(WORDS, ".zh.ts")];
  const banned = new RegExp(`\\b(?:${BANNED.join("|")})\\b`, "i");
  expect(files.flatMap((file) => stringsOf(file).filter((text) => banned.test(text)))).toEqual([]);
});

type Node = { type: string; [key: string]: unknown };

/** The texts that an expression can give: literals, templates, and both sides of a choice. */
function textsOf(expression: Node): string[] {
  switch (expression.type) {
    case "Literal":
      return typeof expression.value === "string" ? [expression.value] : [];
    case "TemplateLiteral":
      return (expression.quasis as { value: { cooked: string } }[]).map((quasi) => quasi.value.cooked);
    case "ConditionalExpression":
      return [...textsOf(expression.consequent as Node), ...textsOf(expression.alternate as Node)];
    case "LogicalExpression":
    case "BinaryExpression":
      return /^(&&|\|\||\?\?|\+)$/.test(String(expression.operator)) ? [...textsOf(expression.left as Node), ...textsOf(expression.right as Node)] : [];
    default:
      return [];
  }
}

/** The literal texts that a template shows, and those of attributes that people read. */
function literalsOf(source: string): string[] {
  const found: string[] = [];
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) {
      value.forEach(walk);
    } else if (typeof value === "object" && value !== null && "type" in value) {
      const node = value as Node;
      if (node.type === "StyleDirective" || node.type === "ClassDirective") {
        return;
      }
      if (node.type === "Attribute") {
        const parts = [node.value].flat().filter((part): part is Node => typeof part === "object" && part !== null);
        if (READ_ATTRIBUTES.has(String(node.name))) {
          found.push(...parts.flatMap((part) => (part.type === "Text" ? [String(part.data)] : textsOf(part.expression as Node))));
        }
        return;
      }
      if (node.type === "Text") {
        found.push(String(node.data));
      } else if (node.type === "ExpressionTag") {
        found.push(...textsOf(node.expression as Node));
      }
      Object.entries(node).filter(([key]) => !["expression", "metadata", "parent"].includes(key)).forEach(([, child]) => walk(child));
    }
  };
  walk(parse(source, { modern: true }).fragment);
  return found.map((text) => text.trim()).filter((text) => /\p{L}{2}/u.test(text));
}

test("templates hold no text outside the dictionaries", () => {
  const found = filesBelow(SOURCES, ".svelte").flatMap((file) => literalsOf(readFileSync(file, "utf8")).map((text) => `${file.slice(SOURCES.length)}: ${text}`));
  expect(found.filter((literal) => !(literal in LITERALS))).toEqual([]);
  expect(Object.keys(LITERALS).filter((literal) => !found.includes(literal)), "exceptions without a use").toEqual([]);
});

test("toasts and titles hold no literal text", () => {
  const files = [...filesBelow(SOURCES, ".svelte"), ...filesBelow(SOURCES, ".ts").filter((file) => !file.endsWith(".test.ts"))];
  expect(files.filter((file) => /\b(?:toast|alert|confirm)\(\s*["'`]|pageTitle\.detail = ["'`]\w/.test(readFileSync(file, "utf8")))).toEqual([]);
});

/** Codes of the command line, which no request of the page gets. */
const ONLY_COMMAND_LINE = [
  "no-run-folder", "no-data-folder", "bad-questions", "named-twice", "corpora-do-not-fit", "no-evidence", "other-run", "bad-rows", "no-training-data", "unreadable-corpus", "incomplete-corpus",
];

test("every code of a problem has words", async () => {
  const [engine, server] = [join(ROOT, "crates/engine/src"), join(ROOT, "crates/server/src")];
  const ofEngine = filesBelow(engine, ".rs").filter((file) => /\/error(\/\w+)?\.rs$/.test(file)).flatMap((file) => readFileSync(file, "utf8").match(/"[a-z]+(-[a-z]+)+"|=> "cancelled"/g) ?? []);
  const ofServer = filesBelow(server, ".rs").flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/(?:Problem::new\(\s*\d+,\s*|Self::new\(\s*\d+,\s*|\(\d{3}, |no_key\(|\d+ => )"([a-z]+(?:-[a-z]+)*)"|no_such\("([a-z]+)"/g)].map(([, code, what]) => code ?? `no-such-${what}`),
  );
  const codes = new Set([...ofEngine.map((code) => code.replace(/^=> /, "").slice(1, -1)), ...ofServer]);
  const { codes: words } = (await dictionary("problems", "en")) as { codes: Record<string, Value> };
  expect(codes.size).toBeGreaterThan(100);
  expect([...codes].filter((code) => !(code in words) && !ONLY_COMMAND_LINE.includes(code)).sort()).toEqual([]);
});

test("every method has a Chinese summary", async () => {
  const lines = readFileSync(join(ROOT, "docs/reference/methods.md"), "utf8").split("\n");
  // The table of methods begins with `pike`.
  const table = lines.slice(lines.findIndex((line) => line.startsWith("| `pike` |")));
  const rows = table.slice(0, table.findIndex((line) => !line.startsWith("|")));
  const names = rows.map((row) => /^\| `([a-z0-9-]+)` \|/.exec(row)?.[1] ?? row);
  const { methods } = (await dictionary("ask", "zh")) as { methods: { summaries: Record<string, Value> } };
  expect(names.length).toBeGreaterThan(40);
  expect(names.filter((name) => !(name in methods.summaries))).toEqual([]);
});
