// Tests the tab Ask in a browser, after a build; `DIST=folder` names another, `SHOTS=folder` keeps pictures, `PIKERAG=program` tries the program too.
import assert from "node:assert/strict";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { HOSTILE, answersOf } from "./ask-answers.mjs";
import { offersReadings } from "./ask-readings.mjs";
import { sources } from "./ask-sources.mjs";
import { DESKTOP, PHONE, becomes, isSound, launch, open, settled, shooter } from "./browser.mjs";
import { baseFolder, startServer } from "./real.mjs";
import { serve } from "./serve.mjs";
import { through } from "./through.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const dist = process.env.DIST ?? join(root, "web/dist");
const shoot = shooter("ask-");

const last = (page) => page.locator(".exchange").last();

async function ask(page, question, { isWaitedFor = true } = {}) {
  await page.locator("[data-main-input]").fill(question);
  await page.locator("[data-main-input]").press("Enter");
  await page.getByRole("heading", { name: question }).first().waitFor();
  if (isWaitedFor) {
    await last(page).locator(".answer, .problem, .gone").first().waitFor();
    await page.getByRole("button", { name: /^(Ask|提问)$/ }).waitFor();
  }
}

/** A question is asked, its steps come one by one, the answer stands on what was found. */
async function answers(browser, url, made) {
  const page = await open(browser, url);
  await page.getByText("10 documents in 42 passages").waitFor();
  await isSound(page);
  const input = page.getByLabel("Your question");
  await input.fill("How thin");
  await input.press("Shift+Enter");
  await input.pressSequentially("may it be?");
  await page.getByText("usually 3 calls, 2,250 tokens · $0.004, at most $0.02").waitFor();
  made.answering.shut();
  await input.press("Enter");
  await last(page).getByText("How the answer was found").waitFor();
  await last(page).getByText("Searches for").waitFor();
  await becomes(() => last(page).locator(".answer").count(), 0, "steps come before the answer");
  made.answering.open();
  await last(page).locator(".answer").waitFor();
  assert.deepEqual(made.asked.at(-1), { question: "How thin\nmay it be?", method: "pike", earlier: [] });
  await last(page).getByRole("status").getByText("The answer is: It is replaced below 6 mm").waitFor({ state: "attached" });
  await page.getByRole("button", { name: "Ask", exact: true }).waitFor();
  assert.match(await last(page).locator(".meta").textContent(), /3 calls · 1,630 tokens · paid \$0.0042/);
  await last(page).locator(".answer button[data-citation]").nth(2).waitFor();
  const checks = await last(page).locator(".answer button[data-citation]").evaluateAll((all) => all.map((one) => one.dataset.check));
  assert.deepEqual(checks, ["verified", "verified", "not_found"]);
  assert.equal(await last(page).locator(".text img, .text script").count(), 0);
  await last(page).getByText("only words are searched").waitFor();
  await isSound(page);
  await shoot(page, "answer");
  await settled(page);
  await last(page).locator(".answer button[data-citation]").first().hover();
  await page.locator(".hover .quote", { hasText: "制动衬片小于6毫米时，须立即更换。" }).waitFor();
  await shoot(page, "hover");
  await steps(page);
  await sources(page, last(page), shoot);
  await page.context().close();
}

async function steps(page) {
  const round = last(page).locator("li.round").first();
  await round.getByRole("button", { name: /^Finds/ }).click();
  const rows = round.locator(".candidates > li");
  await becomes(() => rows.count(), 4);
  await becomes(() => rows.evaluateAll((all) => all.map((one) => one.className.includes("chosen"))), [true, false, false, false]);
  assert.match(await rows.first().textContent(), /chosen.*atomic question.*0\.9/s);
  assert.match(await rows.nth(1).textContent(), /cited/);
  await round.getByRole("button", { name: /^Chooses/ }).click();
  await round.getByText("It tells the limit.").waitFor();
  await isSound(page);
  await shoot(page, "steps");
  await rows.nth(1).getByRole("button").click();
  await page.getByRole("dialog", { name: "Pump" }).waitFor();
  await page.keyboard.press("Escape");
  const fold = last(page).getByRole("button", { name: /How the answer was found/ });
  await fold.focus();
  await page.keyboard.press("Enter");
  await becomes(() => fold.getAttribute("aria-expanded"), "false");
  await page.keyboard.press("Enter");
}

/** Questions made from the documents: a click asks one. A long question is folded. */
async function suggests(browser, url, made) {
  const page = await open(browser, url);
  await page.getByRole("button", { name: /What is the port of 40-117 in “Cranes”\?/ }).waitFor();
  await isSound(page);
  await page.getByRole("button", { name: /Summarize “Handbook”/ }).click();
  await last(page).locator(".answer").waitFor();
  assert.equal(made.asked.at(-1).question, "Summarize “Handbook”.");
  const long = "Why is the crane out of service? ".repeat(90).trim();
  await ask(page, long);
  await last(page).getByRole("button", { name: "Show the whole question" }).click();
  await last(page).getByRole("button", { name: "Shorten the question" }).click();
  const height = await last(page).locator("h2").evaluate((one) => one.getBoundingClientRect().height);
  assert.ok(height < 160, `a question of 2,900 letters is ${height} pixels high`);
  await isSound(page);
  await page.context().close();
}

/** On a telephone: a citation that has the focus leaves with the address, and no state changes while Svelte draws. */
async function leavesCitation(browser, url) {
  const page = await open(browser, url, { viewport: PHONE, hasTouch: true });
  await ask(page, "Where is the crane?");
  await last(page).locator(".answer button[data-citation]").first().tap();
  await page.locator("dialog[open]").waitFor();
  await page.keyboard.press("Escape");
  await last(page).locator(".answer button[data-citation]").first().focus();
  await page.evaluate(() => (location.hash = "#/ask/default/kept0001"));
  await becomes(() => page.locator("[data-run='kept0001'] .answer").count(), 1);
  await isSound(page);
  await page.context().close();
}

/** A running question shows the call that it waits for, and can be stopped; a refusal is shown; an expensive question needs a confirmation. */
async function ends(browser, url, made) {
  const page = await open(browser, url);
  await ask(page, "a slow one", { isWaitedFor: false });
  await last(page).getByText("stub writes the answer").waitFor();
  await last(page).getByText("Draft, not checked yet").waitFor();
  await last(page).getByText(`The lining is replaced ${HOSTILE}`).waitFor();
  await last(page).getByText(/9 passages, about 3,100 tokens to read · \d+ sec · usually about 40 sec/).waitFor();
  await last(page).getByText("Searches for").waitFor();
  await shoot(page, "under-way");
  await page.getByRole("button", { name: "Stop" }).click();
  await last(page).getByText("Stopped.").waitFor();
  await becomes(() => made.stopped.length, 1, "the connection was dropped");
  await isSound(page);
  await ask(page, "a problem");
  await last(page).getByText("raise the cap").waitFor();
  await isSound(page);
  await last(page).getByRole("button", { name: "Try again" }).click();
  await last(page).getByText("Searches for").waitFor();
  await last(page).getByText("raise the cap").waitFor();
  await becomes(() => page.locator(".exchange").count(), 2, "in its place");
  await ask(page, "please refuse, and missing");
  await last(page).getByText("These documents do not answer the question").waitFor();
  await last(page).getByText("the price").waitFor();
  await isSound(page);
  await shoot(page, "refused");
  await page.getByRole("button", { name: "Method: pike" }).click();
  await page.getByLabel("Find a method").fill("prob");
  await isSound(page);
  await page.getByRole("button", { name: /probtree/ }).click();
  const before = made.asked.length;
  await page.locator("[data-main-input]").fill("What is expensive?");
  await page.locator("[data-main-input]").press("Enter");
  const dialog = page.getByRole("dialog", { name: "This question may be expensive" });
  await dialog.getByRole("row", { name: "US dollars $0.20 $1.40" }).waitFor();
  await isSound(page);
  await shoot(page, "expensive");
  assert.equal(made.asked.length, before);
  await dialog.getByLabel("Do not ask again").check();
  await dialog.getByRole("button", { name: "Ask it" }).click();
  await last(page).locator(".answer").waitFor();
  assert.equal(made.asked.at(-1).method, "probtree");
  await ask(page, "Again, without a word");
  await page.context().close();
}

/** Two methods side by side, a decision taken otherwise, a word on what is right. */
async function decides(browser, url, made) {
  const page = await open(browser, url);
  await page.getByRole("button", { name: "Options" }).click();
  await page.getByLabel("Compare two methods").check();
  await page.getByLabel("Filter", { exact: true }).fill("nonsense");
  await page.getByLabel("Filter", { exact: true }).press("Enter");
  await page.getByText("A condition needs a name, a sign and a value").waitFor();
  await page.getByLabel("Filter", { exact: true }).fill("folder=law");
  await page.getByLabel("Filter", { exact: true }).press("Enter");
  await page.getByLabel("Kind of question").selectOption("bridging");
  await isSound(page);
  await shoot(page, "options");
  await ask(page, "Which is better?");
  assert.deepEqual(made.asked.slice(-2).map((one) => [one.method, one.filter, one.class]), [["pike", ["folder=law"], "bridging"], ["naive-rag", ["folder=law"], "bridging"]]);
  await settled(page);
  const [left, right] = await last(page).locator(".run").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON()));
  assert.ok(left.right <= right.left && left.top === right.top, "side by side");
  await isSound(page);
  await shoot(page, "compared");
  await page.getByRole("button", { name: "New question" }).click();
  await page.getByRole("button", { name: "Options" }).click();
  await page.getByLabel("Compare two methods").uncheck();
  await page.getByRole("button", { name: "Options" }).click();
  await ask(page, "Which way?");
  await decide(page, "Chooses");
  await becomes(() => last(page).getByRole("button", { name: "Continue from here" }).isDisabled(), true);
  await last(page).getByLabel("Candidate").selectOption("1");
  await isSound(page);
  await shoot(page, "fork");
  await last(page).getByRole("button", { name: "Continue from here" }).click();
  await page.getByText("Decided differently at step 3: takes candidate 2").waitFor();
  await last(page).getByText("decided differently", { exact: true }).waitFor();
  await last(page).locator(".answer").waitFor();
  assert.deepEqual(made.asked.at(-1), { at: 3, change: { choice: 1 } });
  await isSound(page);
  await shoot(page, "forked");
  await judges(page);
  await page.context().close();
}

/** The button is shown where the pointer or the focus is. */
async function decide(page, step) {
  const button = last(page).getByRole("button", { name: `Decide differently: ${step}` });
  await button.focus();
  await button.click();
}

async function judges(page) {
  await last(page).getByRole("button", { name: "Correct", exact: true }).click();
  await last(page).getByLabel("The right answer").fill("Below 6 mm.");
  await last(page).getByLabel("Your name").fill("Ada");
  await isSound(page);
  await last(page).getByRole("button", { name: "Save" }).click();
  await last(page).getByText("Ada corrected this answer:").waitFor();
  await last(page).getByText("Below 6 mm.").waitFor();
  await isSound(page);
  await shoot(page, "judged");
}

/** A follow-up question sends the conversation; conversations are listed, opened, deleted; an address shows its run. */
async function remembers(browser, url, made) {
  const page = await open(browser, url, { permissions: ["clipboard-read", "clipboard-write"] });
  await ask(page, "Where is the crane?");
  await ask(page, "And when was it made?");
  await last(page).getByText("Understood as: And when was it made? (of the crane)").waitFor();
  assert.deepEqual(made.asked.at(-1).earlier.map((one) => one.by), ["person", "assistant"]);
  await isSound(page);
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("link", { name: "Ask", exact: true }).click();
  page.complaints.length = 0; // That tab asks for what is not made up here.
  await becomes(() => page.locator(".exchange").count(), 2, "it lives on while another tab is looked at");
  await last(page).getByRole("button", { name: "Copy link" }).click();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(link, /#\/ask\/default\/run\d+$/);
  await page.reload();
  await page.getByText("What do you want to know?").waitFor();
  await page.getByRole("button", { name: /^Conversations/ }).click();
  const drawer = page.getByRole("dialog", { name: "Conversations" });
  await isSound(page);
  await shoot(page, "conversations");
  await drawer.getByRole("button", { name: /^Where is the crane\?.*2 questions/ }).click();
  await page.locator(".exchange .answer").nth(1).waitFor();
  await isSound(page);
  await page.getByRole("button", { name: /^Conversations/ }).click();
  await drawer.getByRole("button", { name: /Delete the conversation “Where/ }).click();
  await drawer.getByText("Your questions are listed here").waitFor();
  await page.keyboard.press("Escape");
  await page.goto(link);
  await page.getByRole("heading", { name: "And when was it made? (of the crane)" }).waitFor();
  await last(page).locator(".answer").waitFor();
  await page.goto(`${url}#/ask/default/kept0001`);
  await page.getByText("Decided differently at step 3").waitFor();
  await page.goto(`${url}#/ask/default/gonegone`);
  await page.getByText("This run is no longer kept").waitFor();
  page.complaints.length = 0; // Chromium tells each 404.
  await isSound(page);
  await shoot(page, "gone");
  await page.goto(`${url}#/ask/empty`);
  await page.getByRole("link", { name: "Add documents" }).waitFor();
  await isSound(page);
  await shoot(page, "no-documents");
  await page.context().close();
}

/** Two hundred and forty events cost no more than a moment. */
async function isQuick(browser, url) {
  const page = await open(browser, url);
  await page.evaluate(() => {
    globalThis.longest = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => (globalThis.longest = Math.max(globalThis.longest, entry.duration)))).observe({ entryTypes: ["longtask"] });
  });
  await ask(page, "Why so many?");
  await last(page).getByText("240 steps").waitFor();
  const longest = await page.evaluate(() => globalThis.longest);
  console.log(`240 events: it stood still for ${Math.round(longest)} ms at most`);
  await page.context().close();
}

/** On every screen, in both languages, by day and night. */
async function looks(browser, url) {
  for (const [screen, viewport] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
    for (const [colorScheme, locale] of [["light", "en-US"], ["dark", "zh-CN"], ["light", "zh-CN"]]) {
      const page = await open(browser, url, { viewport, colorScheme, locale });
      const name = `${screen}-${colorScheme}-${locale.slice(0, 2)}`;
      await page.locator("main .begin").waitFor();
      await isSound(page);
      await shoot(page, `begin-${name}`);
      for (const question of ["What do figures say?", "Any ideas?"]) {
        await ask(page, question);
        await isSound(page);
        await shoot(page, `${question.split(" ")[1]}-${name}`);
      }
      await becomes(() => page.locator(".exchange canvas").count(), 1);
      await shoot(page, `whole-${name}`, { fullPage: true });
      await page.context().close();
    }
  }
}

/** The program itself, without a model: figures, a Chinese count, a PDF. */
async function real(browser, program) {
  const base = await baseFolder(program);
  await copyFile(join(root, "crates/parse/corpus/pdf/plain.pdf"), join(base.folder, "docs/plain.pdf"));
  await base.run("index", "docs");
  const server = await startServer(base);
  const { url, close } = await through(dist, server.url);
  try {
    const page = await open(browser, url);
    await page.getByText("No language model is set").waitFor();
    await ask(page, "How thin may a brake lining be before it is replaced?");
    await last(page).getByText("Quoted, not written by a model").waitFor();
    await last(page).locator(".answer button[data-citation='1']").click();
    await becomes(() => page.locator("dialog[open] mark").first().textContent(), "A brake lining thinner than 6 mm is replaced before the next shift.");
    await page.keyboard.press("Escape");
    await decide(page, "Kind of question");
    await last(page).getByLabel("Kind of question").selectOption("summarizing");
    await last(page).getByRole("button", { name: "Continue from here" }).click();
    await page.getByText("Decided differently at step 1").waitFor();
    await last(page).locator(".answer").waitFor();
    await ask(page, "How many repairs will there be in January 2025?");
    await last(page).locator("canvas").waitFor();
    await ask(page, "青砚港的起重机多久检查一次钢丝绳？");
    await last(page).locator(".answer").waitFor();
    await isSound(page);
    await shoot(page, "real");
    const run = await page.evaluate(() => JSON.parse(localStorage.getItem("pikerag.conversations/default"))[0].exchanges[2].runs[0].id);
    await page.goto(`${url}#/ask/default/${run}`);
    await page.reload();
    await last(page).locator("canvas").waitFor();
    await last(page).getByRole("button", { name: "Right" }).click();
    await last(page).getByLabel("Your name").fill("Ada");
    await last(page).getByRole("button", { name: "Save" }).click();
    await last(page).getByText("Ada verified this answer.").waitFor();
    await page.context().close();
    await pdf(browser, url);
  } finally {
    close();
    await server.stop();
    await base.remove();
  }
}

async function pdf(browser, url) {
  const page = await open(browser, url);
  const all = await page.evaluate(() => fetch("./api/v1/bases/default/sources").then((answer) => answer.json()));
  const { id } = all.find((one) => one.uri.endsWith("plain.pdf"));
  const { chunks } = await page.evaluate((source) => fetch(`./api/v1/bases/default/sources/${source}`).then((answer) => answer.json()), id);
  const words = /[^.\n]{20,}\./.exec(chunks[0].text)?.[0].trim() ?? chunks[0].text.slice(0, 30);
  await page.getByRole("button", { name: "Options" }).click();
  await page.getByLabel("Filter", { exact: true }).fill("path=docs/plain.pdf");
  await ask(page, words);
  await last(page).locator(".answer button[data-citation]").first().click();
  const drawer = page.locator("dialog[open]");
  await drawer.locator(".mark.words").first().waitFor();
  const inside = await drawer.locator(".mark.words").evaluateAll((all) => all.every((mark) => {
    const [one, whole] = [mark, mark.parentElement].map((element) => element.getBoundingClientRect());
    return whole.left <= one.left && one.right <= whole.right && whole.top <= one.top && one.bottom <= whole.bottom && one.height < whole.height / 20;
  }));
  assert.ok(inside, "words are marked on the page, not all of it");
  await isSound(page);
  await shoot(page, "real-pdf");
  await page.context().close();
}

const made = answersOf();
const browser = await launch();
try {
  const { url, close } = await serve(dist, made.answers);
  await answers(browser, url, made);
  await suggests(browser, url, made);
  await leavesCitation(browser, url);
  await ends(browser, url, made);
  await decides(browser, url, made);
  await remembers(browser, url, made);
  await offersReadings(browser, url, made, ask, shoot);
  await isQuick(browser, url);
  await looks(browser, url);
  close();
  if (process.env.PIKERAG) {
    await real(browser, process.env.PIKERAG);
  }
  console.log("the tab Ask does what it is to do");
} finally {
  await browser.close();
}
