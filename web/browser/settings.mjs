// Tests the tab Settings in a browser, after a build; `DIST=folder` names another, `SHOTS=folder` keeps pictures, `PIKERAG=program` tries the program too.
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { DESKTOP, PHONE, becomes, isSound, launch, open, settled, shooter } from "./browser.mjs";
import { baseFolder, openAt, startServer } from "./real.mjs";
import { MODELS, sendProblem, serve } from "./serve.mjs";

const dist = process.env.DIST ?? fileURLToPath(new URL("../dist", import.meta.url));
const shoot = shooter("settings-", { fullPage: true });
const HOSTILE = '<img src=x onerror="alert(1)">';

const model = (name, roles, more = {}) => ({ model: name, address: "https://api.example.org", roles, has_price: true, ...more });
const configured = {
  version: "0.1.0", base: "/srv/law", offline: false, replay: false,
  chat: [model("gpt-4.1", ["answer", "judge", "role_of_tomorrow"]), model(`qwen3:8b ${HOSTILE}`, ["atomize", "propose", "select", "look", "extract"], { address: "http://127.0.0.1:11434", has_price: false })],
  without_model: ["describe", "tag"], embedder: model("multilingual-e5-small", [], { address: null }), reranker: null, cap: { usd: 20, tokens: null, calls: 5000 },
};
const bare = { ...configured, chat: [], without_model: ["answer"], embedder: null, offline: true };
const finding = (check, more = {}) => ({ check, fine: true, absent: false, out_of_reach: false, says: `${check} is as it should be`, ...more });
const findings = [
  finding("base"), finding("recognition", { absent: true, says: "scanned pages will be left out: Tesseract is not installed" }),
  finding("chat", { fine: false, out_of_reach: true, says: `nobody answers at http://127.0.0.1:11434 ${HOSTILE}` }), finding("embedder", { fine: false, says: "the weights are of another model" }),
];
const summary = { files: 120, sources: 340, sections: 900, chunks: 4211, questions: 18_020, sentences: 21_000, statements: 0, records: 142, entities: 0, relations: 0, communities: 0, reports: 0, summaries: 0, tags: 0, vectors: 39_020, embedder: null, calls: 8, usage: {}, pending: [], refused: [] };
const status = {
  base: "law", root: "/srv", summary, embedder: null, no_embedder: null, waiting: [{ stage: "atomic questions", count: 42 }, { stage: "stage of tomorrow", count: 3 }], stale: ["graph"],
  gone: Array.from({ length: 14 }, (_, number) => `docs/gone-${number}.pdf`), unseen: [{ folder: "/mnt/share", files: 12, why: "the folder is empty" }], same: [["a.pdf", "b.pdf"]],
  originals: { files: 118, without: 2, bytes: 48_000_000 }, verified: 3, stale_answers: 1,
};
const budget = { server: { cap_usd: 20, cap_tokens: null, cap_calls: 5000, spent_usd: 4.2, tokens: 1_234_567, calls: 5000 }, key: null };

const known = (name, more) => ({ name, title: `${name} Instruct, 4 bits (Q4_K_M)`, licence: "Apache-2.0", languages: ["en", "zh", "fr"], bytes: 1_117_320_736, memory: 1_900_000_000, reads: null, writes: null, from: "hub", is_here: false, is_used: false, ...more });
const listed = {
  ...MODELS,
  roles: ["answer", "atomize", "tag", "judge"].map((role) => ({ role, own: null })),
  found: [{ program: "Ollama", base_url: "http://127.0.0.1:11434/v1", models: ["qwen3:8b", HOSTILE] }, { program: "vLLM", base_url: "http://127.0.0.1:8000/v1", models: [] }],
  catalogue: [known("smollm2-135m", { languages: ["en"], reads: 310, writes: 75, from: "packages", is_here: true }), known("qwen2.5-1.5b"), known("qwen2.5-7b", { memory: 9_000_000_000 }), known("own", { title: "", licence: "", languages: [], from: null, is_here: true, is_used: true })],
  free_memory: 4_000_000_000,
};

const answers = {
  "GET /health": { status: "ok", version: "0.1.0" },
  "GET /ready": { status: "ok", version: "0.1.0" },
  "GET /api/v1/bases": [{ name: "default" }, { name: "law", made: true }],
  "GET /api/v1/bases/default": status,
  "GET /api/v1/bases/default/settings": configured,
  "POST /api/v1/bases/default/doctor": findings,
  "GET /api/v1/budget": budget,
  "GET /api/v1/models": listed,
  "GET /api/v1/keys": {
    is_set: true,
    keys: [
      { id: "1a2b3c4d", made: 1_790_000_000_000, name: `law team ${HOSTILE}`, scope: "read", bases: ["law"], filter: ["folder=public"], cap_usd: 20, spent_usd: 1.31, per_minute: 60 },
      { id: "5e6f7a8b", made: 1_789_000_000_000, name: "operations", scope: "admin", bases: [], filter: [], cap_usd: null, spent_usd: 0, per_minute: null },
    ],
  },
};

async function looks(browser) {
  const { url, close } = await serve(dist, answers);
  for (const [screen, viewport] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
    for (const [colorScheme, locale] of [["light", "en-US"], ["dark", "zh-CN"]]) {
      const page = await open(browser, `${url}#/settings/default`, { viewport, colorScheme, locale });
      for (const part of ["models", "bases", "health", "budget", "keys", "page"]) {
        await page.goto(`${url}#/settings/default/${part}`);
        await page.locator("main h1").waitFor();
        await settled(page);
        if (part === "health") {
          await page.getByRole("button", { name: /Test now|立即检查/ }).click();
          if (locale === "zh-CN") {
            // In Chinese a text that the server sends in English only is folded.
            await page.locator("main details summary", { hasText: "服务器原文" }).first().waitFor();
            await page.locator("main details").evaluateAll((all) => all.forEach((one) => (one.open = true)));
          }
          await page.getByText(HOSTILE).waitFor();
        }
        await isSound(page);
        await shoot(page, `${part}-${screen}-${colorScheme}`);
      }
      assert.equal(await page.locator("main img").count(), 0);
      await page.context().close();
    }
  }
  close();
}

async function models(browser) {
  let asked = 0;
  const { url, close } = await serve(dist, {
    ...answers,
    "GET /api/v1/bases/default/settings": bare,
    "POST /api/v1/bases/default/doctor": () => ((asked += 1), findings),
    "GET /ready": (request, response) => sendProblem(response, 503, "not-ready"),
  });
  const page = await open(browser, `${url}#/settings/default`);
  await page.getByRole("heading", { name: "No language model is set" }).waitFor();
  await page.getByRole("heading", { name: "Choose a model" }).waitFor();
  await isSound(page);
  await shoot(page, "no-model");
  await page.getByRole("link", { name: "Health" }).click();
  await page.waitForURL(/settings\/default\/health/);
  await page.getByText("Accepts no requests now").waitFor();
  await page.getByText("small call").waitFor();
  assert.equal(asked, 0);
  await page.getByRole("button", { name: "Test now" }).click();
  await page.getByText("Unreachable").waitFor();
  assert.equal(asked, 1);
  await becomes(() => page.getByText("docs/gone-3.pdf").count(), 1);
  close();
  await page.context().close();
}

async function bodyOf(request) {
  let text = "";
  for await (const piece of request) {
    text += piece;
  }
  return JSON.parse(text);
}

/** A task gets a model of its own and loses it; a file that no task uses is deleted after a second look. */
async function tasksHaveModels(browser) {
  const own = { model: "qwen2.5-7b", address: "http://127.0.0.1:11434/v1" };
  let current = { ...listed, roles: listed.roles.map((one) => (one.role === "atomize" ? { ...one, own } : one)) };
  const sent = [];
  const ofRole = (role, own) => ({ ...current, roles: current.roles.map((one) => (one.role === role ? { ...one, own } : one)) });
  const { url, close } = await serve(dist, {
    ...answers,
    "GET /api/v1/models": () => current,
    "PUT /api/v1/models/chosen": async (request) => {
      const body = await bodyOf(request);
      sent.push(body);
      const chat = { model: body.model, address: null };
      current = ofRole(body.role, chat);
      return { chat, is_here: true, needs_key: null, needs_restart: [] };
    },
    "DELETE /api/v1/models/chosen": (request) => {
      sent.push(new URL(request.url, url).searchParams.get("role"));
      current = ofRole("atomize", null);
      return { chat: current.chat, is_here: true, needs_key: null, needs_restart: [] };
    },
    "DELETE /api/v1/models/files/smollm2-135m": (request, response) => {
      sent.push("smollm2-135m");
      current = { ...current, catalogue: current.catalogue.map((model) => (model.name === "smollm2-135m" ? { ...model, is_here: false } : model)) };
      response.writeHead(204);
      response.end();
    },
  });
  const page = await open(browser, `${url}#/settings/default`, { viewport: PHONE });
  await page.getByText("Tasks with a model of their own keep it.").waitFor();
  await page.getByLabel("Task", { exact: true }).selectOption("atomize");
  await page.getByText("This task has a model of its own: qwen2.5-7b.").waitFor();
  await isSound(page);
  await shoot(page, "task");
  await page.getByRole("button", { name: "Use the model of all tasks" }).click();
  await page.getByText("This task uses the model of all tasks.").waitFor();
  assert.equal(sent.pop(), "atomize");
  await page.getByRole("tab", { name: "Open models" }).click();
  await page.getByRole("button", { name: "Use smollm2-135m" }).click();
  await page.getByText("smollm2-135m is in use now for this task: questions of a passage").waitFor();
  assert.deepEqual(sent.pop(), { role: "atomize", model: "local:smollm2-135m" });
  await page.getByText("This task has a model of its own: smollm2-135m.").waitFor();

  assert.equal(await page.getByRole("button", { name: "Delete the file of own" }).count(), 0, "it is in use");
  await page.getByRole("button", { name: "Delete the file of smollm2-135m" }).click();
  await page.getByText("You can download the model again.").waitFor();
  await isSound(page);
  await shoot(page, "delete-model");
  assert.equal(sent.length, 0, "nothing is deleted at once");
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("button", { name: "Download smollm2-135m" }).waitFor();
  assert.deepEqual(sent, ["smollm2-135m"]);
  close();
  await page.context().close();
}

/** An embedder is tried and set; its vectors are made for the base. A reranker is taken away. */
async function searchesHaveModels(browser) {
  let set = { ...configured, reranker: model("bge-reranker", [], { address: "http://127.0.0.1:8012/v1" }) };
  let isNew = false;
  const sent = [];
  const done = { needs_key: null, needs_restart: [] };
  const tried = { fine: true, address: "http://127.0.0.1:11434/v1", seconds: 0.2, dimensions: 1024, error: null, says: "", says_zh: "" };
  const refused = { ...tried, fine: false, dimensions: null, error: "unreachable", says: `nobody answers ${HOSTILE}`, says_zh: "没有回应" };
  let isWrong = true;
  const { url, close } = await serve(dist, {
    ...answers,
    "GET /api/v1/bases/default/settings": () => set,
    "GET /api/v1/bases/default": () => ({ ...status, embedder: isNew ? "bge-m3#1a2b3c4d" : "multilingual-e5-small#00112233", summary: { ...summary, embedder: "multilingual-e5-small#00112233" } }),
    "POST /api/v1/bases/default/jobs": () => (sent.push("jobs"), { id: 7, stand: "offered" }),
    "POST /api/v1/models/search/embedder/test": async (request) => (sent.push(await bodyOf(request)), isWrong ? refused : tried),
    "PUT /api/v1/models/search/embedder": async (request) => {
      const body = await bodyOf(request);
      sent.push(body);
      set = { ...set, embedder: model(body.model, [], { address: body.base_url }) };
      isNew = true;
      return done;
    },
    "DELETE /api/v1/models/search/reranker": () => {
      sent.push("reranker");
      set = { ...set, reranker: null };
      return done;
    },
  });
  const page = await open(browser, `${url}#/settings/default`, { viewport: PHONE });
  const opener = page.getByRole("button", { name: "Use another embedder" });
  await opener.click();
  assert.equal(await opener.getAttribute("aria-expanded"), "true");
  const form = page.getByRole("form", { name: "Embedder" });
  await form.getByRole("button", { name: "Test" }).click();
  assert.equal(sent.length, 0, "empty fields are not sent");
  await form.getByLabel("Address").fill("http://127.0.0.1:11434/v1");
  await form.getByLabel("Model").fill(" bge-m3 ");
  await form.getByLabel("Key").fill("sk-typed");
  await form.getByRole("button", { name: "Test" }).click();
  await page.getByText("Check the address, and that the program runs there.").waitFor();
  isWrong = false;
  await form.getByRole("button", { name: "Test" }).click();
  await page.getByText("1,024 dimensions").waitFor();
  await isSound(page);
  await shoot(page, "embedder");
  await form.getByRole("button", { name: "Use" }).click();
  await page.getByText("The vectors of this base were made by multilingual-e5-small, and the embedder is bge-m3 now.").waitFor();
  assert.deepEqual(sent.pop(), { base_url: "http://127.0.0.1:11434/v1", model: "bge-m3", api_key: "sk-typed" });
  assert.equal(await form.count(), 0, "the key is not kept on the page");
  await isSound(page);
  await shoot(page, "other-vectors");
  await page.getByRole("button", { name: "Make new vectors" }).click();
  await page.getByRole("link", { name: "See the bill under Knowledge" }).waitFor();
  assert.equal(sent.pop(), "jobs");
  await page.getByRole("button", { name: "Use no reranker" }).click();
  await page.getByText("None: hits keep the order of the search.").waitFor();
  assert.equal(sent.pop(), "reranker");
  assert.equal(await page.locator("main img").count(), 0);
  close();
  await page.context().close();
}

/** A model is downloaded, tested and set; a key is sent once and shown nowhere. */
async function chooses(browser) {
  let current = { ...listed, chat: null };
  const sent = [];
  const pull = { name: "qwen2.5-1.5b", state: "running", step: "file", bytes: 400_000_000, all: 1_117_320_736, says: "", says_zh: "" };
  const tried = { fine: true, address: "https://api.deepseek.com", seconds: 0.8, reply: `ready ${HOSTILE}`, error: null, says: "", says_zh: "" };
  const refused = { ...tried, fine: false, reply: "", error: "denied", says: `m refuses every request: wrong key ${HOSTILE}`, says_zh: "m 拒绝所有请求" };
  let isWrong = true;
  let ends = () => undefined;
  const deepseek = { name: "deepseek", base_url: "https://api.deepseek.com", model: "deepseek-flash", variable: "DEEPSEEK_API_KEY", has_key: false, azure_api_version: null, placeholders: [] };
  const azure = { ...deepseek, name: "azure", base_url: "https://NAME.openai.azure.com", model: "DEPLOYMENT", azure_api_version: "2024-10-21", placeholders: ["NAME", "DEPLOYMENT"] };
  const { url, close } = await serve(dist, {
    ...answers,
    "GET /api/v1/bases/default/settings": { ...bare, offline: false },
    "GET /api/v1/models": () => ({ ...current, providers: [...MODELS.providers, deepseek, azure] }),
    "POST /api/v1/models/pull": (request, response) => {
      response.writeHead(202, { "content-type": "application/json" });
      response.end(JSON.stringify(pull));
    },
    "GET /api/v1/models/pull": (request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`event: pull\ndata: ${JSON.stringify(pull)}\n\n`);
      ends = () => {
        current = { ...current, catalogue: current.catalogue.map((model) => (model.name === pull.name ? { ...model, is_here: true } : model)) };
        response.end(`event: pull\ndata: ${JSON.stringify({ ...pull, state: "done", bytes: pull.all })}\n\n`);
      };
    },
    "POST /api/v1/models/test": async (request) => (sent.push(await bodyOf(request)), isWrong ? refused : tried),
    "PUT /api/v1/models/chosen": async (request) => {
      const body = await bodyOf(request);
      sent.push(body);
      current = { ...current, chat: { model: body.model, address: body.base_url ?? null } };
      return { chat: current.chat, is_here: true, needs_key: null, needs_restart: [] };
    },
  });
  const page = await open(browser, `${url}#/settings/default`, { viewport: PHONE });
  await page.getByRole("tab", { name: "Found on the server 2" }).waitFor();
  await isSound(page);
  await shoot(page, "found");
  // Arrow keys move between the sources.
  await page.getByRole("tab", { name: "Found on the server 2" }).press("ArrowRight");
  await page.getByRole("button", { name: "Download qwen2.5-1.5b" }).click();
  await page.getByRole("progressbar", { name: "Download of qwen2.5-1.5b" }).waitFor();
  await isSound(page);
  await shoot(page, "pulling");
  ends();
  await page.getByRole("button", { name: "Use qwen2.5-1.5b" }).click();
  await page.getByText("qwen2.5-1.5b is in use now").first().waitFor();
  assert.deepEqual(sent.pop(), { role: null, model: "local:qwen2.5-1.5b" });

  await page.getByRole("tab", { name: "Provider or endpoint" }).click();
  await page.getByLabel("Provider", { exact: true }).selectOption("azure");
  await page.getByText("Replace NAME and DEPLOYMENT first.").waitFor();
  await becomes(() => page.getByRole("button", { name: "Test", exact: true }).isDisabled(), true);
  await page.getByLabel("Provider", { exact: true }).selectOption("deepseek");
  await page.getByLabel("Key", { exact: true }).fill("sk-typed");
  await page.getByRole("button", { name: "Test", exact: true }).click();
  await page.getByText("Check the key, the name of the model").waitFor();
  await isSound(page);
  await shoot(page, "endpoint");
  isWrong = false;
  await page.getByRole("button", { name: "Test", exact: true }).click();
  await page.getByText("The model replied after").waitFor();
  const chosen = { role: null, model: "deepseek-flash", base_url: "https://api.deepseek.com", api_key: "sk-typed", azure_api_version: null };
  assert.deepEqual(sent.pop(), chosen);
  await page.getByRole("button", { name: "Use", exact: true }).click();
  await page.getByText("deepseek-flash is in use now").first().waitFor();
  assert.deepEqual(sent.pop(), chosen);
  await becomes(() => page.getByLabel("Key", { exact: true }).inputValue(), "");
  assert.equal(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }).includes("sk-typed")), false);
  close();
  await page.context().close();
}

/** Makes, renames and deletes a base with the keyboard, on a telephone; the deletion needs the name. */
async function basesAreManaged(browser) {
  const names = ["law"];
  const sent = [];
  const { url, close } = await serve(dist, {
    ...answers,
    "GET /api/v1/bases": () => [{ name: "default" }, ...names.map((name) => ({ name, made: true }))],
    "POST /api/v1/bases": async (request, response) => {
      const body = await bodyOf(request);
      if (names.includes(body.name)) {
        return sendProblem(response, 409, "base-exists");
      }
      names.push(body.name);
      return { ...body, made: true };
    },
    "PATCH /api/v1/bases/law": async (request) => {
      const body = await bodyOf(request);
      names[0] = body.name;
      return { ...body, made: true };
    },
    "DELETE /api/v1/bases/statutes": (request, response) => {
      sent.push(new URL(request.url, url).searchParams.get("confirm"));
      names.shift();
      response.writeHead(204);
      response.end();
    },
    "GET /api/v1/bases/law/settings": configured,
    "GET /api/v1/bases/statutes/settings": configured,
  });
  // The name that is taken.
  const expected = { expected: /status of 409/ };
  const page = await open(browser, `${url}#/settings/law/bases`, { viewport: PHONE });
  await page.getByText("from the settings").waitFor();
  assert.equal(await page.getByRole("button", { name: /^(Rename|Delete)/ }).count(), 2, "the default base has none");
  await page.getByLabel("Name", { exact: true }).fill("law");
  await page.keyboard.press("Enter");
  await page.getByText("A base already exists").waitFor();
  await page.getByLabel("Name", { exact: true }).fill("tea");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Delete: tea" }).waitFor();

  await page.evaluate(() => localStorage.setItem("pikerag.held/law", '["a.md"]'));
  await page.getByRole("button", { name: "Rename: law" }).click();
  await page.getByLabel("New name").fill("statutes");
  await isSound(page, expected);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Delete: statutes" }).waitFor();
  await becomes(() => page.evaluate(() => location.hash), "#/settings/statutes/bases");
  assert.equal(await page.evaluate(() => localStorage.getItem("pikerag.held/statutes")), '["a.md"]');

  await page.getByRole("button", { name: "Delete: statutes" }).click();
  const sure = page.getByRole("dialog", { name: "Delete the base “statutes”?" });
  await becomes(() => sure.getByRole("button", { name: "Delete the base" }).isDisabled(), true);
  await sure.getByLabel("to confirm").fill("law");
  await page.keyboard.press("Enter");
  assert.deepEqual(sent, [], "another name deletes nothing");
  await sure.getByLabel("to confirm").fill("statutes");
  await isSound(page, expected);
  await shoot(page, "delete-base", {});
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Delete: statutes" }).waitFor({ state: "detached" });
  await becomes(() => page.evaluate(() => location.hash), "#/settings/default/bases");
  assert.deepEqual(sent, ["statutes"]);
  assert.equal(await page.evaluate(() => localStorage.getItem("pikerag.held/statutes")), null);
  await page.context().close();
  close();
}

/** A server that keeps keys, and asks for one once there is any. */
function keyServer() {
  const kept = [];
  const guarded = (answer) => (request, response, ...more) => {
    const sentKey = request.headers.authorization?.replace("Bearer ", "");
    return kept.length === 0 || kept.some(({ secret }) => secret === sentKey) ? answer(request, response, ...more) : sendProblem(response, 401, "no-key");
  };
  const made = [];
  return {
    made,
    kept,
    answers: {
      ...answers,
      "GET /api/v1/budget": guarded((request) => {
        const own = kept.find(({ secret }) => request.headers.authorization === `Bearer ${secret}`);
        return { ...budget, key: own ? { ...own.line, filter: "" } : null };
      }),
      "GET /api/v1/keys": guarded(() => ({ is_set: true, keys: kept.map(({ line }) => line) })),
      "POST /api/v1/keys": guarded(async (request, response) => {
        const body = await bodyOf(request);
        made.push(body);
        if (kept.length === 0 && body.scope !== "admin") {
          return sendProblem(response, 409, "first-key");
        }
        const id = `key${kept.length}`;
        kept.push({ secret: `pk-${id}`, line: { id, made: Date.now(), spent_usd: 0, ...body } });
        return { id, key: `pk-${id}` };
      }),
      "DELETE /api/v1/keys/key1": guarded((request, response) => {
        kept.splice(1, 1);
        response.writeHead(204);
        response.end();
      }),
    },
  };
}

async function keys(browser) {
  const server = keyServer();
  const { url, close } = await serve(dist, server.answers);
  const page = await open(browser, `${url}#/settings/default/keys`, { permissions: ["clipboard-read", "clipboard-write"] });
  await page.getByText("The first key must have the scope admin").waitFor();
  await becomes(() => page.getByRole("radio", { name: "read" }).isDisabled(), true);
  await page.getByLabel("Name").fill("operations");
  await page.getByRole("button", { name: "Make a key" }).click();
  const dialog = page.getByRole("dialog", { name: "The key" });
  await dialog.getByText("pk-key0").waitFor();
  await isSound(page);
  await shoot(page, "new-key", {});
  await dialog.getByRole("button", { name: /^Copy/ }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "pk-key0");
  await dialog.getByRole("button", { name: "Use it in this page" }).click();
  await page.getByText("this page", { exact: true }).waitFor();
  await becomes(() => page.getByText("pk-key0").count(), 0);
  assert.deepEqual(server.made[0], { name: "operations", scope: "admin", bases: [], filter: [], cap_usd: null, per_minute: null });

  await page.getByLabel("Name").fill("law team");
  await page.getByLabel("Only these").check();
  await becomes(() => page.getByRole("button", { name: "Make a key" }).isDisabled(), true);
  await page.getByLabel("law", { exact: true }).check();
  await page.getByLabel("Filter").fill("folder=public\n\n year=2024 ");
  await page.getByLabel("Cap in US dollars").fill("12.5");
  await page.getByLabel("Requests per minute").fill("60");
  await page.getByRole("button", { name: "Make a key" }).click();
  await dialog.getByText("pk-key1").waitFor();
  await dialog.getByRole("button", { name: "I have copied it" }).click();
  await page.getByRole("heading", { name: "law team" }).waitFor();
  assert.deepEqual(server.made[1], { name: "law team", scope: "read", bases: ["law"], filter: ["folder=public", "year=2024"], cap_usd: 12.5, per_minute: 60 });
  assert.equal(await page.evaluate(() => sessionStorage.getItem("pikerag.key")), "pk-key0");
  await shoot(page, "keys");

  await page.getByRole("button", { name: "Revoke: law team" }).click();
  const sure = page.getByRole("dialog", { name: "Revoke the key “law team”?" });
  await sure.getByRole("button", { name: "Cancel" }).click();
  assert.equal(server.kept.length, 2);
  await page.getByRole("button", { name: "Revoke: law team" }).click();
  await isSound(page);
  await sure.getByRole("button", { name: "Revoke", exact: true }).click();
  await page.getByText("no longer works").waitFor();
  await page.getByRole("heading", { name: "law team" }).waitFor({ state: "detached" });
  assert.equal(server.kept.length, 1);

  // The key is forgotten: the next request asks for one.
  await page.getByRole("link", { name: "This page" }).click();
  await page.getByRole("button", { name: "Remove the key" }).click();
  await page.getByText("This page has no key.").waitFor();
  await page.getByRole("link", { name: "Budget" }).click();
  await page.getByRole("dialog", { name: "A key is needed" }).waitFor();
  close();
  await page.context().close();
}

/** Whoever closes the first key's dialog in passing is not locked out. */
async function firstKeyStays(browser) {
  const server = keyServer();
  const { url, close } = await serve(dist, server.answers);
  const page = await open(browser, `${url}#/settings/default/keys`);
  await page.getByLabel("Name").fill("operations");
  await page.keyboard.press("Enter");
  await page.getByText("pk-key0").waitFor();
  await page.keyboard.press("Escape");
  await page.getByText("this page", { exact: true }).waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.getItem("pikerag.key")), "pk-key0");
  close();
  await page.context().close();
}

async function thisPage(browser) {
  const { url, close } = await serve(dist, answers);
  const page = await open(browser, `${url}#/settings/default/page`);
  await page.getByLabel("US dollars").fill("0.5");
  await page.getByLabel("Model calls").fill("7");
  await page.getByRole("radio", { name: "Dark" }).check();
  await becomes(() => page.locator("html").getAttribute("data-theme"), "dark");
  await page.getByLabel("Use single-key shortcuts").uncheck();
  await page.getByRole("radio", { name: "中文" }).check();
  await page.getByRole("heading", { name: "设置" }).waitFor();
  await page.reload();
  await becomes(() => page.getByLabel("美元").inputValue(), "0.5");
  await becomes(() => page.getByLabel("模型调用次数").inputValue(), "7");
  await becomes(() => page.getByRole("radio", { name: "深色" }).isChecked(), true);
  await becomes(() => page.getByLabel("启用单键快捷键").isChecked(), false);
  close();
  await page.context().close();
}

/** What is closed to a key says so; the rest works. */
async function closed(browser) {
  const refuse = (code) => (request, response) => sendProblem(response, 403, code);
  const { url, close } = await serve(dist, {
    ...answers,
    "GET /api/v1/bases/default/settings": refuse("scope-too-small"), "GET /api/v1/keys": refuse("scope-too-small"),
    "POST /api/v1/bases/default/doctor": refuse("scope-too-small"), "GET /api/v1/bases/default": refuse("only-part"),
  });
  const page = await open(browser, `${url}#/settings/default`);
  await page.getByText("This needs a key with a higher scope").waitFor();
  await page.getByRole("link", { name: "Health" }).click();
  await page.getByText("shows only a part of the base").waitFor();
  await page.getByRole("button", { name: "Test now" }).click();
  await page.getByText("This needs a key with a higher scope").waitFor();
  await shoot(page, "closed");
  await page.getByRole("link", { name: "Budget" }).click();
  await page.getByText("The cap is reached").waitFor();
  close();
  await page.context().close();
}

async function real(browser, program) {
  const base = await baseFolder(program);
  const server = await startServer(base);
  const { url, close } = await serve(dist);
  const page = await openAt(browser, `${url}#/settings/default`, server.url);
  await page.getByRole("heading", { name: "No language model is set" }).waitFor();
  await page.getByText("Offline:").waitFor();
  await page.getByRole("link", { name: "Health" }).click();
  await page.getByText("Accepts requests").waitFor();
  await page.getByRole("button", { name: "Test now" }).click();
  await page.getByText("chunks in base").waitFor();
  await shoot(page, "real-health");
  await isSound(page);
  await page.getByRole("link", { name: "Budget" }).click();
  await page.getByText("This page uses no key.").waitFor();
  await page.getByRole("link", { name: "Keys" }).click();
  await page.getByLabel("Name").fill("operations");
  await page.getByRole("button", { name: "Make a key" }).click();
  await page.getByRole("button", { name: "Use it in this page" }).click();
  await page.getByText("this page", { exact: true }).waitFor();
  await page.getByLabel("Name").fill("readers");
  await page.getByLabel("Filter").fill("folder=docs");
  await page.getByRole("button", { name: "Make a key" }).click();
  const reader = await page.getByRole("dialog").locator("pre").textContent();
  await page.getByRole("button", { name: "I have copied it" }).click();
  await page.getByRole("heading", { name: "readers" }).waitFor();
  await shoot(page, "real-keys");
  await page.getByRole("link", { name: "Budget" }).click();
  await page.getByRole("heading", { name: "operations" }).waitFor();
  await isSound(page);
  // The other key may see no settings, but the counts of its own part of the base.
  await page.evaluate((kept) => sessionStorage.setItem("pikerag.key", kept), reader);
  await page.goto(`${url}#/settings/default/models`);
  await page.reload();
  await page.getByText("Not open to this key").waitFor();
  await page.getByRole("link", { name: "Health" }).click();
  await page.getByRole("heading", { name: "This base: Default base" }).waitFor();
  await page.context().close();
  close();
  await server.stop();
  await base.remove();
}

const browser = await launch();
try {
  await looks(browser);
  await models(browser);
  await chooses(browser);
  await tasksHaveModels(browser);
  await searchesHaveModels(browser);
  await basesAreManaged(browser);
  await keys(browser);
  await firstKeyStays(browser);
  await thisPage(browser);
  await closed(browser);
  if (process.env.PIKERAG) {
    await real(browser, process.env.PIKERAG);
  }
  console.log("the tab Settings does what it is to do");
} finally {
  await browser.close();
}
