// Tests the shown part of the graph, its outline and the drawn edges.
import { expect, test } from "vitest";

import { placed } from "./force";
import { type Edge, type Layer, type Node, capped, counted, merged, neighbours, partOf, visible } from "./model";
import { hubsOf, outlined, thinned } from "./outline";

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

test("outline_shows_named_things_and_joins_them_across_passages", () => {
  const of = (id: string, kind: string, layer: Layer, uri: string): Node => ({ ...node(id, kind, layer), uri });
  const entities = Array.from({ length: 30 }, (_, at) => of(`e${at}`, "entity", "distilled", ""));
  const part = partOf(
    [of("d", "source", "source", "a.md"), of("c", "chunk", "corpus", "a.md"), of("a", "atom", "distilled", "a.md"), ...entities],
    [edge("d", "contains", "c"), edge("c", "mentions", "e1"), edge("a", "answers", "c"), edge("e1", "relates", "e2")],
  );
  const shown = outlined(part);
  expect(shown.nodes.size).toBe(31);
  expect([...shown.edges.keys()]).toEqual(["d mentions e1", "e1 relates e2"]);
  // A base of documents alone shows their sections, too.
  const small = outlined(partOf([of("d", "source", "source", "a.md"), of("s", "section", "corpus", "a.md"), of("c", "chunk", "corpus", "a.md")], [edge("d", "contains", "s"), edge("s", "contains", "c")]));
  expect([...small.nodes.keys()]).toEqual(["d", "s"]);
});

test("drawn_edges_connect_all_nodes_and_are_few", () => {
  const names = Array.from({ length: 60 }, (_, at) => `n${at}`);
  const all = names.flatMap((one, at) => names.slice(at + 1).map((other) => edge(one, "relates", other)));
  const part = partOf(names.map((id) => node(id, "entity", "distilled")), all);
  const drawn = thinned(part, null);
  expect(all.length).toBe(1770);
  expect(drawn.edges.size).toBeLessThanOrEqual(90);
  const reached = new Set(["n0"]);
  const beside = neighbours(drawn);
  for (const id of reached) {
    beside.get(id)?.forEach((one) => reached.add(one.node.id));
  }
  expect(reached.size).toBe(60);
  // The node in the middle keeps its edges.
  expect(neighbours(thinned(part, "n7")).get("n7")?.length).toBe(59);
  expect(hubsOf(part).size).toBe(60);
  expect(hubsOf(SMALL).size).toBe(0);
});

test("forces_place_each_node_alone_and_the_same_way_each_time", () => {
  const sizes = (part: ReturnType<typeof large>) => new Map([...part.nodes.keys()].slice(0, 40).map((id) => [id, { width: 104, height: 58 }]));
  for (const part of [SMALL, large(1, 1, 0), large(14, 2, 2), large(60, 0, 0)]) {
    const places = placed(part, sizes(part), 1.8);
    expect([...placed(part, sizes(part), 1.8)]).toEqual([...places]);
    expect(new Set([...places.values()].map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`)).size).toBe(part.nodes.size);
  }
  // Neighbours are nearer than strangers.
  const part = large(2, 4, 0);
  const places = placed(part, new Map(), 1);
  const apart = (one: string, other: string) => Math.hypot(places.get(one)!.x - places.get(other)!.x, places.get(one)!.y - places.get(other)!.y);
  expect(apart("d0", "d0c1")).toBeLessThan(apart("d0", "d1c1"));
});
