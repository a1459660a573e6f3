// Reduces a graph to a picture that people can read: named things only in an overview, and the few edges that say most.
import { type Edge, type Node, type Part, edgeKey, neighbours } from "./model";

/** Kinds that have names; passages, atoms and records are shown around a node. */
const NAMED = new Set(["source", "entity", "tag", "community", "summary"]);
/** An overview of fewer documents and things shows the sections, too. */
const FEW = 8;
/** A node with more edges than this, and than a seventh of all nodes, is a hub. */
const HUB = 12;
/** Edges beyond those that connect all nodes, per node. */
const EXTRA = 0.5;

/** The documents and the named things of a part; a passage between two of them becomes an edge. */
export function outlined(part: Part): Part {
  const named = [...part.nodes.values()].filter((node) => NAMED.has(node.node));
  const nodes = named.length < FEW ? [...part.nodes.values()].filter((node) => NAMED.has(node.node) || node.node === "section") : named;
  const kept = new Map(nodes.map((node) => [node.id, node]));
  const documents = new Map(named.filter((node) => node.node === "source").map((node) => [node.uri, node.id]));
  const edges = new Map<string, Edge>();
  for (const edge of part.edges.values()) {
    const [from, to] = [edge.from, edge.to].map((id) => (kept.has(id) ? id : documentOf(part.nodes.get(id), documents)));
    if (from !== undefined && to !== undefined && from !== to && edge.edge !== "next") {
      const short = { from, edge: edge.edge, to };
      edges.set(edgeKey(short), short);
    }
  }
  return { nodes: kept, edges };
}

function documentOf(node: Node | undefined, documents: ReadonlyMap<string, string>): string | undefined {
  return node && (node.layer === "corpus" || node.node === "record") ? documents.get(node.uri) : undefined;
}

/** The nodes with so many edges that the edges say little. */
export function hubsOf(part: Part): Set<string> {
  const most = Math.max(HUB, part.nodes.size / 7);
  return new Set([...neighbours(part)].filter(([, beside]) => most < beside.length).map(([id]) => id));
}

/**
 * The edges to draw: those that connect all nodes, and half as many as nodes beyond. Edges between nodes with few edges come
 * first, because they say most. Two nodes have one edge; `centre` keeps its neighbours.
 */
export function thinned(part: Part, centre: string | null): Part {
  const degrees = new Map([...neighbours(part)].map(([id, beside]) => [id, beside.length]));
  const degree = (id: string) => degrees.get(id) ?? 0;
  const weight = ({ from, to, edge }: Edge) => (edge === "next" ? 1e6 : 0) + degree(from) * degree(to);
  const sorted = [...part.edges].sort(([a, one], [b, other]) => weight(one) - weight(other) || a.localeCompare(b));
  const groups = new Map<string, string>();
  const groupOf = (id: string): string => {
    let root = id;
    for (let next = groups.get(root); next !== undefined; next = groups.get(root)) {
      root = next;
    }
    return root;
  };
  const drawn = new Map<string, Edge>();
  const others: [string, Edge][] = [];
  const pairs = new Set<string>();
  for (const [key, edge] of sorted) {
    const pair = [edge.from, edge.to].sort().join(" ");
    if (pairs.has(pair)) {
      continue;
    }
    pairs.add(pair);
    const [one, other] = [groupOf(edge.from), groupOf(edge.to)];
    if (one !== other) {
      groups.set(one, other);
      drawn.set(key, edge);
    } else {
      others.push([key, edge]);
    }
  }
  const hubs = hubsOf(part);
  const extra = others.filter(([, { from, to, edge }]) => edge !== "next" && !hubs.has(from) && !hubs.has(to)).slice(0, Math.round(EXTRA * part.nodes.size));
  const own = others.filter(([, { from, to }]) => from === centre || to === centre);
  return { nodes: part.nodes, edges: new Map([...drawn, ...extra, ...own]) };
}
