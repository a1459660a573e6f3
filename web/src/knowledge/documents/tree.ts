// Lists the sections and passages of a document, with the knowledge extracted from them, as rows.
import type { Schemas } from "../../lib/api";
import { plainText } from "../../lib/plain";

export type Chunk = Schemas["Chunk"];
export type GraphNode = Schemas["GraphNode"];
export type SectionRow = { kind: "section"; key: string; depth: number; heading: string; passages: number; isOpen: boolean };
export type PassageRow = { kind: "passage"; key: string; depth: number; chunk: Chunk };
export type MadeRow = { kind: "made"; key: string; depth: number; node: GraphNode };
export type TreeRow = SectionRow | PassageRow | MadeRow;

type Section = { key: string; heading: string; children: (Section | Chunk)[]; passages: number };
/** The knowledge extracted from a passage, by its identifier. */
export type Made = ReadonlyMap<string, GraphNode[]>;

const isChunk = (one: Section | Chunk): one is Chunk => "span" in one;

/** Sections in reading order. The same headings further on are another section. */
export function sectionsOf(chunks: Chunk[]): Section {
  const top: Section = { key: "", heading: "", children: [], passages: 0 };
  let path: Section[] = [top];
  for (const chunk of chunks) {
    let shared = 0;
    while (shared < chunk.headings.length && path[shared + 1]?.heading === chunk.headings[shared]) {
      shared += 1;
    }
    path = path.slice(0, shared + 1);
    for (const heading of chunk.headings.slice(shared)) {
      const parent = path.at(-1) ?? top;
      const section: Section = { key: `${parent.key}/${parent.children.length}`, heading, children: [], passages: 0 };
      parent.children.push(section);
      path.push(section);
    }
    for (const section of path) {
      section.passages += 1;
    }
    (path.at(-1) ?? top).children.push(chunk);
  }
  return top;
}

/** The rows of the open sections; with `filter`, the passages that contain it, under their headings. */
export function treeRows(chunks: Chunk[], { closed, made, filter = "" }: { closed: ReadonlySet<string>; made: Made; filter?: string }): TreeRow[] {
  const wanted = filter.trim().toLocaleLowerCase();
  const found = wanted === "" ? chunks : chunks.filter((chunk) => `${chunk.headings.join("\n")}\n${chunk.text}`.toLocaleLowerCase().includes(wanted));
  const rows: TreeRow[] = [];
  const add = (section: Section, depth: number) => {
    for (const child of section.children) {
      if (isChunk(child)) {
        rows.push({ kind: "passage", key: child.id, depth, chunk: child });
        for (const node of made.get(child.id) ?? []) {
          rows.push({ kind: "made", key: `${child.id} ${node.id}`, depth: depth + 1, node });
        }
        continue;
      }
      // A filtered passage is shown even in a folded section.
      const isOpen = wanted !== "" || !closed.has(child.key);
      rows.push({ kind: "section", key: child.key, depth, heading: child.heading, passages: child.passages, isOpen });
      if (isOpen) {
        add(child, depth + 1);
      }
    }
  };
  add(sectionsOf(found), 0);
  return rows;
}

/** The knowledge extracted from a passage: the distilled nodes around it, questions first. */
export function madeOf(around: Schemas["GraphAround"]): GraphNode[] {
  const order = ["atom", "entity", "relation", "record", "tag"];
  const place = (node: GraphNode) => (order.indexOf(node.node) + order.length + 1) % (order.length + 1);
  return around.nodes.filter((node) => node.layer === "distilled").sort((a, b) => place(a) - place(b) || a.label.localeCompare(b.label));
}

/** The names of the extracted knowledge by kind, in the words of `nameOf`, each name once; the kinds in the order of the nodes. */
export function groupsOf(made: GraphNode[], nameOf: (kind: string) => string | undefined): { kind: string; names: { name: string; id: string }[] }[] {
  const groups = new Map<string, Map<string, string>>();
  for (const node of made) {
    const kind = nameOf(node.kind) ?? nameOf(node.node) ?? node.node;
    const name = plainText(node.label.trim() || node.text).trim();
    const names = groups.get(kind) ?? new Map<string, string>();
    groups.set(kind, names.has(name) ? names : names.set(name, node.id));
  }
  return [...groups].map(([kind, names]) => ({ kind, names: [...names].map(([name, id]) => ({ name, id })) }));
}

/** The first words of a passage, without its heading's marks. */
export function firstWords(chunk: Chunk, most = 140): string {
  const body = chunk.text.replace(/^\s*#{1,6} .*\n+/, "").trim() || chunk.text;
  return plainText(body.slice(0, most * 2)).replace(/\s+/g, " ").replace(/^[#|\s]+/, "").slice(0, most);
}
