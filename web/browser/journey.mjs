// Tests the whole journey from an empty base to a forgotten document, in the page that the program carries (`PIKERAG=path`), in both languages
// and on a telephone, and that nothing hostile runs. `SHOTS=folder` keeps pictures, `ONLY=phone` does one part.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";

import { DESKTOP, PHONE, isSound, launch, open, settled, shooter } from "./browser.mjs";
import { HOSTILE, makeDocuments, makeHostile } from "./journey-documents.mjs";
import { startModel } from "./journey-model.mjs";
import { place, wordsOf } from "./journey-place.mjs";
import { startServer } from "./real.mjs";

const program = process.env.PIKERAG;
const shoot = shooter("journey-");
/** One part alone. */
const only = process.env.ONLY;
const JOURNEYS = [
  ["en", DESKTOP, "en"],
  ["zh", DESKTOP, "zh"],
  ["en", PHONE, "phone"],
];
const hasTesseract = await new Promise((resolve) => spawn("tesseract", ["--version"]).on("error", () => resolve(false)).on("close", (code) => resolve(code === 0)));

/** Chromium reports each 404, as of a base that is not there yet, and each name that is refused. */
const sound = (page) => isSound(page, { expected: /status of 40[04]/ });

const last = (page) => page.locator(".exchange").last();

async function brings(page, words, files) {
  await page.getByText(words.intake.emptyTitle).waitFor();
  await sound(page);
  await page.locator("[data-pick='files']").setInputFiles(files);
  await page.getByRole("heading", { name: words.estimate.title }).waitFor();
  await sound(page);
  await page.getByRole("button", { name: words.estimate.index, exact: true }).click();
  await page.getByText(words.jobs.ended.done).first().waitFor({ state: "attached" });
}

/** A conversation of its own. */
async function begins(page, server) {
  await page.goto(`${server.url}/#/ask/default`);
  await page.reload();
  await page.locator(".begin").waitFor();
}

async function asks(page, words, question, method) {
  if (method) {
    const picker = page.locator("button.picker").first();
    const search = page.getByLabel(words.methods.search);
    await picker.click();
    // A forecast that comes meanwhile can move the button from under the click.
    await search.waitFor({ timeout: 10_000 }).catch(() => picker.click());
    await search.fill(method);
    await page.getByRole("button", { name: new RegExp(`^${method}\\b`) }).first().click();
  }
  await page.locator("[data-main-input]").fill(question);
  await page.locator("[data-main-input]").press("Enter");
  await last(page).locator(".answer").waitFor();
}

/** The words that are cited stand where the picture of the page is marked. */
async function isMarked(page, language) {
  await last(page).locator(".answer button[data-citation='1']").click();
  const drawer = page.locator("dialog[open]");
  await drawer.locator(".mark.words").first().waitFor();
  await settled(page);
  const seen = await drawer.locator(".mark.words").first().evaluate((mark) => {
    const [own, whole] = [mark, mark.parentElement].map((element) => element.getBoundingClientRect());
    return { share: (own.width * own.height) / (whole.width * whole.height), inside: whole.left <= own.left && own.right <= whole.right + 1 };
  });
  assert.ok(seen.inside && 0.0005 < seen.share && seen.share < 0.08, `a line of the page, not all of it (${language}): ${JSON.stringify(seen)}`);
}

/** A whole journey. */
async function journey(browser, language, viewport, name) {
  const [knowledge, ask, common] = await Promise.all(["knowledge", "ask", "common"].map((tab) => wordsOf(tab, language)));
  const model = await startModel();
  const base = await place(program, model);
  const server = await startServer(base);
  try {
    const documents = await makeDocuments(browser, join(base.folder, "mine"));
    const files = Object.values(documents).filter((file) => hasTesseract || file !== documents.scan);
    const page = await open(browser, `${server.url}/#/knowledge/default`, { viewport, locale: language === "zh" ? "zh-CN" : "en-US", colorScheme: language === "zh" ? "dark" : "light" });
    await brings(page, knowledge, files);
    await shoot(page, `${name}-brought`);
    for (const [question, kind] of [["How much does the winch haul?", "columns"], ["码头的绞车可拉多少吨？", "chinese"], ...(hasTesseract ? [["When is the boiler inspected?", "scan"]] : [])]) {
      await begins(page, server);
      await asks(page, ask, question);
      await isMarked(page, kind);
      await sound(page);
      await shoot(page, `${name}-${kind}`);
      await page.keyboard.press("Escape");
    }
    await begins(page, server);
    await asks(page, ask, "What does the crane lift?", "kar3");
    await last(page).getByRole("button", { name: new RegExp(`^${ask.fork.open}`) }).first().focus();
    await page.keyboard.press("Enter");
    await last(page).locator("textarea, select").first().waitFor();
    const lines = last(page).locator("form textarea, .fork textarea").first();
    await lines.fill("Who built the crane?");
    await last(page).getByRole("button", { name: ask.fork.go }).click();
    await last(page).getByText(ask.fork.changed, { exact: true }).waitFor();
    await last(page).locator(".answer").waitFor();
    await sound(page);
    await shoot(page, `${name}-forked`);
    await last(page).getByRole("button", { name: ask.feedback.accept, exact: true }).click();
    await settled(page);
    const by = last(page).getByLabel(ask.feedback.by);
    if (await by.count()) {
      await by.fill("Ada");
      await last(page).getByRole("button", { name: ask.feedback.send }).click();
    }
    await last(page).getByText(ask.feedback.judged.accepted("Ada")).waitFor();
    // A link of an answer elsewhere leads to the passage in its document.
    const { hits } = await (await fetch(`${server.url}/api/v1/bases/default/search`, { method: "POST", headers: { "content-type": "application/json" }, body: '{"query": "crane"}' })).json();
    await page.goto(`${server.url}/passages/default/${hits[0].chunk.id}`);
    await page.getByRole("link").click();
    await page.waitForURL(new RegExp(`documents/[0-9a-f]{16}\\?chunk=${hits[0].chunk.id}`));
    await page.goto(`${server.url}/#/knowledge/default/graph`);
    await page.getByRole("button", { name: knowledge.graph.overview }).click();
    await page.getByText(/^\d+ |\d+/).first().waitFor();
    await page.getByRole("button", { name: knowledge.graph.asList }).waitFor();
    await sound(page);
    await shoot(page, `${name}-graph`);
    await page.goto(`${server.url}/#/knowledge/default/records`);
    await page.getByText("A-1").first().waitFor();
    await sound(page);
    await shoot(page, `${name}-records`);
    await page.goto(`${server.url}/#/knowledge/default/verified`);
    await page.getByText("Ada").first().waitFor();
    await sound(page);
    await forgets(page, server, knowledge, name);
    await page.context().close();
  } finally {
    await server.stop();
    model.stop();
    await base.remove();
  }
  console.log(`${name}: from an empty base to a document that is forgotten`);
}

async function forgets(page, server, words, name) {
  await page.goto(`${server.url}/#/knowledge/default/documents`);
  await page.getByText("columns.pdf").first().click();
  await page.getByRole("button", { name: words.document.delete }).click();
  const dialog = page.locator("dialog[open]");
  await dialog.getByRole("radio").nth(1).check();
  await sound(page);
  await shoot(page, `${name}-forget`);
  await dialog.getByRole("textbox").fill("columns.pdf");
  await dialog.getByRole("button", { name: words.deletion.forgetNow }).click();
  await page.getByText(words.deletion.forgotten("").trim(), { exact: false }).first().waitFor();
  const files = await (await fetch(`${server.url}/api/v1/bases/default/files`)).text();
  assert.ok(!files.includes("columns.pdf"), files);
}

/** Forty inputs in names, titles, texts and tables, and in all that a model says: each is shown, none runs. */
async function nothingRuns(browser) {
  const model = await startModel(HOSTILE.join(" "));
  const base = await place(program, model);
  const server = await startServer(base);
  const knowledge = await wordsOf("knowledge", "en");
  const ask = await wordsOf("ask", "en");
  try {
    const files = await makeHostile(join(base.folder, "mine"));
    files.push((await makeDocuments(browser, join(base.folder, "mine"))).notes);
    const page = await open(browser, `${server.url}/#/knowledge/default`);
    let dialogs = 0;
    page.on("dialog", (dialog) => {
      dialogs += 1;
      void dialog.dismiss();
    });
    await brings(page, knowledge, files);
    await page.locator("[role=row], [role=option], .row-line").nth(3).waitFor();
    await sound(page);
    await page.getByText(/onerror/).first().click();
    await sound(page);
    await page.goto(`${server.url}/#/ask/default`);
    for (const [question, method] of [["What does the crane lift?"], [`Hostile passage 1 ${HOSTILE[1]}?`, "kar3"]]) {
      await begins(page, server);
      await asks(page, ask, question, method);
      await sound(page);
      await settled(page);
      const citation = last(page).locator(".answer button[data-citation='1']");
      if (await citation.count()) {
        await citation.click();
        await sound(page);
        await page.keyboard.press("Escape");
      }
    }
    await shoot(page, "hostile");
    for (const place of ["knowledge/default/graph", "knowledge/default/records", "knowledge/default/tags", "runs/default", "settings/default"]) {
      await page.goto(`${server.url}/#/${place}`);
      await settled(page);
      if (place.endsWith("graph")) {
        await page.getByRole("button", { name: knowledge.graph.overview }).click();
      }
      await sound(page);
    }
    assert.equal(dialogs, 0);
    await page.context().close();
  } finally {
    await server.stop();
    model.stop();
    await base.remove();
  }
  console.log(`${HOSTILE.length} hostile inputs in names, documents and replies: none ran`);
}

if (!program) {
  console.log("LEFT OUT: the journey through the page: PIKERAG names no program");
} else {
  if (!hasTesseract) {
    console.log("LEFT OUT of the journey: a scanned page: Tesseract is not installed");
  }
  const browser = await launch();
  try {
    for (const [language, viewport, name] of JOURNEYS.filter(([, , name]) => !only || name === only)) {
      await journey(browser, language, viewport, name);
    }
    if (!only || only === "hostile") {
      await nothingRuns(browser);
    }
  } catch (error) {
    for (const [number, page] of browser.contexts().flatMap((context) => context.pages()).entries()) {
      await shoot(page, `failed-${number}`).catch(() => undefined);
    }
    throw error;
  } finally {
    await browser.close();
  }
}
