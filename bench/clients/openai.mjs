// Calls the server with OpenAI's package for TypeScript (see `with_openai.py`).
//
//     node openai.mjs FOLDER_OF_PACKAGES URL URL_WITH_EMBEDDER QUESTION
import assert from "node:assert/strict";
import { kept, load, needed, operation } from "./operations.mjs";

const [url, modelsUrl, question] = process.argv.slice(3);
const { default: OpenAI } = load("openai");
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });
const asked = { model: "pikerag", messages: [{ role: "user", content: question }] };

/** The server's words for a call that must fail with this status. */
async function fails(call, status, code) {
  let words = "";
  await assert.rejects(call, (error) => {
    words = error.error?.message ?? "";
    return error.status === status && words !== "" && (code === undefined || error.code === code);
  });
  return words;
}

await operation("list models", async () => {
  const names = [];
  for await (const model of client.models.list()) names.push(model.id);
  assert.ok(names.includes("pikerag"));
});

await operation("chat", async () => {
  kept.whole = (await client.chat.completions.create(asked)).choices[0].message;
  assert.match(kept.whole.content, /^20 \[1\]/);
});

await operation("chat: annotations", () => assert.equal(needed("whole").annotations?.length, 20));

await operation("chat, streamed", async () => {
  let [text, annotations] = ["", 0];
  for await (const chunk of await client.chat.completions.create({ ...asked, stream: true })) {
    text += chunk.choices[0]?.delta.content ?? "";
    annotations += chunk.choices[0]?.delta.annotations?.length ?? 0;
  }
  assert.equal(text, needed("whole").content);
  assert.equal(annotations, 20);
});

await operation("chat with an unknown model: 404", () =>
  fails(client.chat.completions.create({ ...asked, model: "no-such" }), 404, "model_not_found"));

await operation("chat: n = 2", async () => {
  const refused = await fails(client.chat.completions.create({ ...asked, n: 2 }), 400);
  return { refused };
});

await operation("responses", async () => {
  assert.match((await client.responses.create({ model: "pikerag", input: question })).output_text, /^20 \[1\]/);
});

await operation("responses, streamed", async () => {
  const kinds = [];
  for await (const event of await client.responses.create({ model: "pikerag", input: question, stream: true })) kinds.push(event.type);
  assert.equal(kinds.at(-1), "response.completed");
});

await operation("embeddings", async () => {
  const other = new OpenAI({ baseURL: `${modelsUrl}/v1`, apiKey: "none", maxRetries: 0 });
  const made = await other.embeddings.create({ model: "pikerag", input: ["a crane", "a port"] });
  assert.deepEqual(made.data.map((item) => item.embedding.length), [8, 8]);
});
process.exit(0);
