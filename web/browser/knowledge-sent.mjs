// Tests that files that were sent and wait are shown, indexed or discarded; a part of knowledge.mjs.
import assert from "node:assert/strict";

import { PHONE, becomes, open } from "./browser.mjs";
import { PAID, FREE, job } from "./knowledge-mock.mjs";

const LAW = "#/knowledge/law";
const EVIL = "<img src=x onerror=alert(1)>.txt";
const sent = (file, bytes, in_base = false) => ({ file, bytes, in_base });
const cards = (page) => page.getByRole("region", { name: "Uploaded files that are pending" });
const discarded = (state) => state.asked.filter(([what]) => what === "discard").map(([, { file }]) => file);

export async function waits(browser, url, state, isSound, shoot) {
  Object.assign(state, { sent: [sent("notes/left.md", 1200), sent(EVIL, 2_500_000), sent("broken.bin", 11), sent("laws/a.pdf", 3, true)], jobs: [], estimate: PAID, refuse: null });
  state.asked.length = 0;
  await looks(browser, url, isSound, shoot);
  const page = await open(browser, `${url}${LAW}`);
  await throwsAway(page, state, isSound, shoot);
  await indexes(page, state);
  await waitsWhileAnyMayBeTaken(page, state);
  await tellsANewerVersion(page, url, state, isSound, shoot);
  await losesNothing(page, state, isSound, shoot);
  await page.context().close();
  Object.assign(state, { sent: [], noBudget: false, jobs: [], estimate: FREE, events: [] });
}

async function looks(browser, url, isSound, shoot) {
  for (const [locale, colorScheme, viewport] of [["en-US", "light", undefined], ["zh-CN", "dark", undefined], ["en-US", "dark", PHONE], ["zh-CN", "light", PHONE]]) {
    const page = await open(browser, `${url}${LAW}`, { locale, colorScheme, viewport });
    await page.getByText(/^3 (uploaded files are pending|个已上传的文件待处理)$/).waitFor();
    await isSound(page);
    await shoot(page, `sent-${locale.slice(0, 2)}-${viewport ? "phone" : "desktop"}`);
    // A base into which nothing came yet shows it as well.
    await page.goto(`${url}#/knowledge/empty`);
    await page.getByText(/^3 (uploaded files|个已上传的文件)/).waitFor();
    await page.context().close();
  }
}

/** One or all, each time after a question; what somebody else indexed or took away meanwhile is no failure. */
async function throwsAway(page, state, isSound, shoot) {
  const dialog = page.getByRole("dialog");
  await cards(page).getByText("2.5 MB").waitFor();
  await becomes(() => cards(page).getByText("laws/a.pdf").count(), 0);
  await cards(page).getByRole("button", { name: `Discard ${EVIL}` }).click();
  await dialog.getByText("Discard 1 file?").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.deepEqual(discarded(state), []);
  await cards(page).getByRole("button", { name: `Discard ${EVIL}` }).click();
  await dialog.getByRole("button", { name: "Discard" }).click();
  await page.getByText("2 uploaded files are pending").waitFor();
  assert.deepEqual(discarded(state), [EVIL]);
  state.sent = [sent("notes/left.md", 1200, true)];
  await cards(page).getByRole("button", { name: "Discard", exact: true }).click();
  await dialog.getByText("broken.bin").waitFor();
  await isSound(page);
  await shoot(page, "throw-away");
  await dialog.getByRole("button", { name: "Discard" }).click();
  await becomes(() => cards(page).count(), 0);
  await becomes(() => page.getByRole("alert").count(), 0);
  assert.deepEqual(discarded(state).slice(1), ["notes/left.md", "broken.bin"]);
}

/** A pending file is handled like a dropped one: its cost is estimated, then it is indexed; an unreadable file is pending again. */
async function indexes(page, state) {
  state.sent = [sent("notes/left.md", 1200), sent("broken.bin", 11)];
  await page.reload();
  await cards(page).getByRole("button", { name: "Estimate and index" }).click();
  await page.getByText("$0.0097").waitFor();
  await becomes(() => cards(page).count(), 0);
  await page.getByRole("button", { name: "Not now" }).click();
  await page.getByText("2 uploaded files are pending").waitFor();
  await becomes(() => page.getByText("$0.0097").count(), 0);
  assert.ok(!state.asked.some(([what]) => what === "index"));
  await cards(page).getByRole("button", { name: "Estimate and index" }).click();
  state.events = [job(50, "running"), job(50, "running", { stage: "vectors", done: 2 }), job(50, "done")];
  state.ending.shut();
  await page.getByRole("button", { name: "Index", exact: true }).click();
  await page.getByText("Indexing: vectors").first().waitFor();
  await becomes(() => cards(page).count(), 0);
  await becomes(() => state.asked.findLast(([what]) => what === "index")?.[1], { files: ["notes/left.md", "broken.bin"], known: [], reread: false, retry_refused: false });
  state.ending.open();
  await page.getByText("1 uploaded file is pending").waitFor();
  await cards(page).getByText("broken.bin").waitFor();
}

/** A job that another page began may take what waits: nothing is offered until it is over. */
async function waitsWhileAnyMayBeTaken(page, state) {
  state.jobs = [job(60, "running")];
  state.events = [job(60, "running"), job(60, "done")];
  state.ending.shut();
  await page.reload();
  await page.getByText("Indexing: reading files").first().waitFor();
  await becomes(() => cards(page).count(), 0);
  state.jobs = [];
  state.ending.open();
  await page.getByText("1 uploaded file is pending").waitFor();
}

/** The server says of a file that replaces one only that the base holds it: the browser that sent it knows more. */
async function tellsANewerVersion(page, url, state, isSound, shoot) {
  state.sent = [sent("laws/a.pdf", 3, true)];
  await page.goto(`${url}${LAW}/documents/0000000000000001`);
  await page.getByRole("button", { name: "Replace" }).waitFor();
  await page.locator("[data-pick=replace]").setInputFiles({ name: "other.pdf", mimeType: "application/pdf", buffer: Buffer.from("x") });
  await page.getByRole("button", { name: "Not now" }).click();
  await page.getByRole("link", { name: "All documents" }).click();
  await cards(page).getByText("newer than in the base").waitFor();
  await page.reload();
  await cards(page).getByText("newer than in the base").waitFor();
  await becomes(() => cards(page).getByRole("button", { name: /Discard/ }).count(), 0);
  await isSound(page);
  await shoot(page, "newer");
  state.estimate = FREE;
  state.events = [job(70, "running"), job(70, "done")];
  await cards(page).getByRole("button", { name: "Estimate and index" }).click();
  await becomes(() => state.asked.findLast(([what]) => what === "index")?.[1].files, ["laws/a.pdf"]);
  await page.waitForFunction(() => document.body.textContent.includes("Indexing is done"));
  await becomes(() => cards(page).count(), 0);
}

/** Files added while the server estimates or starts are estimated after that; a refusal is shown. */
async function losesNothing(page, state, isSound, shoot) {
  const bring = (name) => page.locator("[data-pick=files]").setInputFiles({ name, mimeType: "text/plain", buffer: Buffer.from(name) });
  const asked = (route) => state.asked.findLast(([what]) => what === route)?.[1].files;
  state.estimate = PAID;
  state.estimating.shut();
  await bring("one.txt");
  await becomes(() => asked("estimate"), ["one.txt"]);
  await bring("two.txt");
  await becomes(() => state.sent.some(({ file }) => file === "two.txt"), true);
  state.estimating.open();
  await becomes(() => asked("estimate"), ["one.txt", "two.txt"]);
  const index = page.getByRole("button", { name: "Index", exact: true });
  state.noBudget = true;
  await index.click();
  await page.getByText("no dollar is left").waitFor();
  await isSound(page);
  await shoot(page, "no-budget");
  state.beginning.shut();
  Object.assign(state, { noBudget: false, events: [job(80, "running"), job(80, "done")] });
  await index.click();
  await becomes(() => asked("index"), ["one.txt", "two.txt"]);
  await bring("three.txt");
  await becomes(() => state.sent.some(({ file }) => file === "three.txt"), true);
  state.beginning.open();
  await becomes(() => asked("estimate"), ["three.txt"]);
  await page.getByRole("button", { name: "Not now" }).click();
  await page.getByText("1 uploaded file is pending").waitFor();
  await cards(page).getByText("three.txt").waitFor();
}
