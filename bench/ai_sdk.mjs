// Asks by Vercel's AI SDK, whose model is the server: whole, as a stream over two turns, refused. The SDK speaks OpenAI's Responses API by default.
//
//     node bench/ai_sdk.mjs FOLDER_OF_PACKAGES URL QUESTION
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const [folder, url, question] = process.argv.slice(2);
const require = createRequire(`${folder}/`);
const { createOpenAI } = require("@ai-sdk/openai");
const { generateObject, generateText, jsonSchema, streamText } = require("ai");

globalThis.AI_SDK_LOG_WARNINGS = false;
const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey: "none" });
const model = openai("pikerag");

const whole = await generateText({ model, prompt: question });
assert.deepEqual(whole.warnings, []);
assert.match(whole.text, /^20 \[1\]/);
assert.match(whole.reasoningText, /quantitative/);
assert.equal(whole.sources.length, 20);
assert.ok(whole.sources.every((source) => source.url.startsWith("http")));

// The second turn names the items of the first answer by their identifiers, unless `store` is false.
const turns = [{ role: "user", content: question }, ...whole.response.messages, { role: "user", content: question }];
for (const store of [true, false]) {
  const stream = streamText({ model, messages: turns, providerOptions: { openai: { store } }, onError() {} });
  let [text, reasoning, sources] = ["", "", 0];
  for await (const part of stream.fullStream) {
    if (part.type === "text-delta") text += part.text;
    if (part.type === "reasoning-delta") reasoning += part.text;
    if (part.type === "source") sources += 1;
    if (part.type === "error") throw part.error;
  }
  assert.equal(text, whole.text);
  assert.equal(reasoning, whole.reasoningText);
  assert.equal(sources, 20);
  assert.equal(await stream.finishReason, "stop");
}

const short = await generateText({ model, prompt: question, maxOutputTokens: 20 });
assert.equal(short.finishReason, "length");
assert.ok(short.text.length < whole.text.length);

const schema = jsonSchema({ type: "object", properties: { count: { type: "integer" } }, required: ["count"], additionalProperties: false });
const { object } = await generateObject({ model, schema, prompt: question });
assert.equal(object.count, 20);

const refused = generateText({ model: openai("no-such-model"), prompt: question, maxRetries: 0 });
await assert.rejects(refused, (error) => error.statusCode === 404 && error.message.includes("no-such-model"));

console.log(`${whole.sources.length} sources, ${whole.reasoningText.split("\n").length} lines of reasoning`);
