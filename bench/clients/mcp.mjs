// Calls the server with the official TypeScript client of the Model Context Protocol (see `with_mcp.py`).
//
//     node mcp.mjs FOLDER_OF_PACKAGES URL SLOW_URL QUESTION FACT
import assert from "node:assert/strict";
import { kept, load, needed, operation } from "./operations.mjs";

const [url, slowUrl, question, fact] = process.argv.slice(3);
const { Client } = load("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = load("@modelcontextprotocol/sdk/client/streamableHttp.js");

async function connected(address, act) {
  const client = new Client({ name: "clients", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${address}/mcp`)));
  try {
    return await act(client);
  } finally {
    await client.close();
  }
}

const call = (name, given, options) => connected(url, (client) => client.callTool({ name, arguments: given }, undefined, options));

await operation("list tools", () =>
  connected(url, async (client) => `${(await client.listTools()).tools.length} tools`));

await operation("ask: progress", async () => {
  const steps = [];
  const answer = await call("ask", { question }, { onprogress: (step) => steps.push(step) });
  assert.equal(answer.structuredContent.answer, "20");
  assert.ok(steps.length > 1 && steps.every((step, at) => at === 0 || steps[at - 1].progress < step.progress));
  return `${steps.length} steps`;
});

await operation("search, as ChatGPT expects it", async () => {
  const found = await call("search", { query: fact });
  assert.deepEqual(JSON.parse(found.content[0].text), found.structuredContent);
  [kept.first] = found.structuredContent.results;
});

await operation("fetch, as ChatGPT expects it", async () => {
  const fetched = await call("fetch", { id: needed("first").id });
  assert.equal(fetched.structuredContent.url, kept.first.url);
});

await operation("an unknown argument: an error", async () => {
  const wrong = await call("search", { query: fact, filters: ["folder=none"] });
  assert.ok(wrong.isError && wrong.content[0].text.includes("unknown argument `filters`"), JSON.stringify(wrong).slice(0, 400));
  return wrong.content[0].text;
});

const slow = { name: "ask", arguments: { question: fact, method: "naive-rag" } };

// The model takes longer than the timeout, which begins again with each report.
await operation("ask: reports keep a long call alive", () =>
  connected(slowUrl, async (client) => {
    let reports = 0;
    const refused = await client.callTool(slow, undefined, {
      timeout: 15_000,
      resetTimeoutOnProgress: true,
      onprogress: () => (reports += 1),
    });
    assert.ok(refused.isError && reports > 1, JSON.stringify(refused));
    return `${reports} reports`;
  }));

// `with_mcp.py` checks that its run stops.
await operation("ask: abort", () =>
  connected(slowUrl, async (client) => {
    const abort = new AbortController();
    const aborted = client.callTool(slow, undefined, {
      signal: abort.signal,
      onprogress: ({ message }) => message.startsWith("Still working") && abort.abort("enough"),
    });
    await assert.rejects(aborted);
    assert.ok(abort.signal.aborted, "the call ended before it was aborted");
    // The notification is sent without being awaited.
    await new Promise((resolve) => setTimeout(resolve, 500));
  }));
process.exit(0);
