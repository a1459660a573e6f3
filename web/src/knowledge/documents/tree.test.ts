// Tests the rows of a document.
import { expect, test } from "vitest";

import { type Chunk, type GraphNode, firstWords, groupsOf, madeOf, treeRows } from "./tree";

function chunk(ordinal: number, headings: string[], text = `text ${ordinal}`): Chunk {
  return { id: `c${ordinal}`, source: "s", uri: "a.md", title: "A", section: null, headings, ordinal, kind: "text", text, span: { start: 0, end: 1 }, page: null, table: null };
}
const node = (id: string, kind: string, layer: GraphNode["layer"] = "distilled"): GraphNode => ({ id, node: kind, kind: "", layer, label: id, text: id, uri: "", page: null });
const CHUNKS = [chunk(0, []), chunk(1, ["A"]), chunk(2, ["A", "B"]), chunk(3, ["A", "B"], "the Crane"), chunk(4, ["C"]), chunk(5, ["A"])];

function shown(options: Partial<Parameters<typeof treeRows>[1]> = {}): string[] {
  return treeRows(CHUNKS, { closed: new Set(), made: new Map(), ...options }).map((row) => {
    const what = row.kind === "section" ? `${row.heading} ${row.passages}${row.isOpen ? "" : " closed"}` : row.kind === "passage" ? row.chunk.id : row.node.id;
    return `${"  ".repeat(row.depth)}${what}`;
  });
}

test("sections in reading order; the same heading further on is another", () => {
  expect(shown()).toEqual(["c0", "A 3", "  c1", "  B 2", "    c2", "    c3", "C 1", "  c4", "A 1", "  c5"]);
});

test("a folded section hides its passages, unless the filter finds them", () => {
  const keys = treeRows(CHUNKS, { closed: new Set(), made: new Map() }).filter((row) => row.kind === "section").map((row) => row.key);
  expect(new Set(keys).size).toBe(4);
  const closed = new Set(keys.slice(0, 1));
  expect(shown({ closed })).toEqual(["c0", "A 3 closed", "C 1", "  c4", "A 1", "  c5"]);
  expect(shown({ closed, filter: " CRANE " })).toEqual(["A 1", "  B 1", "    c3"]);
  expect(shown({ filter: "nowhere" })).toEqual([]);
});

test("knowledge extracted from a passage is below it", () => {
  expect(shown({ made: new Map([["c4", [node("q", "atom"), node("e", "entity")]]]) }).slice(6, 10)).toEqual(["C 1", "  c4", "    q", "    e"]);
  const nodes = [node("r", "record"), node("e", "entity"), node("x", "community"), node("q", "atom"), node("c", "chunk", "corpus")];
  expect(madeOf({ of: "c", nodes, edges: [], left_out: 0 }).map((one) => one.id)).toEqual(["q", "e", "r", "x"]);
});

test("extracted names are grouped by kind, each once", () => {
  const label = (id: string, kind: string, text: string) => ({ ...node(id, kind), label: text });
  const made = [label("q", "atom", "*Who?*"), label("e", "entity", "Alder"), label("f", "entity", "Birch"), label("r", "relation", "a row"), label("s", "relation", "a row")];
  expect(groupsOf(made, (kind) => ({ entity: "Entity" })[kind])).toEqual([
    { kind: "atom", names: [{ name: "Who?", id: "q" }] },
    { kind: "Entity", names: [{ name: "Alder", id: "e" }, { name: "Birch", id: "f" }] },
    { kind: "relation", names: [{ name: "a row", id: "r" }] },
  ]);
});

test("a document of ten thousand passages is laid out, deep headings too", () => {
  const many = Array.from({ length: 10_000 }, (_, at) => chunk(at, [`H${Math.floor(at / 10)}`, "x", "y"]));
  expect(treeRows(many, { closed: new Set(), made: new Map() })).toHaveLength(13_000);
});

test("the first words are those after the heading", () => {
  expect(firstWords(chunk(0, ["A"], "## Who decides\n\nA crane\nis taken out."))).toBe("A crane is taken out.");
  expect(firstWords(chunk(0, ["A"], "# Alone"))).toBe("Alone");
  expect(firstWords(chunk(0, ["A"], "| a | b |\n| - | - |"))).toMatch(/^a \| b/);
});
