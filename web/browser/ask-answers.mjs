// Makes a server up that has everything the tab Ask shows, and keeps its requests.
import { deflateSync } from "node:zlib";

import { gate } from "./browser.mjs";
import { sendProblem } from "./serve.mjs";

export const HOSTILE = '<img src=x onerror="window.hacked=1"> <script>window.hacked=1</script>';
const TEXT = "# 制动器\n\n制动衬片小于6毫米时，须立即更换。A lining thinner than 6 mm is replaced. The rest of the passage goes on.";
const QUOTE = "制动衬片小于6毫米时，须立即更换。";
const bytes = (text) => Buffer.byteLength(text);
const spanOf = (quote) => ({ start: 100 + bytes(TEXT.slice(0, TEXT.indexOf(quote))), end: 100 + bytes(TEXT.slice(0, TEXT.indexOf(quote) + quote.length)) });

const chunk = {
  id: "c1", source: "s1", uri: `docs/手册 ${HOSTILE}.md`, title: `Handbook ${HOSTILE}`, section: null, headings: ["制动器"], ordinal: 0, kind: "text",
  text: TEXT, span: { start: 100, end: 100 + bytes(TEXT) }, page: null, table: null,
};
const table = {
  id: "c2", source: "s2", uri: "docs/repairs.csv", title: "repairs", section: null, headings: [], ordinal: 0, kind: "table", text: "order | hours\nA1 | 3\nA2 | 5", page: null,
  span: { start: 0, end: 27 }, table: { header: ["order", "hours"], rows: [["A1", "3"], ["A2", "5"]], lines: [{ start: 0, end: 13 }, { start: 14, end: 20 }, { start: 21, end: 27 }] },
};
const line = (start, end, top) => ({ page: 2, span: { start, end }, area: { left: 60, right: 540, top, bottom: top + 12 } });
const page = {
  id: "c3", source: "s3", uri: "docs/pump.pdf", title: "Pump", section: null, headings: ["Pump", "Oil"], ordinal: 1, kind: "text", page: 2, table: null,
  text: "The oil is changed every year. The seal is replaced.\nFilters are washed each month.", span: { start: 0, end: 83 }, boxes: [line(0, 52, 100), line(53, 83, 114)],
};
const sources = [[chunk, "text/markdown"], [table, "text/csv"], [page, "application/pdf"]];

const cite = (number, of, span, quote, check = "verified") => ({ number, chunk: of.id, uri: of.uri, title: of.title, page: of.page, span, quote, check });
const citations = [cite(1, chunk, spanOf(QUOTE), QUOTE), { ...cite(2, page, { start: 0, end: 30 }, "The oil is changed every year."), corrected: true }, cite(3, chunk, chunk.span, "Nobody wrote this.", "not_found")];
const candidates = ["c1", "c3", "c2", "c1"].map((id, place) => ({
  atom: place === 0 ? "a1" : null, chunk: id, title: place === 0 ? `Handbook ${HOSTILE}` : `Passage ${place}`, text: "Which lining is replaced?", via: place === 0 ? "atoms" : "chunks", proposal: "When is a lining replaced?",
  score: 0.9 - 0.2 * place, parts: place === 0 ? { words: 0.5, meaning: 0.4 } : {},
}));

const USD = { spent: 0.0042, paid: 0.0042, paid_by_role: { propose: 0.0012, answer: 0.003 } };

const answerOf = (more = {}) => ({
  text: `It is replaced below 6 mm [1], as the oil [2]. [3] ${HOSTILE}`, rationale: "Read **step by step**.", refused: false, written_by: { kind: "language_model", model: "stub" }, citations,
  context: { chunks: [{ hop: 1, chunk }] }, trace: [], spent: { by_role: { propose: [2, { prompt_tokens: 800, completion_tokens: 100 }], answer: [1, { prompt_tokens: 700, completion_tokens: 30 }] } }, ...more,
});

function traceOf(run, question, method) {
  const events = [
    { event: "began", question, method },
    { event: "proposed", hop: 1, thinking: "The limit is needed.", proposals: ["When is a lining replaced?", "How thin may it be?"], decision: true, calls: ["x"] },
    { event: "retrieved", hop: 1, candidates },
    { event: "selected", hop: 1, thinking: "It tells the limit.", index: 0, chunk: "c1", title: "Handbook", decision: true, calls: ["y"] },
    { event: "stopped", hop: 2, reason: "hop_limit" },
    { event: "judged", criterion: "sufficient", of: question, holds: true, score: 0.93, by: "verdict", decision: true },
    { event: "answered", answer: "below 6 mm", calls: ["z"] },
  ];
  return events.map((event, seq) => ({ run, seq, parent: seq === 0 ? null : seq - 1, time: 1_700_000_000_000 + 210 * seq, ...event }));
}

const figures = {
  schema: "repair", is_declared: true, query: { conditions: [], group: [{ field: "date", by: "month" }], measure: "count", order: "key", limit: null },
  rows: [3, 5, 4, 6].map((value, place) => ({ key: [`2024-0${place + 1}`], value, things: [[0], [1]] })),
  records: table.table.lines.slice(1).map((span, place) => ({ id: `r${place}`, chunk: "c2", uri: "docs/repairs.csv", span })),
  coverage: { documents: 4, with_records: 1, without: [["no_table", 3]], records: 18, things: 18, matched: 18, undecided: 1, unmeasured: 0, conflicts: 0 },
};
const forecast = { model: "drift", points: [{ period: "2024-05", value: 6, low: 3, high: 9 }], level: 0.8, tried: [{ model: "drift", mae: 1.1, mase: 0.8, compared: 3 }], within: [3, 3] };
const ideas = [{ title: "Heat the cabin", text: "It keeps the discs dry.", perspectives: ["Engineer"], citations: [1], dissent: ["It costs power."], gaps: [{ missing: "How much power.", next_step: "Measure it." }] }];
const comparison = { things: ["A", "B"], rows: [{ attribute: "built", cells: [{ text: "2009", citation: 1 }, null] }] };
const recalled = { id: "v0", at: 1, by: "Ada", given: "5 mm", correction: "6 mm", grounds: [], judgement: "corrected", question: "?", changed: ["docs/old.md"], agreement: "other", newer: 2 };
export const READINGS = [`the mean of load over cranes ${HOSTILE}`, "the loads of cranes, by harbour", "the cranes of 1899", "the weight of cranes"];
/** The statements of the readings, with what they give; the last one is wrong. */
export const STATEMENTS = ["SELECT avg(load) FROM cranes", "SELECT 港口, load FROM cranes WHERE note = 'a&b=c#?'", "SELECT * FROM cranes WHERE year = 1899", "SELECT weight FROM cranes"];
const RESULTS = [
  { columns: ["avg(load)"], rows: [[1234.5]], is_cut: false },
  { columns: ["港口", "load"], rows: [[HOSTILE, 9], ["甲港", null]], is_cut: true },
  { columns: ["year"], rows: [], is_cut: false },
];
const unclear = { reason: "table_unclear", table: "cranes", columns: ["year", "load"], words: ["heavy"], readings: [...READINGS, "a reading of an earlier version"], statements: STATEMENTS };
const WORKED = {
  readings: { class: "quantitative", refusal: unclear },
  figures: { class: "predictive", figures, forecast },
  ideas: { class: "creative", ideas, comparison, recalled },
};

/** A picture of a white page, 60 by 80 points. */
function png() {
  const part = (name, data) => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const frame = Buffer.alloc(8 + body.length);
    frame.writeUInt32BE(data.length, 0);
    body.copy(frame, 4);
    frame.writeUInt32BE(crc(body), 4 + body.length);
    return frame;
  };
  const head = Buffer.from([0, 0, 0, 60, 0, 0, 0, 80, 8, 0, 0, 0, 0]);
  const rows = Buffer.concat(Array.from({ length: 80 }, () => Buffer.concat([Buffer.from([0]), Buffer.alloc(60, 255)])));
  return Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), part("IHDR", head), part("IDAT", deflateSync(rows)), part("IEND", Buffer.alloc(0))]);
}

function crc(body) {
  let sum = ~0;
  for (const byte of body) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) {
      sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
    }
  }
  return ~sum >>> 0;
}

const bodyOf = async (request) => {
  let text = "";
  for await (const piece of request) {
    text += piece;
  }
  return JSON.parse(text);
};
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** `answering`: answers wait while it is shut; `asked`: bodies as they came; `stopped`: runs whose connection was dropped. What a question holds decides what comes of it. */
export function answersOf() {
  const asked = [];
  const stopped = [];
  const answering = gate();
  const feedback = [];
  let runs = 0;
  const kept = new Map();

  async function tell(response, { question, method = "pike", speed = 60 }, forked = null) {
    const run = `run${String(++runs).padStart(5, "0")}`;
    let isOpen = true;
    response.on("close", () => {
      if (!response.writableEnded) {
        isOpen = false;
        stopped.push(run);
      }
    });
    const send = (event, data) => isOpen && response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const stated = question.startsWith("And ") ? `${question} (of the crane)` : question;
    send("run", { run, question: stated, method });
    if (question.includes("slow")) {
      send("calls", [{ role: "answer", model: "stub", passages: 9, prompt_tokens: 3149, waited_ms: 2000, expected_ms: 40_000 }]);
      send("draft", { begins: true, part: "reasons", text: "A handbook tells the limit." });
      send("draft", { begins: true, part: "answer", text: "The lining is " });
      send("draft", { begins: false, part: "answer", text: `replaced ${HOSTILE}` });
    }
    let events = traceOf(run, stated, method);
    if (question.includes("many")) {
      events = Array.from({ length: 40 }, (_, round) => events.slice(1, 7).map((event) => ({ ...event, ...(event.hop ? { hop: round + 1 } : {}) }))).flat().map((event, seq) => ({ ...event, seq, parent: seq || null }));
      speed = 2;
    }
    for (const event of events) {
      send("event", event);
      await pause(question.includes("slow") ? 400 : speed);
    }
    while (question.includes("slow") && isOpen) {
      await pause(50);
    }
    if (question.includes("problem")) {
      send("problem", { type: "about:blank", status: 402, code: "budget-spent", title: "budget spent", detail: "no dollar is left", fault: "caller", hint: "raise the cap" });
    } else {
      await answering.passed();
      const worked = Object.entries(WORKED).find(([name]) => question.includes(name))?.[1];
      const refused = /refuse|readings/.test(question) ? { refused: true, text: "The documents do not tell the colour.", citations: [], rationale: "" } : {};
      const answer = answerOf({ ...(worked ? { worked } : {}), ...(question.includes("missing") ? { missing: ["the price"] } : {}), ...refused });
      kept.set(run, { id: run, method, question: { id: "asked", text: stated }, state: "answered", started: 1, ended: 1500, cost: { spent: answer.spent, paid: answer.spent }, usd: USD, answer, error: null, forked, parameters: {}, process: 1, interrupted: false, events });
      send("answer", { run, is_kept: true, question: stated, method, answer, usd: USD, notices: [{ notice: "no-embedder", made_by: "x" }], links: [] });
    }
    response.end();
  }

  const forecastOf = (calls, most, usd) => ({ forecast: { typical: { calls, prompt_tokens: 700 * calls, completion_tokens: 50 * calls }, most: { calls: most, prompt_tokens: 9000, completion_tokens: 900 }, learned_from: 4, basis: "b" }, usd });
  const forecasts = { pike: forecastOf(3, 9, { typical: 0.004, most: 0.02 }), "naive-rag": forecastOf(1, 2, { typical: 0.001, most: 0.003 }), probtree: forecastOf(40, 90, { typical: 0.2, most: 1.4 }) };
  const method = (name, family, more = {}) => ({ name, family, needs: null, parameters: [], roles: [], source: "ours", summary: `does ${name}`, without_model: "quotes", ...more });
  const answers = {
    "GET /api/v1/bases": [{ name: "default" }, { name: "empty" }],
    "GET /api/v1/methods": [method("pike", "pike"), method("naive-rag", "naive-rag"), method("probtree", "probtree", { source: "Cao et al. 2023", without_model: "fails" }), method("naive-rag-hr", "naive-rag"), method("raptor", "raptor", { needs: "tree" })],
    "GET /api/v1/bases/default": { summary: { sources: 10, chunks: 42 } },
    "GET /api/v1/bases/empty": { summary: { sources: 0, chunks: 0 } },
    "GET /api/v1/budget": { key: null, server: null },
    "GET /api/v1/bases/default/tables": [{ name: "cranes", title: "Cranes", about: [], rows: 40, left_out: 0, parts: [], columns: [{ name: "crane", sql: "crane", kind: "identifier", unit: null, filled: 40, unread: 0, distinct: 40, least: null, greatest: null, samples: ["40-117"] }, { name: "port", sql: "port", kind: "category", unit: null, filled: 40, unread: 0, distinct: 4, least: null, greatest: null, samples: ["Gullhaven"] }] }],
    "GET /api/v1/bases/default/sources": [{ id: "0000000000000001", uri: "handbook.md", title: "Handbook", media_type: "text/markdown", hash: "", language: "eng", metadata: {} }],
    "GET /api/v1/bases/default/feedback": () => feedback,
    "GET /api/v1/bases/default/runs/kept0001": () => ({ ...kept.values().next().value, id: "kept0001", forked: { run: "run00001", seq: 3, change: { choice: 1 } } }),
    "POST /api/v1/bases/default/feedback": async (request) => {
      const sent = await bodyOf(request);
      const judgement = { accept: "accepted", correct: "corrected", reject: "rejected" }[sent.verdict];
      feedback.push({ id: "v1", at: 2, by: sent.by ?? "", given: "", correction: sent.answer, note: sent.note, grounds: [], judgement, question: "?", run: sent.run, changed: [] });
      return { is_bare: false, verified: feedback.at(-1) };
    },
  };
  for (const base of ["default", "empty"]) {
    answers[`GET /api/v1/bases/${base}/forecast`] = (request) => {
      const name = new URL(request.url, "http://x").searchParams.get("method") ?? "pike";
      return { method: name, ...(base === "empty" ? forecastOf(0, 0, { typical: null, most: null }) : (forecasts[name] ?? forecasts.pike)) };
    };
  }
  answers["POST /api/v1/bases/default/sql"] = async (request, response) => {
    const body = await bodyOf(request);
    asked.push(body);
    return RESULTS[STATEMENTS.indexOf(body.statement)] ?? sendProblem(response, 400, "bad-sql", { title: "bad sql", detail: "no such column: weight" });
  };
  answers["POST /api/v1/bases/default/ask"] = async (request, response) => {
    const body = await bodyOf(request);
    asked.push(body);
    await tell(response, body);
  };
  for (let run = 1; run < 30; run++) {
    const id = `run${String(run).padStart(5, "0")}`;
    answers[`GET /api/v1/bases/default/runs/${id}`] = (_, response) => kept.get(id) ?? sendProblem(response, 404, "no-such-run");
    answers[`POST /api/v1/bases/default/runs/${id}/fork`] = async (request, response) => {
      const { at, change } = await bodyOf(request);
      asked.push({ at, change });
      await tell(response, { question: kept.get(id).question.text, method: kept.get(id).method }, { run: id, seq: at, change });
    };
  }
  for (const [one, media_type] of sources) {
    answers[`GET /api/v1/bases/default/chunks/${one.id}`] = one;
    const first = one === page ? [{ ...page, id: "c0", page: 1, boxes: [], headings: ["Pump"], text: "Cover", span: { start: 90, end: 95 } }] : [];
    answers[`GET /api/v1/bases/default/sources/${one.source}`] = { source: { id: one.source, uri: one.uri, title: one.title, media_type, hash: "", language: null, metadata: {} }, chunks: [...first, one] };
  }
  // The last of them has no text.
  for (const number of [1, 2, 3]) {
    answers[`GET /api/v1/bases/default/sources/s3/pages/${number}`] = (_, response) => {
      response.writeHead(200, { "content-type": "image/png", "page-points": "600 800", "page-count": "3" });
      response.end(png());
    };
  }
  return { answers, asked, stopped, answering };
}
