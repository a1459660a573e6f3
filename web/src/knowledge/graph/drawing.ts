// Draws the graph with Cytoscape on a canvas, in the page's colours.
import cytoscape, { type Core, type ElementDefinition, type StylesheetJson } from "cytoscape";

import { placed } from "./bands";
import { type Layer, type Node, type Part } from "./model";

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

export class Drawing {
  private core: Core;
  private sized: ResizeObserver;
  /** A person moved the view: it stays so. */
  private isMoved = false;

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

  /** Shows a part; nodes that stay move to their new places. */
  show(part: Part): void {
    const isFirst = this.core.nodes().empty();
    const { places } = placed(part, Math.max(0.6, this.box.clientWidth / Math.max(1, this.box.clientHeight)));
    const widths = labelWidths([...part.nodes.values()].filter((node) => node.layer === "source").map((node) => ({ id: node.id, ...(places.get(node.id) ?? { x: 0, y: 0 }) })));
    const nodes = [...part.nodes.values()].map((node): ElementDefinition => ({ group: "nodes", data: { ...dataOf(node), labelWidth: `${widths.get(node.id) ?? 0}px` }, position: { ...(places.get(node.id) ?? { x: 0, y: 0 }) } }));
    const edges = [...part.edges].map(([key, edge]): ElementDefinition => ({ group: "edges", data: { id: key, source: edge.from, target: edge.to, kind: edge.edge } }));
    const isSmall = part.nodes.size <= 300 && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.core.batch(() => {
      this.core.elements().filter((element) => !part.nodes.has(element.id()) && !part.edges.has(element.id())).remove();
      for (const element of [...nodes, ...edges]) {
        const old = this.core.getElementById(element.data.id ?? "");
        if (old.empty()) {
          this.core.add(element);
        } else {
          old.data(element.data);
        }
        if (old.nonempty() && element.position && !(isSmall && !isFirst)) {
          old.position(element.position);
        }
      }
    });
    if (isSmall && !isFirst) {
      for (const element of nodes) {
        this.core.getElementById(element.data.id ?? "").animate({ position: element.position }, { duration: 260 });
      }
      setTimeout(() => this.fit(), 280);
    } else {
      this.fit();
    }
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
    }
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

/** How wide the name of each document may be: as far as the next one in its row. */
function labelWidths(documents: { id: string; x: number; y: number }[]): Map<string, number> {
  const widths = new Map<string, number>();
  for (const one of documents) {
    const gaps = documents.filter((other) => other !== one && other.y === one.y).map((other) => Math.abs(other.x - one.x) - 4);
    widths.set(one.id, Math.max(40, Math.min(150, ...gaps)));
  }
  return widths;
}

function dataOf(node: Node): ElementDefinition["data"] {
  const label = node.label.trim() || node.text.trim() || node.uri || node.node;
  return { id: node.id, label: 34 < label.length ? `${label.slice(0, 33)}…` : label, layer: node.layer, node: node.node };
}

function styleOf(colours: Colours): StylesheetJson {
  const layer = (name: Layer, style: Record<string, unknown>) => ({ selector: `node[layer = "${name}"]`, style: { "background-color": colours[name], "border-color": colours[name], ...style } });
  return [
    {
      selector: "node",
      style: {
        width: 15, height: 15, "border-width": 2, label: "data(label)", color: colours.ink, "font-family": colours.font, "font-size": 8, "min-zoomed-font-size": 9,
        "text-valign": "bottom", "text-margin-y": 3, "text-wrap": "ellipsis", "text-max-width": "64px", "text-outline-color": colours.surface, "text-outline-width": 1.5,
      },
    },
    layer("source", { shape: "round-rectangle", width: 26, height: 20, "font-weight": 600, "font-size": 10, "text-max-width": "data(labelWidth)" }),
    layer("corpus", { shape: "ellipse" }),
    { selector: 'node[node = "section"]', style: { "background-color": colours.surface, width: 18, height: 18 } },
    layer("distilled", { shape: "diamond" }),
    { selector: 'node[node = "atom"]', style: { width: 11, height: 11 } },
    {
      selector: "edge",
      style: { width: 1, "line-color": colours.line, "curve-style": "haystack", "haystack-radius": 0, opacity: 0.9 },
    },
    { selector: 'edge[kind = "next"]', style: { "line-style": "dotted" } },
    { selector: 'edge[kind = "refers_to"]', style: { "line-color": colours.source, width: 2, "curve-style": "bezier", "target-arrow-shape": "triangle", "target-arrow-color": colours.source, "arrow-scale": 0.7 } },
    { selector: 'edge[kind = "relates"]', style: { "line-color": colours.distilled, "curve-style": "bezier" } },
    { selector: "node.near", style: { "border-color": colours.accent } },
    { selector: "edge.near, edge.lit", style: { "line-color": colours.accent, "target-arrow-color": colours.accent, width: 2, "z-index": 9 } },
    { selector: "node.lit, node.chosen", style: { "text-max-width": "220px", "min-zoomed-font-size": 0, "font-size": 11, "z-index": 10 } },
    { selector: "node.chosen", style: { "border-color": colours.ink, "border-width": 4 } },
  ] as unknown as StylesheetJson;
}
