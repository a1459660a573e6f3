// Tests the tab Knowledge with the program itself; a part of knowledge.mjs.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { open } from "./browser.mjs";
import { realTables } from "./knowledge-tables.mjs";
import { startServer } from "./real.mjs";
import { through } from "./through.mjs";

const examples = fileURLToPath(new URL("../../examples/maintenance/", import.meta.url));
const pdf = fileURLToPath(new URL("../../crates/parse/corpus/pdf/plain.pdf", import.meta.url));

export async function real(browser, dist, program, isSound, shoot) {
  const folder = await mkdtemp(join(tmpdir(), "knowledge-"));
  const env = { ...process.env, PIKERAG_CONFIG: join(examples, "pikerag.toml"), HOME: folder, XDG_STATE_HOME: folder };
  const begin = (...words) => spawn(program, ["--offline", "--base", "base", ...words], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  const server = await startServer({ begin });
  const { url, close } = await through(dist, server.url);
  try {
    await walk(await open(browser, `${url}#/knowledge`), url, isSound, shoot);
  } finally {
    close();
    await server.stop();
    await rm(folder, { recursive: true });
  }
}

async function walk(page, url, isSound, shoot) {
  const place = `${url}#/knowledge/default`;
  await page.getByText("Add your documents").waitFor();
  // A folder and, without a model, no question what it costs.
  await page.locator("[data-pick=folder]").setInputFiles(join(examples, "docs"));
  await page.getByText("10 documents").waitFor();
  await page.locator("[data-pick=files]").setInputFiles(pdf);
  await page.getByText("11 documents").waitFor();
  await isSound(page);
  await shoot(page, "real-documents");
  // A repeated file is distinguished from a new one.
  await page.locator("[data-pick=files]").setInputFiles(pdf);
  await page.getByText("The base already contains all of this").waitFor();

  await page.getByRole("link", { name: "docs/maintenance-handbook.md" }).click();
  await page.getByRole("grid", { name: "Contents" }).getByText("A hoist rope with eight").click();
  await page.getByText("Extracted from this passage").waitFor();
  await page.locator("article li").first().waitFor();
  await isSound(page);
  await shoot(page, "real-document");
  await page.getByRole("button", { name: "Correct", exact: true }).click();
  await page.getByLabel("Text as it was read").fill("Tallow-9");
  await page.getByLabel(/Correct text/).fill("Tallow-8");
  await page.getByRole("dialog").getByRole("button", { name: "Correct" }).click();
  await page.locator("article .text").getByText("Tallow-8").waitFor();
  await page.getByText("1 correction", { exact: true }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.locator("article .text").getByText("Tallow-9").waitFor();
  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download" }).click()]);
  assert.equal(saved.suggestedFilename(), "maintenance-handbook.md");

  await page.goto(`${place}/documents`);
  await page.getByRole("link", { name: "plain.pdf" }).click();
  await page.getByRole("grid", { name: "Contents" }).getByText("page 1").first().click();
  await page.locator("article img").waitFor();
  await page.locator("article svg rect[x]").first().waitFor();
  await isSound(page);
  await shoot(page, "real-page");
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByText("This deletes 1 document and").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await page.waitForURL(/documents$/);
  await page.getByText("10 documents").waitFor();

  await page.goto(`${place}/graph?overview=1`);
  // The overview names documents; passages come on demand.
  await page.locator("canvas").first().waitFor();
  await isSound(page);
  await shoot(page, "real-overview");
  await page.getByLabel("Show passages and records").check();
  await page.getByText(/\b300 nodes/).waitFor();
  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByRole("slider").fill("200");
  await page.getByText(/\b200 nodes/).waitFor();
  await isSound(page);
  await shoot(page, "real-graph");
  await realTables(page, place, isSound, shoot);
  await page.goto(`${place}/records/repair`);
  await page.getByText("71 rows").waitFor();
  await page.goto(`${place}/tags`);
  await page.getByLabel("Term in questions").fill("驾驶室");
  await page.getByLabel("Term in the documents").fill("cab");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Delete the synonyms 驾驶室 and cab" }).waitFor();
  await page.getByRole("button", { name: "Declare a class" }).click();
  await page.getByLabel("Name").fill("part");
  await page.getByLabel(/Its content/).fill("a part of a crane");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("link", { name: "part" }).click();
  await page.getByText("No tags yet").waitFor();
  await isSound(page);
  const { run } = await page.evaluate(async () => (await fetch("./api/v1/bases/default/ask", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ question: "Who puts a crane back into service?" }) })).json());
  await page.evaluate(async (run) => (await fetch("./api/v1/bases/default/feedback", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ run, verdict: "accept", by: "Maud" }) })).text(), run);
  await page.goto(`${place}/verified`);
  await page.getByText("Accepted").waitFor();
  await isSound(page);
  await shoot(page, "real-verified");
  await page.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("button", { name: "Revoke permanently" }).click();
  await page.getByText("Nothing verified yet").waitFor();
  await page.context().close();
}
