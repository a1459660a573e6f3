// Calls the server with Vercel's AI SDK, by the Responses API, which is its default, and by chat completions (see `with_responses.py`).
//
//     node ai_sdk.mjs FOLDER_OF_PACKAGES URL QUESTION
import assert from "node:assert/strict";
import { kept, load, needed, operation } from "./operations.mjs";

const [url, question] = process.argv.slice(3);
const { createOpenAI } = load("@ai-sdk/openai");
const { embedMany, generateObject, generateText, jsonSchema, streamText, tool } = load("ai");

globalThis.AI_SDK_LOG_WARNINGS = false;
const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey: "none" });
const schema = jsonSchema({ type: "object", properties: { count: { type: "integer" } }, required: ["count"], additionalProperties: false });

/** The parts of a stream: text, reasoning, number of sources, reason of the end. */
async function streamed(options) {
  const stream = streamText({ ...options, onError() {} });
  let [text, reasoning, sources] = ["", "", 0];
  for await (const part of stream.fullStream) {
    if (part.type === "text-delta") text += part.text;
    if (part.type === "reasoning-delta") reasoning += part.text;
    if (part.type === "source") sources += 1;
    if (part.type === "error") throw part.error;
  }
  return { text, reasoning, sources, reason: await stream.finishReason };
}

for (const [name, model] of [["responses", openai("pikerag")], ["chat completions", openai.chat("pikerag")]]) {
  await operation(`generateText (${name})`, async () => {
    const whole = await generateText({ model, prompt: question, maxRetries: 0 });
    assert.deepEqual(whole.warnings, []);
    assert.match(whole.text, /^20 \[1\]/);
    kept[name] = whole;
  });

  await operation(`generateText: sources (${name})`, () => {
    const { sources } = needed(name);
    assert.equal(sources.length, 20);
    assert.ok(sources.every((source) => source.url.startsWith("http")));
  });

  await operation(`streamText (${name})`, async () => {
    const stream = await streamed({ model, prompt: question });
    assert.equal(stream.text, needed(name).text);
    assert.equal(stream.reason, "stop");
    kept[`${name} stream`] = stream;
  });

  await operation(`streamText: sources (${name})`, () => assert.equal(needed(`${name} stream`).sources, 20));

  await operation(`maxOutputTokens (${name})`, async () => {
    const short = await generateText({ model, prompt: question, maxOutputTokens: 20, maxRetries: 0 });
    assert.equal(short.finishReason, "length");
    assert.ok(short.text.length < needed(name).text.length);
  });

  await operation(`generateObject (${name})`, async () => {
    const { object } = await generateObject({ model, schema, prompt: question, maxRetries: 0 });
    assert.equal(object.count, 20);
  });

  await operation(`tools that need not be called (${name})`, async () => {
    const clock = tool({ description: "The time.", inputSchema: jsonSchema({ type: "object", properties: {} }) });
    assert.match((await generateText({ model, prompt: question, tools: { clock }, maxRetries: 0 })).text, /^20 \[1\]/);
  });
}

await operation("reasoning (responses)", () => {
  assert.match(needed("responses").reasoningText, /quantitative/);
  assert.equal(needed("responses stream").reasoning, kept.responses.reasoningText);
});

// The second turn names the items of the first answer by their identifiers, unless `store` is false.
for (const store of [true, false]) {
  await operation(`a second turn, store = ${store} (responses)`, async () => {
    const messages = [{ role: "user", content: question }, ...needed("responses").response.messages, { role: "user", content: question }];
    const stream = await streamed({ model: openai("pikerag"), messages, providerOptions: { openai: { store } } });
    assert.equal(stream.text, kept.responses.text);
    assert.equal(stream.sources, 20);
  });
}

await operation("an unknown model: 404", async () => {
  let words = "";
  const refused = generateText({ model: openai("no-such-model"), prompt: question, maxRetries: 0 });
  await assert.rejects(refused, (error) => {
    words = error.message;
    return error.statusCode === 404 && error.message.includes("no-such-model");
  });
  return words;
});

await operation("embedMany of a base without an embedder: an error with words", async () => {
  let words = "";
  const refused = embedMany({ model: openai.embedding("pikerag"), values: ["a crane"], maxRetries: 0 });
  await assert.rejects(refused, (error) => {
    words = error.message;
    return error.statusCode === 409;
  });
  return words;
});
process.exit(0);
