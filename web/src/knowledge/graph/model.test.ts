// Tests the shown part of the graph and the bands of its nodes.
import { expect, test } from "vitest";

import { placed } from "./bands";
import { type Edge, type Layer, type Node, capped, counted, merged, neighbours, partOf, visible } from "./model";

const node = (id: string, kind: string, layer: Layer): Node => ({ id, node: kind, kind: "", layer, label: id, text: "", uri: "", page: null });
const edge = (from: string, edge: string, to: string): Edge => ({ from, edge, to });
const SMALL = partOf(
  [node("d", "source", "source"), node("c1", "chunk", "corpus"), node("c2", "chunk", "corpus"), node("a", "atom", "distilled")],
  [edge("d", "contains", "c1"), edge("d", "contains", "c2"), edge("c1", "next", "c2"), edge("a", "answers", "c1")],
);

function large(documents: number, chunks: number, atoms: number) {
  const nodes: Node[] = [];
  const edges: Edge[] = [];
  for (let d = 0; d < documents; d++) {
    nodes.push(node(`d${d}`, "source", "source"));
    for (let c = 0; c < chunks; c++) {
      nodes.push(node(`d${d}c${c}`, "chunk", "corpus"));
      edges.push(edge(`d${d}`, "contains", `d${d}c${c}`));
      for (let a = 0; a < atoms; a++) {
        nodes.push(node(`d${d}c${c}a${a}`, "atom", "distilled"));
        edges.push(edge(`d${d}c${c}a${a}`, "answers", `d${d}c${c}`));
      }
    }
  }
  return partOf(nodes, edges);
}

test("what is met twice is there once", () => {
  const both = merged(SMALL, partOf([node("a", "atom", "distilled"), node("b", "atom", "distilled")], [edge("a", "answers", "c1")]));
  expect([both.nodes.size, both.edges.size]).toEqual([5, 4]);
});

test("of too many the nearest are kept", () => {
  const { part, leftOut } = capped(SMALL, "a", 3);
  expect([...part.nodes.keys()].sort()).toEqual(["a", "c1", "d"]);
  expect([leftOut, part.edges.size]).toEqual([1, 2]);
  expect(capped(SMALL, "a", 4).leftOut).toBe(0);
  expect(capped(SMALL, "nowhere", 2).part.nodes.size).toBe(2);
  expect(capped(large(10, 10, 10), "d3", 300).part.nodes.size).toBe(300);
});

test("filters take nodes with their edges", () => {
  const none = new Set<string>();
  expect(visible(SMALL, { layers: new Set<Layer>(["distilled"]), kinds: none, edges: none }).edges.size).toBe(3);
  expect(visible(SMALL, { layers: new Set<Layer>(), kinds: new Set(["chunk"]), edges: none }).edges.size).toBe(0);
  const left = visible(SMALL, { layers: new Set<Layer>(), kinds: none, edges: new Set(["contains"]) });
  expect([left.nodes.size, left.edges.size]).toEqual([4, 2]);
  expect(neighbours(SMALL).get("c1")?.map((one) => `${one.isOut ? "→" : "←"} ${one.edge} ${one.node.id}`)).toEqual(["← contains d", "→ next c2", "← answers a"]);
  expect(counted(["b", "a", "b"])).toEqual([["b", 2], ["a", 1]]);
});

test("bands stand one below the other, and no two nodes at one place", () => {
  for (const part of [SMALL, large(1, 1, 0), large(14, 5, 3), large(10, 5, 5), large(200, 0, 0), large(1, 40, 6)]) {
    const { places, bands } = placed(part, 1.8);
    expect(places.size).toBe(part.nodes.size);
    expect(new Set([...places.values()].map(({ x, y }) => `${x.toFixed(2)} ${y.toFixed(2)}`)).size).toBe(part.nodes.size);
    for (const { id, layer } of part.nodes.values()) {
      const band = bands.find((one) => one.layer === layer)!;
      expect(places.get(id)!.y).toBeGreaterThanOrEqual(band.top);
      expect(places.get(id)!.y).toBeLessThanOrEqual(band.bottom);
    }
    bands.slice(1).forEach((band, at) => expect(band.top).toBeGreaterThan(bands[at]!.bottom));
  }
});
