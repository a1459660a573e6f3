// Makes a server up for the tab Knowledge: a small base whose files, titles and texts are hostile, and a large one.
import { deflateSync } from "node:zlib";

import { gate } from "./browser.mjs";
import { tableAnswers } from "./knowledge-tables.mjs";
import { sendProblem } from "./serve.mjs";

const EVIL = "<img src=x onerror=alert(1)>";
const AREA = { left: 72, top: 100, right: 400, bottom: 130 };
const at = (base, rest = "") => `/api/v1/bases/${base}${rest}`;

export const source = (id, uri, title, media_type = "text/markdown") => ({ id, uri, title, media_type, hash: "h", language: "eng", metadata: { author: EVIL } });
const file = (name, more = {}) => ({ name, path: `/kb/${name}`, on_disk: "there", documents: 1, chunks: 2, hash: "h", same_as: [], sent_as: null, ...more });
const chunk = (id, ordinal, headings, text, more = {}) => ({
  id, source: "0000000000000001", uri: "base.uploads/laws/a.pdf", title: "Law", section: null, headings, ordinal, kind: "text", text, span: { start: 0, end: 9 }, page: 1, table: null,
  boxes: [{ page: 1, area: AREA, span: { start: 0, end: 9 } }], ...more,
});
const node = (id, kind, layer, label, more = {}) => ({ id, node: kind, kind: "", layer, label, text: label, uri: "base.uploads/laws/a.pdf", page: 1, ...more });

const SOURCES = [source("0000000000000001", "base.uploads/laws/a.pdf", "Law of cranes", "application/pdf"), source("0000000000000002", `base.uploads/${EVIL}.md`, EVIL), source("0000000000000003", "docs/港口.md", "港口与人员")];
const CHUNKS = [chunk("00000000000000c1", 0, ["Law", "§ 1"], "A crane lifts forty tons."), chunk("00000000000000c2", 1, ["Law", "§ 2"], `Quillw0rt ${EVIL}`)];
const AROUND = {
  of: "00000000000000c1",
  nodes: [node("0000000000000001", "source", "source", "Law of cranes"), node("00000000000000c1", "chunk", "corpus", "A crane lifts forty tons."), node("00000000000000a1", "atom", "distilled", "What does a crane lift?", { kind: "question" }), node("00000000000000e1", "entity", "distilled", EVIL)],
  edges: [{ from: "0000000000000001", edge: "contains", to: "00000000000000c1" }, { from: "00000000000000a1", edge: "answers", to: "00000000000000c1" }, { from: "00000000000000c1", edge: "mentions", to: "00000000000000e1" }],
  left_out: 3,
};
const record = (id, crane, load) => ({
  id, schema: "crane", chunk: "00000000000000c1", source: "0000000000000001", uri: "base.uploads/laws/a.pdf", span: { start: 0, end: 1 }, origin: "table", page: 1,
  fields: [{ name: "crane", raw: crane, value: { text: crane } }, { name: "load", raw: String(load), value: { number: { amount: load, unit: "t" } } }],
});
const VERIFIED = {
  id: "v1", question: "What does a crane lift?", given: "Thirty tons.", judgement: "corrected", correction: "Forty tons.", at: 1795502412556, by: "Maud", run: "abcd1234", changed: ["docs/港口.md"],
  grounds: [{ chunk: "00000000000000c1", uri: "base.uploads/laws/a.pdf", title: "Law › § 1", quote: "A crane lifts forty tons.", span: { start: 0, end: 1 }, page: 1 }],
};
const SUMMARY = { files: 3, sources: 3, sections: 2, chunks: 6, questions: 1, sentences: 0, statements: 0, records: 3, entities: 1, relations: 0, communities: 0, reports: 0, summaries: 0, tags: 2, vectors: 0, embedder: null, calls: 0, usage: { prompt_tokens: 0, completion_tokens: 0 }, pending: [], refused: [] };
const STATUS = { base: "/kb/base", root: "/kb", summary: SUMMARY, embedder: null, no_embedder: null, waiting: [], stale: [], gone: [], unseen: [], same: [], originals: { files: 3, without: 0, bytes: 1 }, verified: 1, stale_answers: 1 };
export const FREE = { estimate: { files: 1, unchanged: 0, unreadable: [], chunks: 2, calls: 0, usage: { prompt_tokens: 0, completion_tokens: 0 }, by_role: {}, embedded_tokens: 0 }, usd: 0 };
export const PAID = { estimate: { files: 2, unchanged: 1, unreadable: [["base.uploads/x.bin", "no text"]], chunks: 21, calls: 22, usage: { prompt_tokens: 7000, completion_tokens: 439 }, by_role: { atomize: { prompt_tokens: 7000, completion_tokens: 439 } }, embedded_tokens: 0 }, usd: 0.0097 };

export const job = (id, stand, more = {}) => ({ id, base: "law", stand, stage: "reading", done: 1, total: 3, bill: null, failed: [], report: null, problem: null, ...more });
const REPORT = { report: { files: [["base.uploads/laws/a.pdf", { outcome: "stored" }]], problems: [], atoms: 5, records: 0, refused: 2, stopped: null }, spent: { total: { calls: 3, usd: 0.01 } } };
export const FAILED = { failed: [{ file: "base.uploads/x.bin", sent_as: "x.bin", reason: `no text in ${EVIL}` }], report: REPORT };

const bodyOf = async (request) => {
  const pieces = [];
  for await (const piece of request) {
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
};
const json = async (request) => JSON.parse((await bodyOf(request)).toString() || "{}");
const queryOf = (request) => new URL(request.url, "http://x").searchParams;

const pause = (milliseconds = 0) => new Promise((done) => setTimeout(done, milliseconds));

/** A white page as PNG. */
function page() {
  const part = (type, data) => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const table = Array.from({ length: 256 }, (_, byte) => Array.from({ length: 8 }).reduce((sum) => (sum & 1 ? 0xedb88320 ^ (sum >>> 1) : sum >>> 1), byte) >>> 0);
    const crc = (body.reduce((sum, byte) => (table[(sum ^ byte) & 255] ^ (sum >>> 8)) >>> 0, 0xffffffff) ^ 0xffffffff) >>> 0;
    const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    check.writeUInt32BE(crc);
    return Buffer.concat([length, body, check]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(600, 0);
  head.writeUInt32BE(800, 4);
  head.set([8, 0, 0, 0, 0], 8);
  const rows = Buffer.alloc(601 * 800, 255);
  for (let row = 0; row < 800; row++) {
    rows[row * 601] = 0;
  }
  return Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]), part("IHDR", head), part("IDAT", deflateSync(rows)), part("IEND", Buffer.alloc(0))]);
}

/** `state` is what tests look into and set: `asked` bodies by route, `estimate`, `job` events, `key`, what was `sent`, gates: the `ending` of a job, `estimating`, and the `beginning` of a job. */
export function mock() {
  const state = { asked: [], estimate: FREE, events: [], key: null, corrections: [], pairs: [], classes: [], refuse: null, jobs: [], last: 0, sent: [], asksForSent: 0, noBudget: false, ending: gate(), running: gate(), estimating: gate(), beginning: gate() };
  const recorded = (name, answer) => async (request, response) => {
    state.asked.push([name, ["GET", "DELETE"].includes(request.method) ? Object.fromEntries(queryOf(request)) : await json(request)]);
    return typeof answer === "function" ? answer(request, response) : answer;
  };
  const none = (request, response) => {
    response.writeHead(204);
    response.end();
  };
  const noBase = (request, response) => sendProblem(response, 404, "no-base", { fault: "server", title: "no base" });
  const large = Array.from({ length: 10_000 }, (_, number) => source(number.toString(16).padStart(16, "0"), `folder ${number % 7}/file ${number}.md`, `Title ${number}`));
  const upload = async (request, response) => {
    const name = decodeURIComponent(new URL(request.url, "http://x").pathname.split("/files/")[1]);
    await bodyOf(request);
    // Each upload has an identifier of its own.
    state.asked.push(["upload", name + new URL(request.url, "http://x").search.replace(/&upload=[\w-]+$/, "")]);
    if (state.refuse?.test(name)) {
      return sendProblem(response, 400, "bad-name", { title: "bad name", detail: `${name} cannot be a name` });
    }
    const unpacked = queryOf(request).get("unpack") === "true" ? { files: [`${name}/one.md`], left_out: [{ file: "evil.exe", reason: "a program" }] } : undefined;
    for (const one of unpacked?.files ?? [name]) {
      state.sent = [...state.sent.filter(({ file }) => file !== one), { file: one, bytes: 1200, in_base: one === "laws/a.pdf" }];
    }
    return { file: name, held: 1, is_whole: true, job: null, unpacked };
  };
  /** A job takes files in; but what is called `….bin` cannot be read. */
  const index = async (request, response) => {
    const body = await json(request);
    state.asked.push(["index", body]);
    await state.beginning.passed();
    if (state.noBudget) {
      return sendProblem(response, 402, "budget-spent", { title: "budget spent", detail: "no dollar is left" });
    }
    const takes = ({ file }) => !file.endsWith(".bin") && (body.files.length + body.known.length === 0 || body.files.includes(file));
    state.sent = state.sent.map((one) => (takes(one) ? { ...one, in_base: true } : one));
    return job(++state.last, "waiting");
  };
  const discard = (request, response) => {
    const name = queryOf(request).get("file");
    const found = state.sent.find(({ file }) => file === name);
    if (!found || found.in_base) {
      return found ? sendProblem(response, 409, "in-base") : sendProblem(response, 404, "no-such-file");
    }
    state.sent = state.sent.filter((one) => one !== found);
    return [found];
  };
  const watch = (id) => async (request, response) => {
    const { events } = state;
    if (!request.headers.accept?.includes("text/event-stream")) {
      return events.at(-1) ?? job(id, "done");
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const [place, event] of events.entries()) {
      await (place === events.length - 1 ? state.ending.passed() : pause(100));
      response.write(`event: job\ndata: ${JSON.stringify({ ...event, id })}\n\n`);
    }
    response.end();
    return undefined;
  };
  const answers = {
    "GET /api/v1/bases": [{ name: "law" }, { name: "empty" }, { name: "large" }],
    "GET /api/v1/budget": () => ({ key: state.key, server: null }),
    [`GET ${at("law", "/sources")}`]: SOURCES,
    [`GET ${at("law", "/files")}`]: (request, response) => (state.key?.filter ? sendProblem(response, 403, "only-part") : [file("base.uploads/laws/a.pdf", { sent_as: "laws/a.pdf" }), file(`base.uploads/${EVIL}.md`, { on_disk: "gone", sent_as: `${EVIL}.md` }), file("docs/港口.md", { same_as: ["docs/b.md"] })]),
    [`GET ${at("law")}`]: STATUS,
    [`GET ${at("law", "/jobs")}`]: () => state.jobs,
    [`POST ${at("law", "/estimate")}`]: recorded("estimate", () => state.estimating.passed().then(() => state.estimate)),
    [`POST ${at("law", "/index")}`]: index,
    [`GET ${at("law", "/sent")}`]: () => {
      state.asksForSent += 1;
      return state.sent;
    },
    [`DELETE ${at("law", "/sent")}`]: recorded("discard", discard),
    [`GET ${at("law", "/sources/0000000000000003")}`]: { source: SOURCES[2], chunks: [] },
    [`GET ${at("law", "/sources/0000000000000003/reading")}`]: { source: SOURCES[2], text: "", corrections: [] },
    [`GET ${at("law", "/sources/0000000000000001")}`]: { source: SOURCES[0], chunks: CHUNKS },
    [`GET ${at("law", "/sources/0000000000000001/reading")}`]: () => ({ source: SOURCES[0], text: "", corrections: state.corrections }),
    [`POST ${at("law", "/sources/0000000000000001/corrections")}`]: recorded("correct", () => ({ corrections: (state.corrections = [{ old: "Quillw0rt", new: "Quillwort", by: "Maud", at: 1795502412556 }]), job: ++state.last })),
    [`DELETE ${at("law", "/sources/0000000000000001/corrections/1")}`]: recorded("take back", () => ({ corrections: (state.corrections = []), job: ++state.last })),
    [`GET ${at("law", "/sources/0000000000000001/pages/1")}`]: (request, response) => {
      response.writeHead(200, { "content-type": "image/png", "page-points": "600 800", "page-count": "1" });
      response.end(page());
    },
    [`GET ${at("law", "/original")}`]: (request, response) => {
      response.writeHead(200, { "content-type": "application/octet-stream" });
      response.end("<script>alert(1)</script>");
    },
    [`GET ${at("law", "/graph")}`]: recorded("graph", (request, response) => (queryOf(request).get("of") === "nobody" ? sendProblem(response, 404, "no-such-node") : { ...AROUND, of: /^0{8}/.test(queryOf(request).get("of")) ? queryOf(request).get("of") : AROUND.of })),
    [`GET ${at("law", "/graph/overview")}`]: { ...AROUND, of: 400 },
    [`POST ${at("law", "/search")}`]: { hits: [{ chunk: CHUNKS[0] }], notices: [] },
    [`GET ${at("law", "/records")}`]: [record("r1", "40-117", 40), record("r2", "=HYPERLINK(1)", 9), record("r3", "62-019", 120)],
    [`GET ${at("law", "/tags")}`]: () => ({ classes: [{ class: { id: "t", name: "fault", covers: "What breaks", examples: [{ text: "leak" }], origin: "found" }, tags: 2, borne: 5 }, ...state.classes], pairs: 0 }),
    [`GET ${at("law", "/tags/fault")}`]: { class: { id: "t", name: "fault", covers: "What breaks", examples: [{ text: "leak" }], origin: "found" }, tags: [{ id: "00000000000000t1", class: "t", text: EVIL, chunks: 4 }, { id: "00000000000000t2", class: "t", text: "leak", chunks: 1 }] },
    [`PUT ${at("law", "/tags/cause")}`]: recorded("declare", (request, response) => {
      state.classes = [{ class: { id: "u", name: "cause", covers: "Why", examples: [], origin: "declared" }, tags: 0, borne: 0 }];
      none(request, response);
    }),
    [`DELETE ${at("law", "/tags/fault")}`]: recorded("drop class", none),
    [`GET ${at("law", "/tag-pairs")}`]: () => state.pairs,
    [`POST ${at("law", "/tag-pairs")}`]: recorded("pair", (request, response) => {
      state.pairs = [{ class: "", colloquial: "jail", professional: "imprisonment", origin: "declared", samples: 0 }];
      none(request, response);
    }),
    [`DELETE ${at("law", "/tag-pairs")}`]: recorded("drop pair", (request, response) => {
      state.pairs = [];
      none(request, response);
    }),
    [`GET ${at("law", "/feedback")}`]: [VERIFIED],
    [`DELETE ${at("law", "/feedback/v1")}`]: recorded("revoke", VERIFIED),
    [`GET ${at("law", "/deletion")}`]: { files: ["base.uploads/laws/a.pdf"], documents: 1, chunks: 2, remains: { calls: 3, runs: 1, verified: 0 } },
    [`DELETE ${at("law", "/files")}`]: recorded("delete", { deleted: { deleted: [], finished: true, forgotten: null, remains: { calls: 0, runs: 0, verified: 0 } }, was_sent: true }),
    [`GET ${at("large", "/sources")}`]: large,
    [`GET ${at("large", "/files")}`]: large.map((one) => file(one.uri)),
    [`GET ${at("large")}`]: { ...STATUS, summary: { ...SUMMARY, chunks: 90_000 } },
    [`GET ${at("large", "/jobs")}`]: [],
    [`GET ${at("large", "/sent")}`]: [],
    [`GET ${at("empty", "/sent")}`]: () => state.sent,
    [`GET ${at("empty", "/jobs")}`]: [],
  };
  Object.assign(answers, tableAnswers(at("law"), state, recorded));
  for (const rest of ["", "/sources", "/files", "/tables", "/records", "/tags", "/tag-pairs", "/feedback"]) {
    answers[`GET ${at("empty", rest)}`] = noBase;
  }
  // serve.mjs knows exact addresses: files that are sent, and jobs, are looked up here.
  const find = (key) => (/^PUT \/api\/v1\/bases\/\w+\/files\//.test(key) ? upload : /^GET .*\/law\/jobs\/\d+$/.test(key) ? watch(Number(key.split("/").pop())) : undefined);
  const any = new Proxy(answers, { get: (all, key) => all[key] ?? (typeof key === "string" ? find(key) : undefined) });
  return { state, answers: any };
}
