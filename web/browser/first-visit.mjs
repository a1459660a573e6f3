// Tests a first visit in the page that the program carries (`PIKERAG=path`): a model is found and chosen, documents come in, the first question is
// answered, by keyboard alone, in both languages and on a telephone. `SHOTS=folder` keeps pictures, `ONLY=phone` does one part.
import assert from "node:assert/strict";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { DESKTOP, PHONE, becomes, isSound, launch, open, settled, shooter } from "./browser.mjs";
import { FACTS, startModel } from "./journey-model.mjs";
import { emptyPlace, wordsOf } from "./journey-place.mjs";
import { startServer } from "./real.mjs";

const program = process.env.PIKERAG;
const only = process.env.ONLY;
const shoot = shooter("first-visit-", { fullPage: true });
/** Chromium reports each 404, as of a base that is not there yet. */
const sound = (page) => isSound(page, { expected: /status of 40[04]/ });
const KEY = "sk-typed-by-a-newcomer";

const focused = (page) => page.evaluate(() => document.activeElement?.textContent?.trim());

/** Presses a button as a user without a mouse would. */
async function presses(page, name, role = "button") {
  await page.getByRole(role, { name, exact: true }).first().focus();
  await page.keyboard.press("Enter");
}

/** Everything that a visit needs, with the words of its language. */
async function visit(browser, language, viewport, colorScheme) {
  const [models, knowledge, common] = await Promise.all(["models", "knowledge", "common"].map((tab) => wordsOf(tab, language)));
  const model = await startModel();
  const place = await emptyPlace(program, model);
  const server = await startServer(place);
  const page = await open(browser, `${server.url}/#/ask/default`, { viewport, colorScheme, locale: language === "zh" ? "zh-CN" : "en-US" });
  await page.getByRole("heading", { name: models.first.title }).waitFor();
  const ends = async () => {
    await page.context().close();
    await server.stop();
    model.stop();
    await place.remove();
  };
  return { models, knowledge, common, model, place, page, ends };
}

/** Adds a document; a cost is only shown, and confirmed, with a model. */
async function addsDocument({ page, place, knowledge, models }, costs = true) {
  await page.waitForURL(/#\/knowledge\/default/);
  const file = join(place.folder, "harbour.md");
  await writeFile(file, `# Harbour\n\n${FACTS.map(({ sentence }) => sentence).join("\n\n")}\n`);
  await page.locator("[data-pick='files']").setInputFiles([file]);
  if (costs) {
    await page.getByRole("heading", { name: knowledge.estimate.title }).waitFor();
    await page.getByRole("button", { name: knowledge.estimate.index, exact: true }).focus();
    await page.keyboard.press("Enter");
  }
  await page.getByText(knowledge.jobs.ended.done).first().waitFor({ state: "attached" });
  await page.goto(page.url().replace(/#.*/, "#/ask/default"));
  await page.getByText(models.first.added(1)).waitFor();
}

/** Writes the first question, and waits for the answer. */
async function asksFirst({ page, models }, question, answer) {
  await presses(page, models.first.write);
  await becomes(() => page.evaluate(() => document.activeElement?.hasAttribute("data-main-input")), true);
  await page.keyboard.type(question);
  await page.keyboard.press("Enter");
  await page.locator(".exchange").last().getByText(answer).first().waitFor();
  await settled(page);
}

/** A server of models was found on this machine: one click. */
async function findsModel(browser, language, viewport, name) {
  const visitor = await visit(browser, language, viewport, language === "zh" ? "dark" : "light");
  const { models, page, place } = visitor;
  await sound(page);
  await shoot(page, `${name}-1-model`);
  await presses(page, models.testLabel("journey"));
  await page.getByText(models.tried.reply).waitFor();
  await sound(page);
  await shoot(page, `${name}-2-tested`);
  await presses(page, models.useLabel("journey"));
  await becomes(() => focused(page), models.first.add);
  await sound(page);
  await shoot(page, `${name}-3-documents`);
  const settings = await readFile(join(place.folder, "pikerag.toml"), "utf8");
  assert.ok(settings.includes("\n[chat]\n") && settings.includes('\nmodel = "journey"\n'), settings);
  assert.match(settings, /\nbase_url = "http:\/\/127\.0\.0\.1:\d+\/v1"\n/);
  await page.keyboard.press("Enter");
  await addsDocument(visitor);
  await sound(page);
  await shoot(page, `${name}-4-question`);
  await asksFirst(visitor, language === "zh" ? "码头的绞车可拉多少吨？" : "How much does the winch haul?", language === "zh" ? "十一吨" : "Eleven tons");
  await sound(page);
  await shoot(page, `${name}-5-answer`);
  await page.reload();
  await page.getByRole("heading", { name: models.first.title }).waitFor({ state: "detached" });
  await visitor.ends();
}

/** An endpoint with a key: the key is stored on the server and shown nowhere. */
async function entersEndpoint(browser) {
  const visitor = await visit(browser, "zh", PHONE, "dark");
  const { models, model, page, place } = visitor;
  await page.getByRole("tab", { name: models.tabs.endpoint }).click();
  await page.getByLabel(models.endpoint.provider, { exact: true }).selectOption("");
  await page.getByLabel(models.endpoint.address, { exact: true }).fill(model.url);
  await page.getByLabel(models.endpoint.model, { exact: true }).fill("journey");
  await page.getByLabel(models.endpoint.key, { exact: true }).fill(KEY);
  await sound(page);
  await shoot(page, "endpoint-1-form");
  await presses(page, models.test);
  await page.getByText(models.tried.reply).waitFor();
  await shoot(page, "endpoint-2-tested");
  await presses(page, models.use);
  await becomes(() => focused(page), models.first.add);
  const file = join(place.folder, "pikerag.toml");
  assert.ok((await readFile(file, "utf8")).includes(`api_key = "${KEY}"`));
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  const listed = await page.evaluate(async () => (await fetch("./api/v1/models")).text());
  assert.ok(!listed.includes(KEY) && !(await page.content()).includes(KEY));
  await visitor.ends();
}

/** Without a model the guide leads to documents and quotes. */
async function goesOnWithout(browser) {
  const visitor = await visit(browser, "en", { width: 360, height: 740 }, "light");
  const { models, page } = visitor;
  await presses(page, models.first.without);
  await becomes(() => focused(page), models.first.add);
  await sound(page);
  await shoot(page, "without-1-documents");
  await page.keyboard.press("Enter");
  await addsDocument(visitor, false);
  await asksFirst(visitor, "How much does the winch haul?", "eleven tons");
  await shoot(page, "without-2-answer");
  await visitor.ends();
}

const PARTS = {
  desktop: (browser) => findsModel(browser, "en", DESKTOP, "desktop"),
  phone: (browser) => findsModel(browser, "zh", PHONE, "phone"),
  endpoint: entersEndpoint,
  without: goesOnWithout,
};

if (!program) {
  console.log("LEFT OUT: the first visit: PIKERAG names no program");
} else {
  const browser = await launch();
  try {
    for (const [name, part] of Object.entries(PARTS).filter(([name]) => !only || name === only)) {
      await part(browser);
      console.log(`first visit, ${name}: done`);
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
