// The client against the server at PIKERAG_URL, over `examples/maintenance`, without a model.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "@pikerag/client";

const url = process.env.PIKERAG_URL;
const live = { skip: url ? false : "LEFT OUT: PIKERAG_URL names no server" };
const question = "How many repairs were due to brake wear?";
const fact = "How thin may a brake lining be before it is replaced?";
const client = new Client({ url: url ?? "http://localhost:8686" });

test("questions, searches and runs", live, async () => {
  const asked = await client.ask(question);
  assert.equal(asked.answer.text, "20");
  assert.equal(asked.answer.citations.length, 20);
  assert.ok((await client.runs({ limit: 5, brief: true })).some((run) => run.id === asked.run));
  const run = await client.run(asked.run);
  assert.deepEqual([run.state, run.events[0].event], ["answered", "began"]);
  assert.equal((await client.replay(asked.run)).answer.text, "20");
  const { hits, similarity_by } = await client.search(fact, { k: 3 });
  assert.equal(similarity_by, "words");
  assert.ok(hits.every((hit) => 0 <= hit.similarity && hit.similarity <= 1 && hit.sent_as === null));
  assert.ok(hits.length === 3 && hits.some((hit) => hit.chunk.text.includes("6 mm")));
  assert.equal((await client.chunk(hits[0].chunk.id)).text, hits[0].chunk.text);
  assert.ok((await client.source(hits[0].chunk.source)).chunks.length > 0);
  assert.ok((await client.sources()).some((source) => source.uri === hits[0].chunk.uri));
});

test("a stream ends with the answer", live, async () => {
  const names = [];
  for await (const event of client.stream(question)) names.push(event.event);
  assert.deepEqual([names[0], names.at(-1)], ["run", "answer"]);
});

test("a file goes in, comes back and goes", live, async () => {
  const text = "The winch Ostermoor lifts nine tons.\n";
  for (const body of [text, new Blob([text]), new Blob([text]).stream()]) {
    const job = await client.uploadAndWait("notes/winch typescript.md", body);
    assert.equal(job.stand, "done");
    const file = (await client.files()).find((line) => line.sent_as === "notes/winch typescript.md");
    for (const name of [file.name, file.sent_as]) assert.equal(await (await client.original(name)).text(), text);
    assert.ok((await client.sent()).some((line) => line.file === file.sent_as));
    assert.equal((await client.deletion(file.name)).documents, 1);
    assert.deepEqual((await client.delete(file.name)).deleted.deleted, [file.name]);
  }
});

test("a text is inserted, edited and deleted", live, async () => {
  const { file, job } = await client.insertText("The bollard Ellerholm holds nine tons.", { name: "notes/bollard typescript", metadata: { author: "Chen" } });
  try {
    assert.equal(file, "notes/bollard typescript.md");
    await client.wait(job);
    const found = async () => (await client.search("bollard Ellerholm")).hits.find((hit) => hit.chunk.text.includes("Ellerholm"));
    const hit = await found();
    assert.deepEqual([hit.metadata.author, hit.sent_as], ["Chen", file]);
    await client.wait((await client.editChunk(hit.chunk.id, hit.chunk.text.replace("nine", "eleven"))).job);
    const edited = await found();
    assert.match(edited.chunk.text, /eleven tons/);
    assert.equal((await client.chunk(edited.chunk.id)).corrections.length, 1);
  } finally {
    assert.ok((await client.delete(file)).was_sent);
  }
});

test("a base is made, renamed and deleted", live, async () => {
  assert.ok((await client.createBase("typescript-client")).made);
  try {
    assert.equal((await client.renameBase("typescript-client", "typescript-client-2")).name, "typescript-client-2");
    assert.deepEqual(await client.sources({ base: "typescript-client-2" }), []);
    await assert.rejects(client.deleteBase("typescript-client-2", { confirm: "typescript-client" }), { status: 400, code: "not-confirmed" });
  } finally {
    const made = (await client.bases()).find((base) => base.made).name;
    await client.deleteBase(made, { confirm: made });
  }
});

test("problems are those of the server", live, async () => {
  await assert.rejects(client.run("no-such"), { name: "ProblemError", status: 404, code: "no-such-run" });
  await assert.rejects(client.ask("???"), { status: 400, code: "empty-question" });
  assert.deepEqual((await client.bases()).map((base) => base.name), ["default"]);
  assert.ok((await client.methods()).length > 0 && (await client.request("GET", "/api/v1/methods")).length > 0);
  assert.ok((await client.status()).summary.chunks > 0);
});
