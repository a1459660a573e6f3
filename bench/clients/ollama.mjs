// Calls the server with Ollama's package for TypeScript (see `with_ollama.py`).
//
//     node ollama.mjs FOLDER_OF_PACKAGES URL URL_WITH_EMBEDDER QUESTION
import assert from "node:assert/strict";
import { kept, load, needed, operation } from "./operations.mjs";

const [url, modelsUrl, question] = process.argv.slice(3);
const { Ollama } = load("ollama");
const client = new Ollama({ host: url });
const asked = { model: "pikerag", messages: [{ role: "user", content: question }] };

await operation("list", async () => assert.ok((await client.list()).models.some((model) => model.name.startsWith("pikerag"))));

await operation("show", async () => assert.ok((await client.show({ model: "pikerag" })).capabilities.includes("completion")));

await operation("pull", async () => assert.equal((await client.pull({ model: "pikerag" })).status, "success"));

await operation("chat", async () => {
  kept.text = (await client.chat(asked)).message.content;
  assert.match(kept.text, /^20 \[1\]/);
});

await operation("chat, streamed", async () => {
  let [text, thinking] = ["", ""];
  for await (const part of await client.chat({ ...asked, stream: true })) {
    text += part.message.content ?? "";
    thinking += part.message.thinking ?? "";
  }
  assert.equal(text, needed("text"));
  assert.match(thinking, /quantitative/);
});

await operation("generate", async () => assert.equal((await client.generate({ model: "pikerag", prompt: question })).response, needed("text")));

await operation("chat: format = a schema", async () => {
  const format = { type: "object", properties: { repairs: { type: "integer" } }, required: ["repairs"] };
  assert.deepEqual(JSON.parse((await client.chat({ ...asked, format })).message.content), { repairs: 20 });
});

await operation("embed", async () => {
  const made = await new Ollama({ host: modelsUrl }).embed({ model: "pikerag", input: ["a crane", "a port"] });
  assert.deepEqual(made.embeddings.map((vector) => vector.length), [8, 8]);
});

await operation("chat with an unknown model: 404", async () => {
  let words = "";
  await assert.rejects(client.chat({ ...asked, model: "llama3" }), (error) => {
    words = error.error ?? "";
    return error.status_code === 404 && words.includes("llama3");
  });
  return words;
});
process.exit(0);
