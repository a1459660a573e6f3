"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const chinese = (navigator.language || "").toLowerCase().startsWith("zh");
  const words = {
    layers: chinese ? ["信息源层 I：文档", "语料层 C：章节与文本块", "提炼层 D：从文本块提炼"] : ["I: documents", "C: sections and chunks", "D: distilled knowledge"],
    search: chinese ? "搜索名称与文本（按 / 键）" : "Search names and texts ( / )",
    fit: chinese ? "全部" : "Fit",
    none: chinese ? "没有找到" : "Nothing found",
    page: chinese ? "第 {} 页" : "page {}",
    out: chinese ? "指向" : "leads to", into: chinese ? "来自" : "comes from",
    via: chinese ? "见于" : "found in",
    pick: chinese ? "选择一个节点，查看其文本、出处与关系。" : "Choose a node to see its text, its source and its edges.",
    zoom: chinese ? ["放大", "缩小"] : ["Zoom in", "Zoom out"],
    help: chinese
      ? "拖动平移，滚轮缩放。键盘：先聚焦图，方向键移到相邻节点，+ − 缩放，0 显示全部，Esc 取消选择，Tab 进入右侧关系列表。"
      : "Drag to pan, scroll to zoom. Keyboard: arrows go to the next node, + − zoom, 0 fits all, Esc clears the selection, Tab goes to the edges on the right.",
    count: chinese ? "显示 {} / {} 个节点，{} / {} 条边" : "{} of {} nodes, {} of {} edges",
  };
  const names = chinese ? {
    source: "文档", section: "章节", chunk: "文本块", atom: "原子知识", record: "记录", entity: "实体", relation: "关系", community: "社区", summary: "摘要", tag: "标签",
    contains: "包含", next: "下一段", refers_to: "引用", answers: "回答自", mentions: "提及", relates: "相关", derived_from: "源自", member_of: "属于", tagged: "标记",
    question: "问题", sentence: "句子", statement: "陈述", text: "文本", table: "表格", figure: "图", code: "代码", caption: "图注", link: "链接", title: "标题", file: "文件名", identifier: "编号",
  } : { source: "document", refers_to: "refers to", derived_from: "derived from", member_of: "member of" };
  const name = (key) => names[key] || key;
  const fill = (text, ...values) => values.reduce((text, value) => text.replace("{}", value), text);

  const nodes = data.nodes.map(([id, kind, sort, layer, label, text, uri, page], at) =>
    ({ at, id, kind, sort, layer, label: label || name(kind), text, uri, page, edges: [], x: 0, y: 0 }));
  const edges = data.edges.map(([from, to, kind, how, chunk]) =>
    ({ from: nodes[from], to: nodes[to], kind, how, chunk: chunk == null ? null : nodes[chunk] }));
  for (const edge of edges) { edge.from.edges.push(edge); if (edge.to !== edge.from) edge.to.edges.push(edge); }

  // Places nodes: each layer is a band of columns, filled from left to right. Every layer follows the order of
  // the one above, so that connected nodes are below each other.
  const STEP = 100, ROW = 42, PAD = 34, GAP = 64;
  const bands = [0, 1, 2].map((layer) => nodes.filter((node) => node.layer === layer));
  const rank = new Map();
  bands[0].forEach((node, at) => rank.set(node, at));
  const root = (node) => {
    for (let steps = 0; steps < 16; steps++) {
      const up = node.edges.find((edge) => edge.kind === "contains" && edge.to === node);
      if (!up) return node;
      node = up.from;
    }
    return node;
  };
  const follow = new Map();
  for (const edge of edges) if (edge.kind === "next") follow.set(edge.to, edge.from);
  const order = (node) => { let n = 0, at = node; while (follow.has(at) && n < 5000) { at = follow.get(at); n++; } return n; };
  const depth = (node) => { let n = 0; for (let at = node; n < 16; n++) { const up = at.edges.find((e) => e.kind === "contains" && e.to === at); if (!up) break; at = up.from; } return n; };
  const place1 = new Map(bands[1].map((node) => [node, [rank.get(root(node)) ?? 1e9, node.kind === "section" ? 0 : 1, node.kind === "section" ? depth(node) : order(node), node.at]]));
  const compare = (a, b) => { for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return a[i] - b[i]; return 0; };
  bands[1].sort((a, b) => compare(place1.get(a), place1.get(b)));
  // Chooses the number of columns that gives the page's proportions.
  const high = (columns) => bands.reduce((sum, band) => sum + Math.max(1, Math.ceil(band.length / columns)) * ROW + PAD + GAP, 0);
  let columns = 6;
  while (columns * STEP < 1.3 * high(columns)) columns++;
  const width = columns * STEP;
  const spread = (band) => {
    const rows = Math.max(1, Math.ceil(band.length * STEP / width));
    const used = Math.max(1, Math.ceil(band.length / rows));
    const step = width / used;
    // Every other row is between the columns, so that lines pass between nodes.
    band.forEach((node, at) => {
      node.row = at % rows;
      node.x = (Math.floor(at / rows) + .5 + (rows < 2 ? 0 : node.row % 2 ? .23 : -.23)) * step;
    });
    return rows;
  };
  const rows = [0, 0, 0];
  rows[0] = spread(bands[0]);
  rows[1] = spread(bands[1]);
  // Places distilled nodes below their sources, and nodes made from those below them.
  for (let round = 0; round < 3; round++) {
    const mean = new Map();
    for (const node of bands[2]) {
      const beside = node.edges.map((edge) => (edge.from === node ? edge.to : edge.from)).filter((other) => other.layer < 2 || round > 0);
      mean.set(node, beside.length ? beside.reduce((sum, other) => sum + other.x, 0) / beside.length : width);
    }
    bands[2].sort((a, b) => mean.get(a) - mean.get(b) || a.at - b.at);
    rows[2] = spread(bands[2]);
  }
  const tops = [];
  let height = 0;
  for (const layer of [0, 1, 2]) {
    tops.push(height);
    for (const node of bands[layer]) node.y = height + PAD + 14 + node.row * ROW;
    height += PAD + Math.max(rows[layer], 1) * ROW + 12 + (layer < 2 ? GAP : 0);
  }

  const svg = document.getElementById("graph");
  const make = (tag, attributes, parent) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (parent) parent.append(element);
    return element;
  };
  const world = make("g", {}, svg);
  const size = (text) => [...text].reduce((sum, c) => sum + (c > "\u2e80" ? 2 : 1), 0);
  const short = (text, most) => { let taken = "", room = most; for (const c of text) { room -= c > "\u2e80" ? 2 : 1; if (room < 0) return taken.trimEnd() + "…"; taken += c; } return taken; };
  for (const layer of [0, 1, 2]) {
    const bottom = layer < 2 ? tops[layer + 1] - GAP : height;
    make("rect", { class: "band b" + layer, x: -30, y: tops[layer] - 10, width: width + 60, height: bottom - tops[layer] + 14, rx: 10 }, world);
    make("text", { class: "band-name", x: -16, y: tops[layer] + 14, "font-size": 15 }, world).textContent = words.layers[layer];
  }
  const many = new Map();
  for (const edge of edges) many.set(edge.kind, (many.get(edge.kind) || 0) + 1);
  const hidden = new Set(["next", ...[...many].filter(([, n]) => n > 600).map(([kind]) => kind)]);
  const drawn = edges.filter((edge) => !hidden.has(edge.kind)).length;
  svg.style.setProperty("--faint", Math.max(.12, Math.min(.4, 5 / Math.sqrt(drawn + 1))).toFixed(2));
  for (const edge of edges) {
    const { from, to } = edge, flat = Math.abs(from.y - to.y) < 1;
    const lift = flat ? -Math.min(46, 12 + Math.abs(from.x - to.x) / 9) : 0, middle = (from.y + to.y) / 2 + lift;
    edge.shape = make("path", { class: "edge " + edge.kind, d: `M${from.x} ${from.y}C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${to.y}` }, world);
  }
  for (const node of nodes) {
    const radius = Math.min(11, 5 + Math.sqrt(node.edges.length)) * (node.layer === 0 ? 1.15 : 1);
    const common = { class: `node n${node.layer} ${node.kind}` };
    node.shape = node.layer === 0 || node.kind === "record"
      ? make("rect", { ...common, x: node.x - radius, y: node.y - radius, width: 2 * radius, height: 2 * radius, rx: node.layer === 0 ? 2 : 0 }, world)
      : make("circle", { ...common, cx: node.x, cy: node.y, r: radius }, world);
    make("title", {}, node.shape).textContent = `${name(node.kind)}: ${node.label}`;
    node.tag = make("text", { class: "label" + (node.layer === 0 && bands[0].length <= 60 ? " always" : ""), x: node.x, y: node.y + radius + 10, "font-size": 10 }, world);
    node.tag.textContent = short(node.label, node.layer === 0 ? 18 : 16);
    node.shape.addEventListener("click", () => choose(node));
  }

  // Panning and zooming.
  let view = { x: 0, y: 0, k: 1 };
  const show = () => {
    world.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.k})`);
    svg.classList.toggle("small", view.k < .8);
  };
  const zoom = (factor, x = svg.clientWidth / 2, y = svg.clientHeight / 2) => {
    const k = Math.min(6, Math.max(.05, view.k * factor));
    view = { x: x - (x - view.x) * k / view.k, y: y - (y - view.y) * k / view.k, k };
    show();
  };
  const fit = () => {
    const k = Math.min(1.6, svg.clientWidth / (width + 90), (svg.clientHeight - 46) / (height + 40));
    view = { x: (svg.clientWidth - width * k) / 2, y: Math.max(20 * k, (svg.clientHeight - 46 - height * k) / 2), k };
    show();
  };
  const bring = (node) => {
    const x = view.x + node.x * view.k, y = view.y + node.y * view.k, w = svg.clientWidth, h = svg.clientHeight;
    if (x < 40 || y < 40 || w - 40 < x || h - 60 < y) { view.x += w / 2 - x; view.y += h / 2 - y; show(); }
  };
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * .0015), event.offsetX, event.offsetY);
  }, { passive: false });
  let held = null;
  svg.addEventListener("pointerdown", (event) => { held = { x: event.clientX - view.x, y: event.clientY - view.y }; });
  addEventListener("pointermove", (event) => {
    if (!held) return;
    svg.classList.add("moving");
    view.x = event.clientX - held.x; view.y = event.clientY - held.y;
    show();
  });
  addEventListener("pointerup", () => { held = null; svg.classList.remove("moving"); });

  // Selecting a node.
  const side = document.getElementById("side");
  let chosen = null;
  const element = (tag, text, parent, className) => {
    const made = document.createElement(tag);
    if (text) made.textContent = text;
    if (className) made.className = className;
    if (parent) parent.append(made);
    return made;
  };
  const button = (node, prefix, parent) => {
    const item = element("li", "", parent), go = element("button", "", item, "go");
    go.type = "button";
    element("span", "", go, "dot l" + node.layer);
    if (prefix) element("span", prefix + " ", go, "kind");
    go.append(node.label);
    go.addEventListener("click", () => { choose(node); bring(node); });
    return go;
  };
  const choose = (node) => {
    for (const shape of svg.querySelectorAll(".near, .chosen")) shape.classList.remove("near", "chosen");
    chosen = node;
    svg.firstChild.classList.toggle("far", !!node);
    svg.setAttribute("aria-label", node ? `${name(node.kind)}: ${node.label}` : words.pick);
    side.replaceChildren();
    if (!node) { element("p", words.pick, side, "note"); return; }
    node.shape.classList.add("near", "chosen");
    node.tag.classList.add("near");
    for (const edge of node.edges) {
      if (!hidden.has(edge.kind)) edge.shape.classList.add("near");
      for (const end of [edge.from, edge.to]) { end.shape.classList.add("near"); end.tag.classList.add("near"); }
    }
    element("h2", node.label, side);
    const kind = element("p", "", side, "kind");
    element("span", "", kind, "dot l" + node.layer);
    kind.append([name(node.kind), name(node.sort), node.page ? fill(words.page, node.page) : ""].filter(Boolean).join(" · "));
    if (node.uri) element("p", node.uri, side, "kind");
    element("p", node.id, side, "kind");
    if (node.text) element("pre", node.text, side);
    for (const out of [true, false]) {
      const groups = new Map();
      for (const edge of node.edges) if ((edge.from === node) === out) groups.set(edge.kind, [...(groups.get(edge.kind) || []), edge]);
      for (const [kind, list] of groups) {
        element("h3", `${out ? words.out : words.into}: ${name(kind)} (${list.length})`, side);
        const lines = element("ul", "", side);
        for (const edge of list) {
          button(out ? edge.to : edge.from, [name((out ? edge.to : edge.from).kind), edge.how && name(edge.how)].filter(Boolean).join(", "), lines);
          if (edge.chunk) button(edge.chunk, words.via, lines);
        }
      }
    }
  };
  const step = (dx, dy) => {
    if (!chosen) { if (nodes.length) { choose(nodes[0]); bring(nodes[0]); } return; }
    let best = null, least = Infinity;
    for (const node of nodes) {
      const x = node.x - chosen.x, y = node.y - chosen.y, along = x * dx + y * dy, across = Math.abs(x * dy) + Math.abs(y * dx);
      if (along <= 1 || along < across * .4) continue;
      const far = along + 2 * across;
      if (far < least) { least = far; best = node; }
    }
    if (best) { choose(best); bring(best); }
  };
  svg.addEventListener("keydown", (event) => {
    const keys = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (keys[event.key]) step(...keys[event.key]);
    else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(.8);
    else if (event.key === "0") fit();
    else if (event.key === "Escape") choose(null);
    else return;
    event.preventDefault();
  });

  // Searching.
  const query = document.getElementById("query"), found = document.getElementById("found");
  query.placeholder = words.search;
  query.setAttribute("aria-label", words.search);
  const search = () => {
    const wanted = query.value.trim().toLowerCase();
    found.replaceChildren();
    found.hidden = !wanted;
    if (!wanted) return;
    const score = (node) => (node.label.toLowerCase().includes(wanted) ? 2 : 0) + (node.text.toLowerCase().includes(wanted) || node.uri.toLowerCase().includes(wanted) || node.id === wanted ? 1 : 0);
    const hits = nodes.map((node) => [score(node), node]).filter(([score]) => score).sort((a, b) => b[0] - a[0] || a[1].layer - b[1].layer || a[1].at - b[1].at);
    if (!hits.length) element("li", words.none, found, "note");
    for (const [, node] of hits.slice(0, 40)) {
      button(node, name(node.kind), found).addEventListener("click", () => { found.hidden = true; svg.focus(); });
    }
  };
  query.addEventListener("input", search);
  query.addEventListener("focus", search);
  query.addEventListener("keydown", (event) => {
    if (event.key === "Enter") found.querySelector("button")?.click();
    if (event.key === "ArrowDown") { found.querySelector("button")?.focus(); event.preventDefault(); }
    if (event.key === "Escape") { found.hidden = true; svg.focus(); }
  });
  found.addEventListener("keydown", (event) => {
    const item = document.activeElement.closest("li");
    const next = { ArrowDown: item?.nextElementSibling, ArrowUp: item?.previousElementSibling }[event.key];
    if (next) { next.querySelector("button")?.focus(); event.preventDefault(); }
    if (event.key === "Escape") { found.hidden = true; query.focus(); }
  });
  addEventListener("click", (event) => { if (!event.target.closest(".search")) found.hidden = true; });
  addEventListener("keydown", (event) => { if (event.key === "/" && document.activeElement !== query) { query.focus(); event.preventDefault(); } });

  // Choosing the kinds of edges to draw.
  const kinds = document.getElementById("kinds");
  for (const kind of [...new Set(edges.map((edge) => edge.kind))].sort()) {
    const line = element("label", "", kinds), box = element("input", "", line);
    box.type = "checkbox";
    box.checked = !hidden.has(kind);
    line.append(`${name(kind)} (${edges.filter((edge) => edge.kind === kind).length})`);
    const draw = () => { for (const edge of edges) if (edge.kind === kind) edge.shape.style.display = box.checked ? "" : "none"; };
    box.addEventListener("change", () => { box.checked ? hidden.delete(kind) : hidden.add(kind); draw(); });
    draw();
  }
  if (!kinds.children.length) kinds.hidden = true;

  if (chinese) document.documentElement.lang = "zh";
  document.getElementById("title").textContent = document.title;
  document.getElementById("count").textContent = fill(words.count, nodes.length, data.total.nodes, edges.length, data.total.edges);
  document.getElementById("help").textContent = words.help;
  for (const [id, text] of [["in", words.zoom[0]], ["out", words.zoom[1]]]) document.getElementById(id).setAttribute("aria-label", text);
  document.getElementById("fit").textContent = words.fit;
  document.getElementById("in").addEventListener("click", () => zoom(1.25));
  document.getElementById("out").addEventListener("click", () => zoom(.8));
  document.getElementById("fit").addEventListener("click", fit);
  addEventListener("resize", fit);
  fit();
  choose(data.start == null ? null : nodes[data.start]);
  if (data.start != null) bring(nodes[data.start]);
})();
