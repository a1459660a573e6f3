// Tests the tab Runs in a browser, after a build; `DIST=folder` names another, `SHOTS=folder` keeps pictures, `PIKERAG=program` tries the program too.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { DESKTOP, PHONE, becomes, isSound, launch, open, settled, shooter } from "./browser.mjs";
import { baseFolder, openAt, startServer } from "./real.mjs";
import { sendProblem, serve } from "./serve.mjs";

const dist = process.env.DIST ?? fileURLToPath(new URL("../dist", import.meta.url));
const shoot = shooter("runs-", { fullPage: true });
const DAY = 86_400_000;
const HOSTILE = '<img src=x onerror="alert(1)"> [x](javascript:alert(1))';

const METHODS = ["kar3", "naive-rag", "pike", "ircot", "adaptive"];
const usage = (prompt_tokens, completion_tokens) => ({ prompt_tokens, completion_tokens });

function makeRun(number, more = {}) {
  const calls = number % 4;
  const spent = calls === 0 ? {} : { propose: [calls, usage(900 * calls, 60 * calls)], answer: [1, usage(1500 + 40 * number, 80)] };
  const paid = number % 3 === 1 ? {} : spent;
  const started = Date.now() - Math.floor(number / 8) * DAY - (number % 8) * 3_000_000;
  return {
    id: `run${String(number).padStart(5, "0")}`, method: METHODS[number % METHODS.length], parameters: { k: 4, n: 5, fallback: "auto" }, process: 1, interrupted: false,
    question: { id: "asked", text: number === 3 ? HOSTILE : number % 3 === 0 ? "哪台起重机的停机时间最长？" : `Which crane had the most downtime in month ${number}?` },
    state: number === 5 ? "failed" : number === 9 ? "running" : "answered", started, ended: started + 300 + 10 * number, error: number === 5 ? "no model is set" : null,
    cost: { spent: { by_role: spent }, paid: { by_role: paid } }, usd: usdOf(number, spent, paid),
    answer: number === 5 ? null : answer(`Crane 62-019 had the most: ${100 + number} hours [1]. ${HOSTILE}`), ...more,
  };
}

/** Of one run in ten no price is known, of another one in ten not that of one role. */
function usdOf(number, spent, paid) {
  const priced = (roles) => Object.fromEntries(Object.entries(roles).map(([role, [, used]]) => [role, used.prompt_tokens * 1e-5 + used.completion_tokens * 2e-5]));
  const sum = (roles) => Object.values(roles).reduce((all, one) => all + one, 0);
  const { propose, ...rest } = priced(paid);
  return number % 10 === 3 || (number % 10 === 6 && propose)
    ? { spent: null, paid: null, paid_by_role: number % 10 === 6 ? rest : {} }
    : { spent: sum(priced(spent)), paid: sum(priced(paid)), paid_by_role: priced(paid) };
}

function answer(text) {
  const citations = [{ number: 1, chunk: "c1", uri: "docs/repairs-2024.csv", title: "repairs 2024", page: 3, quote: `order: MR-24-005; crane: 62-019 ${HOSTILE}`, span: { start: 0, end: 9 }, check: "verified" }];
  return { text, rationale: "Summed over all orders.", refused: false, written_by: { kind: "language_model", model: "stub" }, citations, context: { chunks: [] } };
}

function eventsOf(run) {
  const make = (seq, event, more = {}) => ({ run, seq, parent: seq ? seq - 1 : null, time: 1_000_000 + 40 * seq, ...event, ...more });
  return [
    make(0, { event: "began", method: "kar3", question: "Which crane?" }),
    make(1, { event: "proposed", hop: 1, proposals: ["Which cranes are there?", HOSTILE], thinking: "Two things are missing." }, { decision: true, calls: ["a"] }),
    make(2, { event: "retrieved", hop: 1, candidates: [{ atom: null, chunk: "c1", parts: {}, proposal: "", score: 0.75, text: "order: MR-24-005", title: "repairs 2024", via: "atoms" }] }),
    make(3, { event: "selected", hop: 1, index: 0, chunk: "c1", title: "repairs 2024", thinking: "" }, { decision: true, calls: ["b"] }),
    make(4, { event: "a_kind_of_tomorrow" }),
    make(5, { event: "answered", answer: "62-019" }),
  ];
}

const runs = Array.from({ length: 300 }, (_, number) => makeRun(number, number === 7 ? { filter: ["folder=law"] } : {}));
const one = { ...runs[0], events: eventsOf("run00000") };
const lines = [
  { of: "both", event: one.events[0] }, { of: "first", event: one.events[1] }, { of: "first", event: one.events[2] },
  { of: "second", event: { ...one.events[3], run: "run00001" } }, { of: "both", event: one.events[5] },
];
const interval = (mean) => ({ mean, low: Math.max(0, mean - 0.12), high: Math.min(1, mean + 0.09) });
const summary = (method, f1, calls) => ({ method, questions: 50, failed: 0, em: interval(f1 - 0.1), f1: interval(f1), further: { acc: interval(f1) }, calls: { mean: calls, low: calls, high: calls }, prompt_tokens: { mean: 900 * calls, low: 1, high: 9 }, completion_tokens: { mean: 90 * calls, low: 1, high: 9 }, usd: 0.001 * calls });
const overall = [summary("kar3", 0.71, 7.4), summary("naive-rag", 0.44, 1), summary("ircot", 0.62, 4.1), summary("adaptive", 0.69, 1.8)];
const significance = [{ method: "naive-rag", against: "kar3", metric: "em", questions: 50, difference: { mean: -0.27, low: -0.4, high: -0.1 }, p: 0.001, p_holm: 0.003 }];
const report = { overall, by_hops: [{ name: "2", summaries: overall }], significance, data_sets: [] };

const answers = {
  "GET /api/v1/bases": [{ name: "default" }],
  "GET /api/v1/bases/default/runs": runs,
  "GET /api/v1/bases/default/runs/run00000": one,
  "POST /api/v1/bases/default/runs/run00000/replay": { run: "x", is_kept: false },
  "GET /api/v1/bases/default/runs/run00005": { ...runs[5], events: eventsOf("run00005") },
  "GET /api/v1/bases/default/runs/run00006": { ...runs[6], events: eventsOf("run00006") },
  "GET /api/v1/bases/default/runs/run00002/diff/run00003": { alike: 6, both: 1, first: runs[2], second: runs[3], lines: [], only_first: [], only_second: [] },
  "GET /api/v1/bases/default/runs/run00000/diff/run00001": { alike: 1, both: 2, first: runs[0], second: runs[1], lines, only_first: ["repairs 2024", HOSTILE], only_second: [] },
  "GET /api/v1/evaluations": { is_set: true, reports: [{ name: "hotpotqa/one", written: Date.now() - DAY }, { name: "two", written: Date.now() - 3 * DAY }] },
  "GET /api/v1/evaluations/report": { name: "hotpotqa/one", report },
};

const PLACES = { history: "", time: "/time", run: "/run00000", diff: "/run00000/diff/run00001", evaluations: "/evaluations", report: "/evaluations?name=hotpotqa%2Fone" };

async function looks(browser) {
  const { url, close } = await serve(dist, answers);
  for (const [screen, viewport] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
    for (const [colorScheme, locale] of [["light", "en-US"], ["dark", "zh-CN"]]) {
      const page = await open(browser, `${url}#/runs/default`, { viewport, colorScheme, locale });
      for (const [name, place] of Object.entries(PLACES)) {
        await page.goto(`${url}#/runs/default${place}`);
        await page.locator("main h1").waitFor();
        await isSound(page);
        await shoot(page, `${name}-${screen}-${colorScheme}`);
      }
      assert.equal(await page.locator("main img").count(), 0);
      await page.context().close();
    }
  }
  close();
}

async function hasRows(page, count) {
  await page.locator(`[role=grid][aria-rowcount="${count}"]`).waitFor();
}

async function history(browser) {
  const { url, close } = await serve(dist, answers);
  const page = await open(browser, `${url}#/runs/default`);
  const grid = page.getByRole("grid");
  await grid.waitFor();
  await becomes(() => grid.getAttribute("aria-rowcount"), "300");
  await settled(page);
  assert.ok((await grid.getByRole("row").count()) < 40);
  await grid.getByText(HOSTILE).waitFor();
  await page.getByRole("searchbox").fill("起重机");
  await hasRows(page, 99);
  assert.match(page.url(), /text=/);
  await page.reload();
  await grid.waitFor();
  await becomes(() => grid.getAttribute("aria-rowcount"), "99");
  await page.getByRole("combobox", { name: "State" }).selectOption("failed");
  await page.getByText("No matching run").waitFor();
  await page.getByRole("link", { name: "Clear the filter" }).click();
  await grid.waitFor();
  await page.getByRole("combobox", { name: "Method" }).selectOption("ircot");
  await hasRows(page, 60);
  await page.goto(`${url}#/runs/default`);
  // Two are picked and compared; the keyboard opens one.
  await grid.getByRole("checkbox").nth(1).check();
  await grid.getByRole("checkbox").nth(0).check();
  await page.getByText("2 of 2 selected").waitFor();
  await shoot(page, "picked");
  await page.locator("a[href*='/run0000'][href*='/diff/run0000']", { hasText: "Compare the two" }).waitFor();
  await settled(page);
  await grid.getByRole("row").first().focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/run00000$/);
  await page.waitForFunction(() => document.activeElement?.tagName === "H1");
  close();
  await page.context().close();
}

async function oneRun(browser) {
  let diverges = false;
  const replay = (request, response) => (diverges ? sendProblem(response, 409, "run-diverged", { detail: "it did not come as it had: the base or the settings have changed since that run", seq: 3 }) : { run: "x" });
  const { url, close } = await serve(dist, { ...answers, "POST /api/v1/bases/default/runs/run00000/replay": replay });
  const page = await open(browser, `${url}#/runs/default/run00000`, { permissions: ["clipboard-read", "clipboard-write"] });
  await page.getByRole("heading", { name: "哪台起重机" }).waitFor();
  await page.getByText("a_kind_of_tomorrow").waitFor();
  await becomes(() => page.getByRole("link", { name: "Open in Ask" }).getAttribute("href"), "#/ask/default/run00000");
  await page.getByRole("button", { name: "Replay" }).click();
  await page.getByText("The replay gave the same steps").waitFor();
  diverges = true;
  await page.getByRole("button", { name: "Replay" }).click();
  await page.getByText("up to step 2 and differs from step 3").waitFor();
  page.complaints.length = 0; // Chromium tells the 409.
  await page.getByRole("button", { name: "Show that step" }).click();
  await page.waitForFunction(() => /^3★\s*Chooses\s+1\. repairs 2024/.test(document.activeElement?.textContent?.trim()));
  await shoot(page, "diverged");
  await isSound(page);
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.getByText("Copied").waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), page.url());
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download JSON" }).click()]);
  assert.equal(download.suggestedFilename(), "run-run00000.json");
  assert.deepEqual(JSON.parse(await readFile(await download.path(), "utf8")), JSON.parse(JSON.stringify(one)));
  await page.getByRole("button", { name: "Compare…" }).click();
  const dialog = page.getByRole("dialog", { name: "Compare with which run?" });
  await dialog.getByRole("link").first().waitFor();
  await isSound(page);
  await shoot(page, "picker", {});
  await dialog.getByRole("searchbox").fill("run00001");
  await dialog.getByRole("link").first().click();
  await page.getByRole("heading", { name: "Comparison of two runs" }).waitFor();
  await page.getByText("They differ from here").waitFor();
  await page.getByLabel("Hide equal steps").check();
  await becomes(() => page.getByText("kar3: Which crane?").count(), 0);
  await page.getByRole("link", { name: "Swap" }).waitFor();
  close();
  await page.context().close();
}

/** What the server says that runs cost; of what it knows no price, nothing is made up. */
async function money(browser) {
  const { url, close } = await serve(dist, answers);
  const page = await open(browser, `${url}#/runs/default`);
  const sum = (some) => some.reduce((all, { usd }) => all + (usd.paid ?? Object.values(usd.paid_by_role).reduce((one, other) => one + other, 0)), 0);
  const shown = (dollars) => new Intl.NumberFormat("en-US", { style: "currency", currency: "USD", maximumFractionDigits: 2 }).format(dollars);
  const total = () => page.locator("dl > div").filter({ has: page.getByText("Paid", { exact: true }) }).locator("dd").allInnerTexts();
  await becomes(total, [`at least ${shown(sum(runs))}`, "at today’s prices; some are unknown"]);
  await page.getByRole("row").filter({ has: page.locator("a[href$=run00006]") }).getByText("at least $0.019").waitFor();
  await page.getByRole("row").filter({ has: page.locator("a[href$=run00002]") }).getByText("≈ $0.038").waitFor();
  await becomes(() => page.getByRole("row").filter({ has: page.locator("a[href$=run00003]") }).getByText("$").count(), 0);
  await page.getByRole("combobox", { name: "Method" }).selectOption("kar3");
  await becomes(total, [shown(sum(runs.filter(({ method }) => method === "kar3"))), "at today’s prices"]);
  await page.goto(`${url}#/runs/default/time`);
  await page.getByRole("img", { name: "Estimated money per day" }).locator("canvas").waitFor();
  await page.getByText("As a table").last().click();
  await page.getByRole("region", { name: "Estimated money per day" }).getByText("at least $").first().waitFor();
  await isSound(page);
  await shoot(page, "money-per-day");
  await page.goto(`${url}#/runs/default/run00006`);
  const table = page.getByRole("region", { name: "Calls and tokens by model role" });
  await becomes(() => table.locator("tr > :last-child").allInnerTexts(), ["Money paid", "–", "$0.019", "at least $0.019"]);
  await shoot(page, "cost-table");
  await page.goto(`${url}#/runs/default/run00002/diff/run00003`);
  await becomes(() => page.getByRole("row", { name: "Money paid" }).locator("td").allInnerTexts(), ["$0.038", "–"]);
  close();
  await page.context().close();
  // Without any price there is no column.
  const usd = { spent: null, paid: null, paid_by_role: {} };
  const bare = await serve(dist, { ...answers, "GET /api/v1/bases/default/runs": runs.map((run) => ({ ...run, usd })), "GET /api/v1/bases/default/runs/run00006": { ...answers["GET /api/v1/bases/default/runs/run00006"], usd } });
  const other = await open(browser, `${bare.url}#/runs/default/time`);
  await other.getByText("No price is known").waitFor();
  await other.getByRole("img", { name: "Calls per day" }).waitFor();
  await becomes(() => other.getByRole("img", { name: "Estimated money per day" }).count(), 0);
  await other.goto(`${bare.url}#/runs/default/run00006`);
  await other.getByRole("region", { name: "Calls and tokens by model role" }).waitFor();
  await becomes(() => other.getByText("Money paid").count(), 0);
  bare.close();
  await other.context().close();
}

async function evaluations(browser) {
  const { url, close } = await serve(dist, answers);
  const page = await open(browser, `${url}#/runs/default/evaluations`);
  await page.getByRole("link", { name: "hotpotqa/one" }).click();
  const table = page.getByRole("region", { name: "All questions" });
  await table.waitFor();
  const first = () => table.locator("tbody th").first().textContent();
  await becomes(first, "kar3");
  await table.getByRole("button", { name: "Calls" }).click();
  await table.getByRole("button", { name: "Calls" }).click();
  await becomes(first, "naive-rag");
  await becomes(() => table.locator("[aria-sort=ascending]").count(), 1);
  await page.getByLabel("Quality").selectOption("em");
  await page.getByRole("img", { name: "EM against Calls" }).locator("canvas").waitFor();
  await page.getByText("As a table").click();
  await page.getByRole("region", { name: "EM against Calls" }).getByText("adaptive").waitFor();
  close();
  await page.context().close();

  for (const [reports, words] of [[{ is_set: false, reports: [] }, "No folder for reports is set"], [{ is_set: true, reports: [] }, "No reports yet"]]) {
    const bare = await serve(dist, { ...answers, "GET /api/v1/evaluations": reports });
    const other = await open(browser, `${bare.url}#/runs/default/evaluations`);
    await other.getByText(words).waitFor();
    await isSound(other);
    await shoot(other, `evaluations-${reports.is_set}`);
    bare.close();
    await other.context().close();
  }
}

/** What is closed to a key, fails or is empty says so, and the rest works. */
async function otherwise(browser) {
  let isBroken = true;
  const { url, close } = await serve(dist, {
    ...answers,
    "GET /api/v1/evaluations": (request, response) => sendProblem(response, 403, "only-part"),
    "GET /api/v1/bases/default/runs": (request, response) => (isBroken ? sendProblem(response, 503, "base-busy", { fault: "server" }) : []),
  });
  const page = await open(browser, `${url}#/runs/default/evaluations`);
  await page.getByText("Not open to this key").waitFor();
  await page.getByRole("link", { name: "History" }).click();
  await page.getByText("base-busy").waitFor();
  isBroken = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("No runs yet").waitFor();
  await page.goto(`${url}#/runs/default/nowhere1`);
  await page.getByText("no-such-route").waitFor();
  await page.getByRole("link", { name: "All runs" }).waitFor();
  page.complaints.length = 0;
  await isSound(page);
  close();
  await page.context().close();
}

async function real(browser, program) {
  const base = await baseFolder(program);
  const question = "Which cranes stand in the port of Gullhaven?";
  for (const method of ["naive-rag", "kar3-hops", "pike"]) {
    await base.run("ask", question, "--method", method);
  }
  await base.run("eval", "--questions", "questions.jsonl", "--corpus", "docs", "--methods", "kar3-hops,naive-rag", "--limit", "4", "--out", "reports/one");
  let server = await startServer(base);
  const { url, close } = await serve(dist);
  let page = await openAt(browser, `${url}#/runs/default`, server.url);
  await page.getByRole("grid").waitFor();
  await becomes(() => page.getByRole("grid").getAttribute("aria-rowcount"), "3");
  await page.getByRole("row").filter({ hasText: "kar3-hops" }).getByRole("link").click();
  await page.getByText("Finds 4 candidates").first().waitFor();
  await page.getByRole("button", { name: "Replay" }).click();
  await page.getByText("The replay gave the same steps").waitFor();
  const run = page.url();
  await page.locator(".answer button[data-citation='1']").click();
  await page.locator("dialog mark").first().waitFor();
  await shoot(page, "real-citation", {});
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Compare…" }).click();
  await page.getByRole("dialog").getByRole("link").filter({ hasText: "pike" }).click();
  await page.getByText("then they differ").waitFor();
  await shoot(page, "real-diff");
  await page.goto(`${url}#/runs/default/evaluations?name=one`);
  await page.getByRole("img", { name: /against Seconds/ }).locator("canvas").waitFor();
  await shoot(page, "real-report");
  await isSound(page);
  await page.context().close();
  await server.stop();
  // What it was answered from is gone: the replay says where it parts.
  await base.run("delete", "docs/ports.md");
  server = await startServer(base);
  page = await openAt(browser, run, server.url);
  await page.getByRole("button", { name: "Replay" }).click();
  await page.getByText(/differs from step \d/).waitFor();
  await shoot(page, "real-diverged");
  await page.context().close();
  await server.stop();
  close();
  await base.remove();
}

const browser = await launch();
try {
  await looks(browser);
  await history(browser);
  await oneRun(browser);
  await money(browser);
  await evaluations(browser);
  await otherwise(browser);
  if (process.env.PIKERAG) {
    await real(browser, process.env.PIKERAG);
  }
  console.log("the tab Runs does what it is to do");
} finally {
  await browser.close();
}
