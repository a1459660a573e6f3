// Takes pictures of each tab over the example documents, in both languages, light and dark, wide and narrow; each passes axe without an error in the
// console. `PIKERAG=path` names the program, `SHOTS=folder` keeps all pictures, `DOCS=1` writes those of the documents to docs/images,
// `ONLY=en-light-wide` takes one row. The answers come from pictures-model.mjs: they differ from run to run by their times alone.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { marked } from "marked";

import { DESKTOP, PHONE, isSound, launch, open, settled, shooter } from "./browser.mjs";
import { wordsOf } from "./journey-place.mjs";
import { MODEL, QUESTIONS, startModel } from "./pictures-model.mjs";
import { startServer } from "./real.mjs";
import { through } from "./through.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const program = process.env.PIKERAG;
const dist = process.env.DIST ?? join(root, "web/dist");
const IMAGES = join(root, "docs/images");
const ROWS = ["en", "zh"].flatMap((language) => ["light", "dark"].flatMap((scheme) => ["wide", "narrow"].map((width) => ({ language, scheme, width, name: `${language}-${scheme}-${width}` }))));
const STATEMENT = "SELECT substr(date, 1, 7) AS month, sum(downtime) AS hours FROM repairs_2024 GROUP BY 1 ORDER BY 1";
/** The pictures of the documents, by row and name. */
const OF_DOCUMENTS = {
  "en-light-wide/answer": "answer", "en-light-wide/source": "source", "en-light-wide/tables-chart": "tables", "en-light-wide/graph": "graph",
  "en-light-wide/estimate": "estimate", "zh-dark-wide/answer": "answer-zh",
};

/** A folder with the example documents; one of them as a PDF, so that a source has pages. */
async function folderOf(browser, model) {
  const folder = await mkdtemp(join(tmpdir(), "pikerag-pictures-"));
  await cp(join(root, "examples/harbour/docs"), join(folder, "docs"), { recursive: true });
  for (const name of ["repairs-2024.csv", "cranes.csv", "maintenance-handbook.md", "brake-trial.md"]) {
    await cp(join(root, "examples/maintenance/docs", name), join(folder, "docs", name));
  }
  await cp(join(root, "examples/linyuan/docs"), join(folder, "more"), { recursive: true });
  const sheet = join(folder, "docs/kx-40-datasheet");
  const page = await browser.newPage();
  await page.setContent(`<title>KX-40 datasheet</title><style>body { font: 12pt/1.5 sans-serif; margin: 2cm } td, th { padding: 4pt 12pt; border-bottom: 1px solid #bbb; text-align: left }</style>${marked.parse(await readFile(`${sheet}.md`, "utf8"))}`);
  await page.pdf({ path: `${sheet}.pdf`, format: "A4" });
  await page.close();
  await rm(`${sheet}.md`);
  const settings = await readFile(join(root, "examples/maintenance/pikerag.toml"), "utf8");
  await writeFile(join(folder, "pikerag.toml"), `${settings}\n[prices.${MODEL}]\nprompt = 0.4\ncompletion = 1.6\n`);
  const env = { PATH: process.env.PATH, HOME: folder, XDG_STATE_HOME: join(folder, "state"), PIKERAG_CONFIG: join(folder, "pikerag.toml"), OPENAI_BASE_URL: model.url, OPENAI_MODEL: MODEL, OLLAMA_HOST: "127.0.0.1:1" };
  const begin = (...words) => spawn(program, ["--base", "base", ...words], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  const indexed = begin("--offline", "index", "docs");
  indexed.stdout.resume();
  indexed.stderr.resume();
  await once(indexed, "close");
  return { folder, begin, remove: () => rm(folder, { recursive: true, force: true }) };
}

async function take(browser, url, folder, { language, scheme, width, name }) {
  const [ask, knowledge] = await Promise.all(["ask", "knowledge"].map((tab) => wordsOf(tab, language)));
  const shoot = shooter(`${name}-`);
  const page = await open(browser, url, { viewport: width === "wide" ? DESKTOP : PHONE, colorScheme: scheme, locale: language === "zh" ? "zh-CN" : "en-US", hasTouch: width === "narrow" });
  const picture = async (what) => {
    await page.mouse.move(0, 0);
    await isSound(page);
    await shoot(page, what);
    const file = OF_DOCUMENTS[`${name}/${what}`];
    if (process.env.DOCS && file) {
      await page.screenshot({ path: join(IMAGES, `${file}.png`) });
    }
  };
  const to = async (place) => {
    await page.goto(`${url}#/${place}`);
    await page.locator("main h1").waitFor();
    await settled(page);
  };

  await page.locator(".begin li").first().waitFor();
  await picture("begin");
  await page.locator("button.picker").first().click();
  await page.getByLabel(ask.methods.search).fill("kar3");
  await picture("methods");
  await page.getByRole("button", { name: /^kar3\b/ }).first().click();
  await page.locator("[data-main-input]").fill(QUESTIONS[language]);
  await settled(page);
  await picture("forecast");
  await page.locator("[data-main-input]").press("Enter");
  await page.locator(".answer").waitFor();
  await picture("answer");
  await page.locator(".answer button[data-citation]").first().click();
  await page.locator("dialog[open] .head").waitFor();
  await picture("source");
  await page.keyboard.press("Escape");
  await page.locator(".sources li button").last().click();
  await page.locator("dialog[open] .head").waitFor();
  await picture("source-last");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: ask.feedback.correct, exact: true }).click();
  await picture("correct");

  await to("knowledge/default/documents");
  await picture("documents");
  await page.getByText("company-guide.md").first().click();
  await picture("document");
  for (const view of ["graph", "tables", "records", "tags", "verified"]) {
    await to(`knowledge/default/${view}`);
    if (view === "graph") {
      await page.locator("canvas").first().waitFor();
    }
    await picture(view);
  }
  await to("knowledge/default/tables/repairs_2024");
  await page.getByLabel(knowledge.tables.sql.label, { exact: true }).fill(STATEMENT);
  await page.keyboard.press("Control+Enter");
  await page.locator("figure canvas").first().waitFor();
  await page.locator("figure").first().evaluate((figure) => figure.closest("section, form, div")?.scrollIntoView({ block: "center" }));
  await picture("tables-chart");
  await to("knowledge/default/documents");
  await page.locator("[data-pick='files']").setInputFiles((await readdir(join(folder, "more"))).map((file) => join(folder, "more", file)));
  await page.getByRole("heading", { name: knowledge.estimate.title }).waitFor();
  await picture("estimate");
  await to("runs/default");
  await picture("runs");
  await page.locator(".run .what a").first().click();
  await page.locator(".answer").waitFor();
  await picture("run");
  await to("runs/default/time");
  await picture("runs-time");
  for (const part of ["", "health", "budget", "keys", "page"]) {
    await to(`settings/default${part && `/${part}`}`);
    await picture(`settings${part && `-${part}`}`);
  }
  // The next row begins with the same base.
  await page.evaluate(() => fetch("./api/v1/bases/default/sent", { method: "DELETE" }));
  await page.context().close();
}

if (!program) {
  console.log("LEFT OUT: pictures: PIKERAG names no program");
} else {
  const browser = await launch();
  const model = await startModel();
  const base = await folderOf(browser, model);
  const server = await startServer(base);
  const { url, close } = await through(dist, server.url);
  try {
    const isWanted = ({ name }) => (process.env.DOCS ? Object.keys(OF_DOCUMENTS).some((picture) => picture.startsWith(`${name}/`)) : !process.env.ONLY || process.env.ONLY === name);
    for (const row of ROWS.filter(isWanted)) {
      await take(browser, url, base.folder, row);
      console.log(`${row.name}: each tab passes axe, and nothing is wrong in the console`);
    }
  } catch (error) {
    for (const [number, page] of browser.contexts().flatMap((context) => context.pages()).entries()) {
      await shooter("failed-")(page, String(number)).catch(() => undefined);
    }
    throw error;
  } finally {
    close();
    await server.stop();
    model.stop();
    await base.remove();
    await browser.close();
  }
}
