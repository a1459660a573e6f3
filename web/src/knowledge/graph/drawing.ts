// Draws the graph with Cytoscape on a canvas, in the page's colours.
import cytoscape, { type Core, type ElementDefinition, type StylesheetJson } from "cytoscape";

import { placed } from "./force";
import { type Layer, type Node, type Part, neighbours } from "./model";
import { hubsOf } from "./outline";

export type Colours = Record<Layer | "ink" | "soft" | "line" | "surface" | "accent" | "font", string>;
export type Handlers = { onselect: (id: string | null) => void; onexpand: (id: string) => void };

const STYLE_ID = "__________cytoscape_stylesheet";

/** Cytoscape writes a `<style>` unless it finds its own, and the policy refuses that. GraphCanvas.svelte has these styles. */
function withoutStyle(): void {
  if (document.getElementById(STYLE_ID) === null) {
    const found = document.createElement("meta");
    found.id = STYLE_ID;
    document.head.append(found);
  }
}

/** The field of a node with a name of two lines. */
const NAME = { width: 104, height: 58 };
/** Chinese has no spaces to wrap at. */
const HAN = /\p{Script=Han}/u;
/** More names in one picture cover each other; the others appear when a node is pointed at or zoomed in on. */
const MOST_NAMES = 40;
/** The names on a screen of this width in pixels, and narrower. */
const NARROW = 480;
const FEW_NAMES = 12;
/** The size of a name, in units of the picture, and the least on the screen, in pixels. */
const NAME_SIZE = 11;
const LEAST_SIZE = 10;

export class Drawing {
  private core: Core;
  private sized: ResizeObserver;
  /** A person moved the view: it stays so. */
  private isMoved = false;
  /** The nodes in the order in which they get a name. */
  private order: string[] = [];

  constructor(
    private readonly box: HTMLElement,
    handlers: Handlers,
  ) {
    withoutStyle();
    this.core = cytoscape({ container: box, minZoom: 0.15, maxZoom: 4, wheelSensitivity: 0.3, boxSelectionEnabled: false, autounselectify: true, pixelRatio: Math.min(2, devicePixelRatio) });
    this.core.on("tap", (event) => handlers.onselect(event.target === this.core ? null : event.target.isNode() ? event.target.id() : null));
    this.core.on("dbltap", "node", (event) => handlers.onexpand(event.target.id()));
    this.core.on("mouseover", "node", (event) => this.light(event.target.id()));
    this.core.on("mouseout", "node", () => this.light(null));
    this.core.on("dragpan scrollzoom pinchzoom", () => (this.isMoved = true));
    this.sized = new ResizeObserver(() => (this.isMoved ? this.core.resize() : this.fit()));
    this.sized.observe(box);
  }

  /** Shows a part; `whole` has the same nodes with all their edges. */
  show(part: Part, whole: Part): void {
    const hubs = hubsOf(whole);
    this.order = namesOf(part, whole);
    const named = new Set(this.order.slice(0, this.mostNames()));
    const places = placed(part, new Map([...named].map((id) => [id, NAME])), this.box.clientWidth / Math.max(1, this.box.clientHeight));
    const nodes = [...part.nodes.values()].map((node): ElementDefinition => {
      const classes = [HAN.test(node.label) ? "han" : "", hubs.has(node.id) ? "hub" : ""].filter(Boolean);
      return { group: "nodes", data: dataOf(node), classes, position: { ...(places.get(node.id) ?? { x: 0, y: 0 }) } };
    });
    const edges = [...part.edges].map(([key, edge]): ElementDefinition => {
      const classes = hubs.has(edge.from) || hubs.has(edge.to) ? ["far"] : [];
      return { group: "edges", data: { id: key, source: edge.from, target: edge.to, kind: edge.edge }, classes };
    });
    this.core.batch(() => {
      this.core.elements().remove();
      this.core.add([...nodes, ...edges]);
    });
    this.fit();
  }

  fit(): void {
    if (!this.core.destroyed()) {
      this.isMoved = false;
      this.core.resize();
      this.core.fit(undefined, 24);
      // A few nodes are not blown up.
      if (1.4 < this.core.zoom()) {
        this.core.zoom(1.4);
        this.core.center();
      }
      this.name();
    }
  }

  /** Names the first nodes whose names do not meet, in letters that a person can read. */
  private name(): void {
    const size = Math.max(NAME_SIZE, LEAST_SIZE / this.core.zoom());
    const wide = (96 * size) / NAME_SIZE;
    const taken: { x: number; y: number }[] = [];
    this.core.batch(() => {
      this.core.nodes().removeClass("named");
      for (const id of this.order) {
        const node = this.core.getElementById(id);
        const { x, y } = node.position();
        // A name of three lines, below its node.
        const isFree = taken.every((other) => wide < Math.abs(other.x - x) || 5 * size < Math.abs(other.y - y));
        if (isFree) {
          taken.push({ x, y });
          node.data({ size, wide }).addClass("named");
        }
        if (this.mostNames() <= taken.length) {
          break;
        }
      }
    });
  }

  private mostNames(): number {
    return this.box.clientWidth <= NARROW ? FEW_NAMES : MOST_NAMES;
  }

  zoom(by: number): void {
    this.isMoved = true;
    this.core.zoom({ level: this.core.zoom() * by, renderedPosition: { x: this.box.clientWidth / 2, y: this.box.clientHeight / 2 } });
  }

  select(id: string | null): void {
    this.core.batch(() => {
      this.core.elements().removeClass("chosen near");
      if (id !== null) {
        const node = this.core.getElementById(id);
        node.addClass("chosen");
        node.connectedEdges().addClass("near");
        node.neighborhood("node").addClass("near");
      }
    });
  }

  colour(colours: Colours): void {
    this.core.style(styleOf(colours)).update();
  }

  close(): void {
    this.sized.disconnect();
    this.core.destroy();
  }

  private light(id: string | null): void {
    this.core.batch(() => {
      this.core.elements().removeClass("lit");
      if (id !== null) {
        const node = this.core.getElementById(id);
        node.addClass("lit");
        node.connectedEdges().addClass("lit");
      }
    });
    this.box.classList.toggle("over", id !== null);
  }
}

/** The nodes in the order in which they get a name: documents, then the nodes with the most edges. */
function namesOf(part: Part, whole: Part): string[] {
  const beside = neighbours(whole);
  const order = [...part.nodes.values()].sort((a, b) => Number(b.layer === "source") - Number(a.layer === "source") || (beside.get(b.id)?.length ?? 0) - (beside.get(a.id)?.length ?? 0) || a.id.localeCompare(b.id));
  return order.map((node) => node.id);
}

function dataOf(node: Node): ElementDefinition["data"] {
  const most = HAN.test(node.label) ? 14 : 26;
  const label = node.label.trim() || node.text.trim() || node.uri || node.node;
  return { id: node.id, label: most < label.length ? `${label.slice(0, most - 1).trimEnd()}…` : label, layer: node.layer, node: node.node };
}

function styleOf(colours: Colours): StylesheetJson {
  const layer = (name: Layer, style: Record<string, unknown>) => ({ selector: `node[layer = "${name}"]`, style: { "background-color": colours[name], "border-color": colours[name], ...style } });
  return [
    {
      selector: "node",
      style: {
        width: 15, height: 15, "border-width": 2, label: "data(label)", color: colours.ink, "font-family": colours.font, "font-size": 9, "min-zoomed-font-size": 14,
        "text-valign": "bottom", "text-margin-y": 3, "text-wrap": "wrap", "text-max-width": "96px", "text-outline-color": colours.surface, "text-outline-width": 2,
      },
    },
    layer("source", { shape: "round-rectangle", width: 26, height: 20, "font-weight": 600, "font-size": 11 }),
    layer("corpus", { shape: "ellipse" }),
    { selector: 'node[node = "section"]', style: { "background-color": colours.surface, width: 18, height: 18 } },
    layer("distilled", { shape: "diamond" }),
    { selector: 'node[node = "atom"]', style: { width: 11, height: 11 } },
    {
      selector: "edge",
      style: { width: 1, "line-color": colours.line, "curve-style": "haystack", "haystack-radius": 0, opacity: 0.9 },
    },
    { selector: 'edge[kind = "next"]', style: { "line-style": "dotted" } },
    { selector: 'edge[kind = "refers_to"]', style: { "line-color": colours.source, width: 1.5, opacity: 0.7, "curve-style": "bezier", "target-arrow-shape": "triangle", "target-arrow-color": colours.source, "arrow-scale": 0.7 } },
    { selector: 'edge[kind = "relates"]', style: { "line-color": colours.distilled, "curve-style": "bezier" } },
    { selector: "node.named", style: { "font-size": "data(size)", "text-max-width": "data(wide)", "min-zoomed-font-size": 5 } },
    { selector: "node.han", style: { "text-overflow-wrap": "anywhere" } },
    { selector: "node.hub", style: { "background-opacity": 0.45, "border-opacity": 0.45 } },
    { selector: "edge.far", style: { opacity: 0.35 } },
    { selector: "node.near", style: { "border-color": colours.accent } },
    { selector: "edge.near, edge.lit", style: { "line-color": colours.accent, "target-arrow-color": colours.accent, width: 2, opacity: 1, "z-index": 9 } },
    { selector: "node.lit, node.chosen", style: { "text-max-width": "220px", "min-zoomed-font-size": 0, "font-size": 11, "z-index": 10 } },
    { selector: "node.chosen", style: { "border-color": colours.ink, "border-width": 4 } },
  ] as unknown as StylesheetJson;
}
