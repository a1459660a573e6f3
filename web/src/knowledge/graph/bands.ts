// Places nodes in three bands: documents, their passages, and the knowledge extracted from them.
import { LAYERS, type Node, type Part, neighbours } from "./model";

export type Place = { x: number; y: number };
export type Band = { layer: Node["layer"]; top: number; bottom: number };

const GAP = 46;
const MARGIN = 34;

/** The places in a field of this proportion (width to height): all bands have the same width, and the height that they need. */
export function placed(part: Part, proportion: number): { places: Map<string, Place>; bands: Band[]; width: number; height: number } {
  const rank = ranks(part);
  const inLayers = LAYERS.map((layer) => {
    const nodes = [...part.nodes.values()].filter((node) => node.layer === layer);
    return { layer, nodes: nodes.sort((a, b) => (rank.get(a.id) ?? 0) - (rank.get(b.id) ?? 0) || a.id.localeCompare(b.id)) };
  }).filter(({ nodes }) => nodes.length !== 0);
  const columns = columnsFor(inLayers.map(({ nodes }) => nodes.length), proportion);
  const width = columns * GAP;
  const places = new Map<string, Place>();
  const bands: Band[] = [];
  let top = 0;
  for (const { layer, nodes } of inLayers) {
    const rows = Math.ceil(nodes.length / columns);
    const step = width / Math.ceil(nodes.length / rows);
    nodes.forEach((node, index) => {
      // Column by column: neighbours in the order stay near.
      const [column, row] = [Math.floor(index / rows), index % rows];
      // Rows are shifted, so that lines from above pass between nodes.
      const shift = rows === 1 ? 0 : (row % 2 ? 0.22 : -0.22) * step;
      places.set(node.id, { x: (column + 0.5) * step + shift, y: top + MARGIN + row * GAP });
    });
    const bottom = top + 2 * MARGIN + (rows - 1) * GAP;
    bands.push({ layer, top, bottom });
    top = bottom + MARGIN;
  }
  gather(part, places, width);
  return { places, bands, width, height: Math.max(0, top - MARGIN) };
}

/** The fewest columns with which all bands together are as wide as the field. */
function columnsFor(counts: number[], proportion: number): number {
  for (let columns = 6; ; columns++) {
    const rows = counts.reduce((sum, count) => sum + Math.ceil(count / columns), 0);
    const height = counts.length * 2 * MARGIN + (rows - counts.length) * GAP + (counts.length - 1) * MARGIN;
    if (proportion <= (columns * GAP) / height || rows === counts.length) {
      return columns;
    }
  }
}

/** Puts documents above the middle of their passages, as far as they do not overlap. */
function gather(part: Part, places: Map<string, Place>, width: number): void {
  const beside = neighbours(part);
  const own = [...part.nodes.values()].filter((node) => node.layer === "source");
  if (own.length === 0 || width < own.length * GAP) {
    return;
  }
  const wanted = own.map((node) => {
    const below = (beside.get(node.id) ?? []).filter((one) => one.edge === "contains" && one.isOut).map((one) => places.get(one.node.id)?.x ?? 0);
    return { id: node.id, x: below.length === 0 ? (places.get(node.id)?.x ?? 0) : below.reduce((sum, x) => sum + x, 0) / below.length };
  }).sort((a, b) => a.x - b.x);
  wanted.forEach((one, at) => (one.x = Math.max(one.x, at === 0 ? GAP / 2 : (wanted[at - 1]?.x ?? 0) + GAP)));
  for (let at = wanted.length - 1, most = width - GAP / 2; 0 <= at; at--) {
    const one = wanted[at]!;
    one.x = Math.min(one.x, most);
    most = one.x - GAP;
    places.set(one.id, { x: one.x, y: places.get(one.id)?.y ?? 0 });
  }
}

/** An order with wholes before their parts, and parts before the knowledge extracted from them. */
function ranks(part: Part): Map<string, number> {
  const beside = neighbours(part);
  const rank = new Map<string, number>();
  let next = 0;
  const walk = (id: string) => {
    // Without recursion: a chain of passages may be deeper than the stack.
    const open = [id];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (rank.has(at)) {
        continue;
      }
      rank.set(at, next++);
      const down = (beside.get(at) ?? []).filter(({ edge, isOut, node }) => !rank.has(node.id) && isBelow(edge, isOut));
      open.push(...down.map(({ node }) => node.id).reverse());
    }
  };
  const byLayer = LAYERS.flatMap((layer) => [...part.nodes.values()].filter((node) => node.layer === layer));
  for (const node of byLayer) {
    walk(node.id);
  }
  return rank;
}

function isBelow(edge: string, isOut: boolean): boolean {
  return isOut ? ["contains", "mentions", "tagged"].includes(edge) : ["answers", "derived_from"].includes(edge);
}
