// Calls the server with the official TypeScript client of the Model Context Protocol (see `clients.py`).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [folder, url, slowUrl, question, fact] = process.argv.slice(2);
const require = createRequire(`${folder}/package.json`);
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { version } = JSON.parse(readFileSync(`${folder}/node_modules/@modelcontextprotocol/sdk/package.json`, "utf8"));

async function connected(address) {
  const client = new Client({ name: "clients", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${address}/mcp`)));
  return client;
}

const client = await connected(url);
const { tools } = await client.listTools();
const steps = [];
const answer = await client.callTool({ name: "ask", arguments: { question } }, undefined, {
  onprogress: (step) => steps.push(step),
});
assert.equal(answer.structuredContent.answer, "20");
assert.ok(steps.length > 1 && steps.every((step, at) => at === 0 || steps[at - 1].progress < step.progress));
const found = await client.callTool({ name: "search", arguments: { query: fact } });
assert.deepEqual(JSON.parse(found.content[0].text), found.structuredContent);
const [first] = found.structuredContent.results;
const fetched = await client.callTool({ name: "fetch", arguments: { id: first.id } });
assert.equal(fetched.structuredContent.url, first.url);
const misspelt = await client.callTool({ name: "search", arguments: { query: fact, filters: ["folder=none"] } });
assert.ok(misspelt.isError && misspelt.content[0].text.includes("unknown argument `filters`"));
await client.close();

// The model takes longer than the timeout, which begins again with each report.
const slow = await connected(slowUrl);
const call = { name: "ask", arguments: { question: fact, method: "naive-rag" } };
let reports = 0;
const refused = await slow.callTool(call, undefined, {
  timeout: 15_000,
  resetTimeoutOnProgress: true,
  onprogress: () => (reports += 1),
});
assert.ok(refused.isError && reports > 1, JSON.stringify(refused));

// An aborted call stops its run, which `clients.py` checks.
const abort = new AbortController();
const aborted = slow.callTool(call, undefined, {
  signal: abort.signal,
  onprogress: ({ message }) => message.startsWith("Still working") && abort.abort("enough"),
});
await assert.rejects(aborted);
// The notification is sent without being awaited.
await new Promise((resolve) => setTimeout(resolve, 500));
await slow.close();
console.log(`@modelcontextprotocol/sdk ${version}: ${tools.length} tools, ${steps.length} steps, ${reports} reports while the model works`);
