// Places the nodes of a graph by forces: edges pull, nodes push, names keep their distance. The same graph gets the same places.
import { type Part } from "./model";

export type Point = { x: number; y: number };
/** The field that a node takes with its name, in pixels. */
export type Size = { width: number; height: number };

/** The angle between neighbours of an even spiral. */
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));
const ROUNDS = 260;
/** Rounds at the end that only move names apart. */
const SEPARATING = 120;
/** A node without a name, and the space around it. */
const ALONE: Size = { width: 26, height: 26 };
/** Pixels between nodes that an edge connects. */
const LENGTH = 70;

/** The places of all nodes. `proportion`: width of the field to its height. */
export function placed(part: Part, sizes: ReadonlyMap<string, Size>, proportion: number): Map<string, Point> {
  const ids = [...part.nodes.keys()].sort();
  const at = new Map(ids.map((id, index) => [id, index]));
  const edges = [...part.edges.values()].flatMap(({ from, to }) => {
    const [one, other] = [at.get(from), at.get(to)];
    return one === undefined || other === undefined || one === other ? [] : [[one, other] as const];
  });
  const degrees = ids.map(() => 0);
  edges.flat().forEach((index) => (degrees[index]! += 1));
  // Nodes with many edges start in the middle.
  const order = ids.map((_, index) => index).sort((a, b) => degrees[b]! - degrees[a]! || a - b);
  const points: Point[] = ids.map(() => ({ x: 0, y: 0 }));
  order.forEach((index, nth) => {
    const radius = 0.6 * LENGTH * Math.sqrt(nth + 0.5);
    points[index] = { x: radius * Math.cos(nth * GOLDEN_ANGLE), y: radius * Math.sin(nth * GOLDEN_ANGLE) };
  });
  for (let round = 0; round < ROUNDS; round++) {
    push(points, edges, degrees, LENGTH * (1 - round / ROUNDS) + 1);
  }
  const fields = ids.map((id) => sizes.get(id) ?? ALONE);
  spread(points, fields, proportion);
  for (let round = 0; round < SEPARATING && separate(points, fields); round++);
  return new Map(ids.map((id, index) => [id, points[index]!]));
}

/** Scales the picture to the proportion of its field, and to twice the area of the nodes with their names. */
function spread(points: Point[], fields: Size[], proportion: number): void {
  const area = 2 * fields.reduce((sum, { width, height }) => sum + width * height, 0);
  const wanted = { x: Math.sqrt(area * proportion), y: Math.sqrt(area / proportion) };
  for (const axis of ["x", "y"] as const) {
    const places = points.map((point) => point[axis]);
    const [least, most] = [Math.min(...places), Math.max(...places)];
    const scale = most - least < 1 ? 1 : wanted[axis] / (most - least);
    points.forEach((point) => (point[axis] = (point[axis] - least) * scale));
  }
}

/** One round of Fruchterman and Reingold's forces (1991), with a pull to the middle that holds the parts together. */
function push(points: Point[], edges: readonly (readonly [number, number])[], degrees: number[], most: number): void {
  const moves = points.map(() => ({ x: 0, y: 0 }));
  points.forEach((one, a) => {
    for (let b = 0; b < a; b++) {
      const other = points[b]!;
      const [x, y] = [one.x - other.x, one.y - other.y];
      const squared = Math.max(1, x * x + y * y);
      const force = (LENGTH * LENGTH) / squared;
      moves[a]!.x += x * force;
      moves[a]!.y += y * force;
      moves[b]!.x -= x * force;
      moves[b]!.y -= y * force;
    }
  });
  for (const [a, b] of edges) {
    const [one, other] = [points[a]!, points[b]!];
    const [x, y] = [one.x - other.x, one.y - other.y];
    // A hub does not draw all its neighbours into one heap.
    const force = Math.hypot(x, y) / LENGTH / Math.sqrt(Math.max(1, Math.min(degrees[a]!, degrees[b]!)));
    moves[a]!.x -= x * force;
    moves[a]!.y -= y * force;
    moves[b]!.x += x * force;
    moves[b]!.y += y * force;
  }
  points.forEach((point, index) => {
    const move = moves[index]!;
    move.x -= 0.9 * point.x;
    move.y -= 0.9 * point.y;
    const length = Math.max(1e-9, Math.hypot(move.x, move.y));
    const step = Math.min(length, most) / length;
    point.x += move.x * step;
    point.y += move.y * step;
  });
}

/** Moves fields that overlap apart, along the shorter way; false if none did. */
function separate(points: Point[], fields: Size[]): boolean {
  let hasMoved = false;
  points.forEach((one, a) => {
    for (let b = 0; b < a; b++) {
      const other = points[b]!;
      const wide = (fields[a]!.width + fields[b]!.width) / 2 - Math.abs(one.x - other.x);
      const high = (fields[a]!.height + fields[b]!.height) / 2 - Math.abs(one.y - other.y);
      if (wide <= 0 || high <= 0) {
        continue;
      }
      hasMoved = true;
      const axis = wide < high ? "x" : "y";
      const way = one[axis] < other[axis] ? -1 : 1;
      const by = (Math.min(wide, high) / 2 + 0.5) * way;
      one[axis] += by;
      other[axis] -= by;
    }
  });
  return hasMoved;
}
