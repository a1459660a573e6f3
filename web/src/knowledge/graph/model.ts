// Holds the shown part of the graph: its nodes and edges, filtered and limited in number.
import type { Schemas } from "../../lib/api";

export type Node = Schemas["GraphNode"];
export type Edge = Schemas["GraphEdge"];
export type Layer = Schemas["LayerKind"];
export type Part = { nodes: ReadonlyMap<string, Node>; edges: ReadonlyMap<string, Edge> };
/** The hidden layers and kinds. */
export type Hidden = { layers: ReadonlySet<Layer>; kinds: ReadonlySet<string>; edges: ReadonlySet<string> };
export type Neighbour = { edge: string; isOut: boolean; node: Node };

export const LAYERS: readonly Layer[] = ["source", "corpus", "distilled"];
export const NOTHING: Part = { nodes: new Map(), edges: new Map() };

export const edgeKey = (edge: Edge) => `${edge.from} ${edge.edge} ${edge.to}`;

export function partOf(nodes: Node[], edges: Edge[]): Part {
  return { nodes: new Map(nodes.map((node) => [node.id, node])), edges: new Map(edges.map((edge) => [edgeKey(edge), edge])) };
}

/** Both together. */
export function merged(a: Part, b: Part): Part {
  return { nodes: new Map([...a.nodes, ...b.nodes]), edges: new Map([...a.edges, ...b.edges]) };
}

/** At most `most` nodes, those nearest to `centre`; and the number of nodes left out. */
export function capped(part: Part, centre: string, most: number): { part: Part; leftOut: number } {
  if (part.nodes.size <= most) {
    return { part, leftOut: 0 };
  }
  const beside = neighbours(part);
  const held = new Set<string>(part.nodes.has(centre) ? [centre] : []);
  // Breadth first; nodes without a connection are last.
  for (const id of [...held, ...part.nodes.keys()]) {
    const border = [id];
    for (const at of border) {
      if (most <= held.size && !held.has(at)) {
        break;
      }
      held.add(at);
      border.push(...(beside.get(at) ?? []).map(({ node }) => node.id).filter((next) => !held.has(next) && !border.includes(next)));
    }
    if (most <= held.size) {
      break;
    }
  }
  return { part: within(part, (node) => held.has(node.id)), leftOut: part.nodes.size - held.size };
}

/** The part that the filters show. */
export function visible(part: Part, hidden: Hidden): Part {
  const left = within(part, (node) => !hidden.layers.has(node.layer) && !hidden.kinds.has(node.node));
  return { nodes: left.nodes, edges: new Map([...left.edges].filter(([, edge]) => !hidden.edges.has(edge.edge))) };
}

function within(part: Part, isIn: (node: Node) => boolean): Part {
  const nodes = new Map([...part.nodes].filter(([, node]) => isIn(node)));
  return { nodes, edges: new Map([...part.edges].filter(([, edge]) => nodes.has(edge.from) && nodes.has(edge.to))) };
}

/** The neighbours of each node. */
export function neighbours(part: Part): Map<string, Neighbour[]> {
  const found = new Map<string, Neighbour[]>();
  const add = (at: string, to: string, edge: string, isOut: boolean) => {
    const node = part.nodes.get(to);
    if (node) {
      found.set(at, [...(found.get(at) ?? []), { edge, isOut, node }]);
    }
  };
  for (const { from, to, edge } of part.edges.values()) {
    add(from, to, edge, true);
    add(to, from, edge, false);
  }
  return found;
}

/** The number of each name, the largest first. */
export function counted(names: Iterable<string>): [string, number][] {
  const counts = new Map<string, number>();
  for (const name of names) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
}
