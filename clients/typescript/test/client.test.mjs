// The client against a `fetch` in memory.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { Client, ConnectionFailed, JobError, ProblemError, ReplyError, TimedOut } from "@pikerag/client";

const chunk = { id: "c", source: "s", uri: "docs/a.md", title: "A", text: "6\u2028mm", span: { start: 0, end: 6 }, page: null };
const hit = { score: 1, similarity: 0.5, chunk, url: "http://s/p", parts: {}, atom: null, metadata: { author: "Chen" }, sent_as: null };
const found = { hits: [hit], similarity_by: "words", notices: [] };
const asked = { run: "r", question: "q", method: "pike", links: [], answer: { text: "6 mm", citations: [] } };
const problem = { type: "urn:pikerag:problem:no-such-run", status: 404, title: "no such run", code: "no-such-run", fault: "caller" };
const job = (stand, others = {}) => ({ id: 7, stand, failed: [], reason: null, problem: null, ...others });
const reply = (value, status = 200, headers = {}) => new Response(JSON.stringify(value), { status, headers });
const sse = (...events) => events.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join("");

/** A client of `answer`, with the requests that it sends. */
function fake(answer, options = {}) {
  const requests = [];
  const send = async (url, init) => {
    requests.push({ url, ...init });
    return answer(url, init);
  };
  return { client: new Client({ url: "http://server/", fetch: send, ...options }), requests };
}

/** A body of `pieces`, which stays open if `isOpen`. */
function body(pieces, { isOpen = false, closed = () => {} } = {}) {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      if (!isOpen) controller.close();
    },
    cancel: closed,
  });
}

test("search sends what is given and returns hits", async () => {
  const { client, requests } = fake(() => reply(found), { key: "s3cret" });
  const { hits } = await client.search("thin", { k: 2, filter: "folder=docs", base: "law/ß" });
  assert.equal(hits[0].chunk.text, "6\u2028mm");
  assert.equal(requests[0].url, "http://server/api/v1/bases/law%2F%C3%9F/search");
  assert.equal(requests[0].headers.authorization, "Bearer s3cret");
  assert.deepEqual(JSON.parse(requests[0].body), { query: "thin", k: 2, filter: ["folder=docs"] });
});

test("ask reads the stream, in pieces of any size", async () => {
  const text = `:\r\n\r\n${sse(["run", { run: "r" }], ["draft", { begins: true, part: "answer", text: "é\u2028\u0085" }], ["answer", asked])}`;
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 2, 3, 1000]) {
    const pieces = [];
    for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.slice(at, at + size));
    const { client, requests } = fake(() => new Response(body(pieces)));
    const events = [];
    for await (const event of client.stream("q", { taskClass: "factual" })) events.push(event);
    assert.deepEqual(events.map((event) => event.event), ["run", "draft", "answer"]);
    assert.equal(events[1].data.text, "é\u2028\u0085");
    assert.deepEqual(JSON.parse(requests[0].body), { question: "q", class: "factual" });
    assert.equal((await fake(() => new Response(body(pieces))).client.ask("q")).answer.text, "6 mm");
  }
});

test("a question with an idempotency key is one plain request", async () => {
  const { client, requests } = fake(() => reply(asked));
  assert.equal((await client.ask("q", { idempotencyKey: "one" })).run, "r");
  assert.equal(requests[0].headers["idempotency-key"], "one");
  assert.equal(requests[0].headers.accept, undefined);
});

test("a stream that is left closes the connection, and one that breaks off is an error", async () => {
  let isClosed = false;
  const pieces = [new TextEncoder().encode(sse(["run", { run: "r" }]))];
  const { client, requests } = fake(() => new Response(body(pieces, { isOpen: true, closed: () => (isClosed = true) })));
  for await (const event of client.stream("q")) {
    assert.equal(event.event, "run");
    break;
  }
  assert.ok(requests[0].signal.aborted || isClosed);
  await assert.rejects(fake(() => new Response(body(pieces))).client.ask("q"), ConnectionFailed);
  await assert.rejects(fake(() => new Response(sse(["problem", problem]))).client.ask("q"), { code: "no-such-run", status: 404 });
});

test("problems have all fields", async () => {
  const value = { ...problem, status: 429, code: "too-often", detail: "d", detail_zh: "中", hint: "h", id: "x", param: "k" };
  const { client, requests } = fake(() => reply(value, 429, { "retry-after": "90" }));
  await assert.rejects(client.bases(), (error) => {
    assert.ok(error instanceof ProblemError);
    const { status, code, detail, detailZh, fault, hint, id, param, retryAfter, message } = error;
    assert.deepEqual([status, code, detail, detailZh, fault, hint, id, param, retryAfter], [429, "too-often", "d", "中", "caller", "h", "x", "k", 90]);
    assert.equal(message, "429 too-often: d (h)");
    return true;
  });
  assert.equal(requests.length, 1);
});

test("a busy server is asked again within limits", async () => {
  const states = [503, 429, 200];
  assert.deepEqual(await fake(() => reply([], states.shift(), { "retry-after": "0" })).client.bases(), []);
  const busy = fake(() => reply(problem, 503, { "retry-after": "0" }), { retries: 1 });
  await assert.rejects(busy.client.bases(), ProblemError);
  assert.equal(busy.requests.length, 2);
  // A cancelled question may have been paid for.
  for (const failed of [() => reply(problem, 500), () => reply({ ...problem, code: "cancelled" }, 503, { "retry-after": "0" })]) {
    const broken = fake(failed);
    await assert.rejects(broken.client.ask("q"), ProblemError);
    assert.equal(broken.requests.length, 1);
  }
  // The time that the server asks for is no silence.
  const late = [503, 200];
  assert.deepEqual(await fake(() => reply([], late.shift(), { "retry-after": "1" }), { timeout: 500 }).client.bases(), []);
});

test("replies of other servers are errors", async () => {
  await assert.rejects(fake(() => new Response(" Bad\ngateway ", { status: 502 })).client.bases(), { code: "http-502", detail: "Bad gateway", fault: "server" });
  await assert.rejects(fake(() => new Response("hello")).client.bases(), ReplyError);
  await assert.rejects(fake(() => Promise.reject(new TypeError("fetch failed", { cause: new Error("refused") }))).client.bases(), /cannot reach http:\/\/server: refused; is `pikerag serve`/);
});

test("silence and signals end a request", async () => {
  const silent = (_url, { signal }) => new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason));
  });
  await assert.rejects(fake(silent, { timeout: 20 }).client.bases(), TimedOut);
  assert.deepEqual(await fake(() => new Promise((resolve) => setTimeout(() => resolve(reply([])), 50)), { timeout: Infinity }).client.bases(), []);
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error("enough")), 20);
  await assert.rejects(fake(silent).client.search("q", { signal: controller.signal }), /enough/);
  await assert.rejects(fake(silent).client.bases({ signal: AbortSignal.abort(new Error("before")) }), /before/);
});

test("uploads send their bytes", async () => {
  const { client, requests } = fake(() => reply({ file: "n/a b.md", held: 2, is_whole: true, job: 7 }));
  const bytes = new Uint8Array([0, 255]);
  assert.equal((await client.upload("n/a b.md", bytes, { hold: true })).job, 7);
  assert.equal(requests[0].url, "http://server/api/v1/bases/default/files/n/a%20b.md?hold=true");
  assert.equal(requests[0].body, bytes);
  assert.equal(requests[0].duplex, undefined);
  await client.upload("b", body([bytes]));
  assert.equal(requests[1].duplex, "half");
});

test("names do not lead to other routes", () => {
  const { client, requests } = fake(() => reply({}));
  for (const name of ["../keys", "a/../../keys", "a//b", "", ".", "/a"]) assert.throws(() => client.upload(name, "x"), /is not a name/);
  assert.throws(() => client.sources({ base: ".." }), /is not a name/);
  assert.throws(() => new Client({ url: "localhost:8686" }), /http/);
  assert.equal(requests.length, 0);
});

test("wait asks until the job is over", async () => {
  const states = ["waiting", "running", "done"];
  const seen = [];
  const { client } = fake(() => reply(job(states.shift())));
  assert.equal((await client.wait(7, { progress: (state) => seen.push(state.stand) })).stand, "done");
  assert.deepEqual(seen, ["waiting", "running", "done"]);
  const failed = [{ file: "a", code: "unreadable-file", reason: "no text" }];
  await assert.rejects(fake(() => reply(job("incomplete", { failed }))).client.wait(7), (error) => {
    assert.ok(error instanceof JobError && error.job.failed[0].code === "unreadable-file");
    return error.message === "job 7 is `incomplete`: no text";
  });
  await assert.rejects(fake(() => reply(job("running"))).client.wait(7, { timeout: 20 }), /goes on at the server/);
});

test("bases, texts and edits", async () => {
  const sent = ({ url, method, body }) => [method, url.replace("http://server/api/v1/bases", ""), body && JSON.parse(body)];
  const { client, requests } = fake(() => reply({ name: "law", made: true }));
  assert.ok((await client.createBase("law")).made);
  await client.renameBase("law", "statutes");
  await client.insertText("nine tons", { name: "会议", metadata: { author: "Chen" }, base: "law" });
  await client.editChunk("c", "ten tons");
  await client.index(["a"], { retryRefused: true });
  assert.deepEqual(requests.map(sent), [
    ["POST", "", { name: "law" }],
    ["PATCH", "/law", { name: "statutes" }],
    ["POST", "/law/texts", { text: "nine tons", name: "会议", metadata: { author: "Chen" } }],
    ["PATCH", "/default/chunks/c", { text: "ten tons" }],
    ["POST", "/default/index", { files: ["a"], known: [], reread: false, retry_refused: true }],
  ]);
  const deleted = fake(() => new Response(null, { status: 204 }));
  assert.equal(await deleted.client.deleteBase("law", { confirm: "law" }), undefined);
  assert.deepEqual(deleted.requests.map(sent), [["DELETE", "/law?confirm=law", undefined]]);
});

test("keys and passwords are in no error", async () => {
  const { client, requests } = fake(() => reply([]), { key: " s3cret\n" });
  await client.bases();
  assert.equal(requests[0].headers.authorization, "Bearer s3cret");
  for (const key of ["s3\ncret", "s3crét"]) assert.throws(() => new Client({ key }), (error) => error instanceof TypeError && !error.message.includes("s3"));
  assert.throws(() => new Client({ url: "http://me:s3cret@server" }), (error) => error instanceof TypeError && !error.message.includes("s3"));
});

test("keys are not printed", () => {
  const { client } = fake(() => reply([]), { key: "s3cret" });
  assert.ok(!inspect(client, { depth: 9, showHidden: true }).includes("s3cret") && !JSON.stringify(client).includes("s3cret"));
});
