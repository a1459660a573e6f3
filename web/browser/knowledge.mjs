// Tests the tab Knowledge in a browser, after a build; `DIST=folder` names another,
// `SHOTS=folder` keeps pictures, `PIKERAG=program` tries a real server too.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { DESKTOP, PHONE, becomes, isSound as isSoundBut, launch, open, settled, shooter } from "./browser.mjs";
import { PAID, FAILED, FREE, job, mock } from "./knowledge-mock.mjs";
import { real } from "./knowledge-real.mjs";
import { waits } from "./knowledge-sent.mjs";
import { typedTables } from "./knowledge-tables.mjs";
import { serve } from "./serve.mjs";

const dist = process.env.DIST ?? fileURLToPath(new URL("../dist", import.meta.url));
const shoot = shooter("");
// Chromium reports each answer that is no success.
const isSound = (page) => isSoundBut(page, { expected: /status of 4\d\d/ });
const LAW = "#/knowledge/law";
const DOCUMENT = `${LAW}/documents/0000000000000001`;

async function looks(browser, url) {
  const places = { documents: LAW, document: `${DOCUMENT}?chunk=00000000000000c2`, graph: `${LAW}/graph?overview=1`, tables: `${LAW}/tables`, table: `${LAW}/tables/cranes`, records: `${LAW}/records`, tags: `${LAW}/tags`, class: `${LAW}/tags/fault`, verified: `${LAW}/verified`, empty: "#/knowledge/empty" };
  for (const [screen, viewport] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
    for (const colorScheme of ["light", "dark"]) {
      for (const locale of ["en-US", "zh-CN"]) {
        const page = await open(browser, url, { viewport, colorScheme, locale });
        for (const [name, place] of Object.entries(places)) {
          await page.goto(url + place);
          await page.locator("main h1").waitFor();
          await isSound(page);
          await shoot(page, `${name}-${screen}-${colorScheme}-${locale.slice(0, 2)}`);
        }
        await page.context().close();
      }
    }
  }
}

async function bringsIn(browser, url, state) {
  const page = await open(browser, `${url}${LAW}`);
  const files = page.locator("[data-pick=files]");
  const text = (name) => ({ name, mimeType: "text/plain", buffer: Buffer.from(name) });
  await page.getByText("Drop files or folders anywhere").waitFor();
  state.refuse = /bad/;
  state.estimate = PAID;
  state.events = [job(1, "running"), job(1, "running", { stage: "vectors", done: 2 }), job(1, "incomplete", FAILED)];
  await files.setInputFiles([text("a.txt"), text("bad <b>.txt"), text("c.zip")]);
  await page.getByRole("button", { name: "Unpack" }).click();
  await page.getByText("$0.0097").waitFor();
  await page.getByText("bad <b>.txt cannot be a name").waitFor();
  await becomes(() => state.asked.filter(([what]) => what === "upload").map(([, name]) => name).sort(), ["a.txt?hold=true", "bad <b>.txt?hold=true", "c.zip?hold=true&unpack=true"]);
  await becomes(() => state.asked.findLast(([what]) => what === "estimate")?.[1], { files: ["a.txt", "c.zip/one.md"], known: [], reread: false, retry_refused: false });
  await page.getByText("1 left out: evil.exe: a program").waitFor();
  await page.getByText("By model role").click();
  await isSound(page);
  await shoot(page, "estimate");
  // Nothing was paid: after a reload the uploaded files are known, and their cost is estimated again.
  await page.reload();
  await page.getByText("2 uploaded files are pending").waitFor();
  assert.ok(!state.asked.some(([what]) => what === "index"));
  await page.getByRole("button", { name: "Estimate and index" }).click();
  state.ending.shut();
  await page.getByRole("button", { name: "Index", exact: true }).click();
  await page.getByText("Indexing: vectors").first().waitFor();
  await shoot(page, "job");
  state.ending.open();
  await page.getByText("no text in <img").waitFor();
  await isSound(page);
  await shoot(page, "job-over");
  assert.deepEqual(state.asked.findLast(([what]) => what === "index")[1].files, ["a.txt", "c.zip/one.md"]);
  await page.getByRole("button", { name: "Try 1 file again" }).click();
  await becomes(() => state.asked.findLast(([what]) => what === "index")?.[1].files, ["x.bin"]);
  await page.getByRole("button", { name: "Repeat 2 refused model calls" }).click();
  await becomes(() => state.asked.findLast(([what]) => what === "index")?.[1].retry_refused, true);
  // What costs nothing is indexed at once; a job under way is found again.
  state.estimate = FREE;
  state.refuse = null;
  state.events = [job(1, "done")];
  state.asked.length = 0;
  await drop(page, { "folder/sub/d.txt": "d", "folder/.DS_Store": "x", "folder/e.txt": "e" });
  await page.waitForFunction(() => document.body.textContent.includes("Indexing is done"));
  await becomes(() => state.asked.map(([what]) => what), ["upload", "upload", "estimate", "index"]);
  assert.deepEqual(state.asked.at(-1)[1].files.sort(), ["folder/e.txt", "folder/sub/d.txt"]);
  state.jobs = [job(20, "running"), job(19, "done")];
  state.events = [job(20, "running", { done: 2 }), job(20, "running", { done: 3 }), job(20, "done")];
  state.last = 20;
  state.ending.shut();
  await page.reload();
  await page.getByText("Indexing: reading files").first().waitFor();
  await page.getByText("Earlier jobs (1)").waitFor();
  state.ending.open();
  state.jobs = [];
  await page.context().close();
}

/** Drops a folder: Chromium makes entries of real files alone, so they are made up. */
async function drop(page, files) {
  await page.evaluate((files) => {
    const entry = (path, names) => {
      const own = names.filter((name) => name.startsWith(`${path}/`)).map((name) => name.slice(path.length + 1).split("/")[0]);
      const children = [...new Set(own)].map((name) => entry(`${path}/${name}`, names));
      let isRead = false;
      return children.length === 0
        ? { isFile: true, fullPath: `/${path}`, file: (done) => done(new File([files[path]], path.split("/").pop())) }
        : { isFile: false, fullPath: `/${path}`, createReader: () => ({ readEntries: (done) => (done(isRead ? [] : children), (isRead = true)) }) };
    };
    const event = new Event("drop", { bubbles: true, cancelable: true });
    Object.defineProperty(event, "dataTransfer", { value: { types: ["Files"], files: [], items: [{ kind: "file", webkitGetAsEntry: () => entry("folder", Object.keys(files)) }] } });
    document.body.dispatchEvent(event);
  }, files);
}

async function lists(browser, url) {
  const page = await open(browser, `${url}#/knowledge/large`);
  await page.getByText("10,000 documents").waitFor();
  const rows = page.getByRole("grid").getByRole("row");
  await settled(page);
  assert.ok((await rows.count()) < 60);
  await page.getByLabel("Filter by name, title or type").fill("folder 3 title 99");
  await page.getByText("of 10,000 documents").waitFor();
  await page.getByLabel("Filter by name, title or type").fill("");
  await page.getByRole("button", { name: "Title" }).click();
  await page.getByRole("button", { name: "Title ascending" }).click();
  await page.getByRole("button", { name: "Title descending" }).waitFor();
  await rows.first().focus();
  await page.keyboard.press("End");
  await page.waitForFunction(() => document.activeElement?.getAttribute("aria-rowindex") === "10000");
  await isSound(page);
  await shoot(page, "ten-thousand");
  await page.keyboard.press("Enter");
  await page.waitForURL(/documents\/0{16}/);
  // A base of this size has no overview.
  await page.goto(`${url}#/knowledge/large/graph`);
  await page.getByText("too large for an overview").waitFor();
  await becomes(() => page.getByRole("button", { name: "Overview" }).count(), 0);
  await page.context().close();
}

async function reads(browser, url, state) {
  const page = await open(browser, `${url}${LAW}`);
  await page.getByRole("link", { name: "laws/a.pdf" }).click();
  await page.getByRole("heading", { name: "Law of cranes" }).waitFor();
  await page.getByRole("grid", { name: "Contents" }).getByText("Quillw0rt").click();
  await page.getByRole("article").locator("img").waitFor();
  await becomes(() => page.locator("svg rect[x]").evaluateAll((all) => all.map((one) => [one.getAttribute("x"), one.getAttribute("height")])), [["71", "32"]]);
  await page.waitForURL(/chunk=00000000000000c2/);
  await page.getByRole("grid", { name: "Contents" }).getByText("What does a crane lift?").waitFor();
  const [downloaded] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download" }).click()]);
  assert.equal(downloaded.suggestedFilename(), "a.pdf");
  state.events = [job(2, "running"), job(2, "done")];
  await page.evaluate(() => {
    const text = document.querySelector("article .text").firstChild;
    getSelection().setBaseAndExtent(text, 0, text, 9);
  });
  await page.getByRole("button", { name: "Correct selection" }).click();
  await becomes(() => page.getByLabel("Text as it was read").inputValue(), "Quillw0rt");
  await page.getByLabel(/Correct text/).fill("Quillwort");
  await isSound(page);
  await shoot(page, "correct");
  await page.getByRole("dialog").getByRole("button", { name: "Correct" }).click();
  await page.getByText("1 correction", { exact: true }).waitFor();
  assert.deepEqual(state.asked.findLast(([what]) => what === "correct")[1], { old: "Quillw0rt", new: "Quillwort" });
  await page.getByText("1 correction", { exact: true }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("1 correction", { exact: true }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Read again" }).click();
  await becomes(() => state.asked.findLast(([what]) => what === "index")?.[1], { files: [], known: ["base.uploads/laws/a.pdf"], reread: true, retry_refused: false });
  await page.locator("[data-pick=replace]").setInputFiles({ name: "other.pdf", mimeType: "application/pdf", buffer: Buffer.from("x") });
  await becomes(() => state.asked.findLast(([what]) => what === "upload")?.[1], "laws/a.pdf?hold=true");
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByText("This deletes 1 document and 2 passages").waitFor();
  await page.getByText("3 model calls, 1 run").first().waitFor();
  await page.getByRole("radio", { name: /Forget permanently/ }).check();
  const forget = page.getByRole("dialog").getByRole("button", { name: "Forget permanently" });
  await becomes(() => forget.isDisabled(), true);
  await page.getByLabel("Type a.pdf to confirm").fill("a.pdf");
  await isSound(page);
  await shoot(page, "forget");
  await forget.click();
  await page.waitForURL(/documents$/);
  assert.deepEqual(state.asked.findLast(([what]) => what === "delete")[1], { file: "base.uploads/laws/a.pdf", forget: "true" });
  // What lies on the server's disk is read again too, and replaced there.
  await page.goto(`${url}${LAW}/documents/0000000000000003`);
  await page.getByText("Replace it there, then read it again.").waitFor();
  await becomes(() => page.getByRole("button", { name: "Replace" }).count(), 0);
  state.events = [job(3, "running"), job(3, "done")];
  await isSound(page);
  await shoot(page, "not-sent");
  await page.getByRole("button", { name: "Read again" }).click();
  await becomes(() => state.asked.findLast(([what]) => what === "index")?.[1], { files: [], known: ["docs/港口.md"], reread: true, retry_refused: false });
  await page.context().close();
}

async function leadsOn(browser, url, state) {
  const page = await open(browser, `${url}${LAW}/graph`);
  await page.getByLabel(/Start at a document/).fill("nobody");
  await page.keyboard.press("Enter");
  await page.getByText("Nothing named “nobody”.").waitFor();
  await page.getByRole("button", { name: /A crane lifts forty tons/ }).click();
  await page.getByText("4 nodes, 3 edges. 3 nodes not shown.").waitFor();
  await page.locator("canvas").first().waitFor();
  await isSound(page);
  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByRole("checkbox", { name: /Extracted knowledge/ }).uncheck();
  await page.getByText("2 nodes, 1 edge.").waitFor();
  await page.getByRole("checkbox", { name: /Extracted knowledge/ }).check();
  await shoot(page, "graph-filters");
  await page.getByRole("slider").fill("300");
  await becomes(() => state.asked.findLast(([what]) => what === "graph")?.[1].most, "300");
  await page.getByRole("button", { name: "As a list" }).click();
  const rows = page.getByRole("grid", { name: "Nodes of the graph" }).getByRole("row");
  await becomes(() => rows.count(), 4);
  await rows.first().focus();
  for (const [key, row] of [["ArrowDown", "2"], ["ArrowDown", "3"], ["ArrowUp", "2"]]) {
    await page.keyboard.press(key);
    await becomes(() => page.evaluate(() => document.activeElement?.getAttribute("aria-rowindex")), row);
  }
  await page.keyboard.press("Enter");
  await page.getByRole("complementary", { name: "Node" }).getByText("3 edges").waitFor();
  await isSound(page);
  await shoot(page, "graph-list");
  const before = state.asked.length;
  await page.keyboard.press("Enter");
  await becomes(() => state.asked[before]?.[1].of, "00000000000000c1");
  await page.getByRole("link", { name: "In its document" }).click();
  await page.waitForURL(/documents\/0000000000000001\?chunk=00000000000000c1/);
  await page.context().close();
}

async function records(browser, url) {
  const page = await open(browser, `${url}${LAW}/records`);
  await page.getByText("3 rows").waitFor();
  await page.getByRole("button", { name: "load" }).click();
  const first = page.getByRole("grid").getByRole("row").first();
  await becomes(async () => (await first.innerText()).includes("HYPERLINK"), true);
  await page.getByRole("button", { name: "load" }).click();
  await becomes(async () => (await first.innerText()).includes("120"), true);
  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "CSV" }).click()]);
  assert.equal(await readFile(await saved.path(), "utf8"), "\ufeffcrane,load,document,page\r\n62-019,120,base.uploads/laws/a.pdf,1\r\n40-117,40,base.uploads/laws/a.pdf,1\r\n'=HYPERLINK(1),9,base.uploads/laws/a.pdf,1\r\n");
  await page.getByLabel("Filter rows").fill("40-117");
  await page.getByText("1 of 3 rows").waitFor();
  await page.getByRole("link", { name: "a.pdf, page 1" }).click();
  await page.waitForURL(/chunk=00000000000000c1/);
  await page.context().close();
}

async function words(browser, url, state) {
  const page = await open(browser, `${url}${LAW}/tags`);
  await page.getByRole("button", { name: "Declare a class" }).click();
  await page.getByLabel("Name").fill("cause");
  await page.getByLabel(/Its content/).fill("Why");
  await page.getByLabel(/Examples/).fill("wear、rust\nice");
  await isSound(page);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("link", { name: "cause" }).waitFor();
  assert.deepEqual(state.asked.findLast(([what]) => what === "declare")[1], { covers: "Why", examples: ["wear", "rust", "ice"] });
  await page.getByLabel("Term in questions").fill("jail");
  await page.getByLabel("Term in the documents").fill("imprisonment");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Delete the synonyms jail and imprisonment" }).click();
  await page.getByText("No synonyms yet").waitFor();
  assert.deepEqual(state.asked.findLast(([what]) => what === "drop pair")[1], { colloquial: "jail", professional: "imprisonment" });
  await page.getByRole("link", { name: "fault" }).click();
  await page.getByText("4 passages").waitFor();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await page.waitForURL(/tags$/);
  await page.goto(`${url}${LAW}/verified`);
  await page.getByText("Review", { exact: true }).waitFor();
  await becomes(() => page.getByRole("link", { name: "Open the run" }).getAttribute("href"), "#/ask/law/abcd1234");
  await page.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("button", { name: "Revoke permanently" }).click();
  await becomes(() => state.asked.some(([what]) => what === "revoke"), true);
  await page.context().close();
}

async function showsWhatAKeyMay(browser, url, state) {
  const before = state.asksForSent;
  for (const [key, says] of [[{ scope: "read", filter: "" }, null], [{ scope: "read", filter: "folder=laws" }, "Your key shows a part of this base."]]) {
    state.key = { id: "k", name: "k", bases: [], cap_usd: null, spent_usd: 0, per_minute: null, ...key };
    const page = await open(browser, `${url}${LAW}`);
    await page.getByText("3 documents").waitFor();
    assert.equal(await page.getByText("Drop files or folders").count(), 0);
    if (says) {
      await page.getByText(says).waitFor();
    }
    for (const place of [DOCUMENT, `${LAW}/tags`, `${LAW}/verified`]) {
      await page.goto(url + place);
      await page.locator("main h1").waitFor();
      await settled(page);
      assert.equal(await page.getByRole("button", { name: /Delete|Replace|Correct|Declare|Add synonym|Revoke/ }).count(), 0);
      assert.equal(await page.getByRole("alert").count(), 0);
    }
    await isSound(page);
    await page.goto(`${url}#/knowledge/empty`);
    await page.getByText("Your key can only read and ask").waitFor();
    await page.context().close();
  }
  assert.equal(state.asksForSent, before, "what waits is not for those who may not write");
  state.key = null;
}

async function onePaneOnAPhone(browser, url) {
  const page = await open(browser, url + DOCUMENT, { viewport: PHONE });
  const tree = page.getByRole("grid", { name: "Contents" });
  await tree.getByText("Quillw0rt").click();
  await page.getByRole("article").waitFor();
  await becomes(() => tree.isVisible(), false);
  await page.getByRole("button", { name: "Contents" }).click();
  await becomes(() => tree.isVisible(), true);
  await page.context().close();
}

const browser = await launch();
try {
  const { state, answers } = mock();
  const { url, close } = await serve(dist, answers);
  for (const part of [...(process.env.QUICK ? [] : [looks]), bringsIn, (...given) => waits(...given, isSound, shoot), lists, reads, leadsOn, (...given) => typedTables(...given, isSound, shoot), records, words, showsWhatAKeyMay, onePaneOnAPhone]) {
    await part(browser, url, state);
  }
  close();
  if (process.env.PIKERAG) {
    await real(browser, dist, process.env.PIKERAG, isSound, shoot);
  }
  console.log("the tab Knowledge does what it is to do");
} finally {
  await browser.close();
}
