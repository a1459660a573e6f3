// Tests that five tasks of a newcomer take the clicks that docs/how-to/page.md names: each from a fresh start of the program itself (`PIKERAG=path`), with its
// clicks counted: pressing a mouse's button, or letting go of what is dropped. Typing is none.
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { becomes, launch, open, shooter } from "./browser.mjs";
import { startModel } from "./journey-model.mjs";
import { place } from "./journey-place.mjs";
import { startServer } from "./real.mjs";

const program = process.env.PIKERAG;
const shoot = shooter("task-");
const DOCUMENTS = {
  "crane.md": "# Crane\n\nThe crane of the harbour lifts forty tons.\n",
  "quay/winch.md": "# Winch\n\nThe winch of the quay hauls eleven tons.\n",
  "quay/gantry.md": "# Gantry\n\nThe gantry was built in the year 1987.\n",
};

const last = (page) => page.locator(".exchange").last();

async function ask(page, question) {
  await page.locator("[data-main-input]").fill(question);
  await page.locator("[data-main-input]").press("Enter");
}

/** Done where documents are in the base, or where nothing is yet; each returns clicks that a browser does not tell. */
const TASKS = {
  async "bring in a folder"(page, { folder }) {
    await page.getByRole("link", { name: "Knowledge" }).click();
    const chosen = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Choose a folder" }).click();
    await (await chosen).setFiles(join(folder, "mine"));
    await page.getByRole("button", { name: "Index", exact: true }).click();
    await page.getByText("3 documents").first().waitFor();
  },
  async "find out why an answer is wrong, and correct it"(page, { url }) {
    await ask(page, "When was the gantry built?");
    await last(page).locator(".answer", { hasText: "In 1978" }).waitFor();
    await last(page).locator(".answer button[data-citation='1']").click();
    await page.locator("dialog[open] mark", { hasText: "The gantry was built in the year 1987." }).waitFor();
    await page.keyboard.press("Escape");
    await last(page).getByRole("button", { name: "Correct", exact: true }).click();
    await last(page).getByLabel("The right answer").fill("In 1987");
    await last(page).getByLabel("Your name").fill("Ada");
    await last(page).getByRole("button", { name: "Save" }).click();
    await last(page).getByText("Ada corrected this answer:").waitFor();
    const kept = await (await fetch(`${url}/api/v1/bases/default/feedback`)).json();
    assert.equal(kept.length, 1);
    // The same question again gets the correction of Ada.
    await ask(page, "When was the gantry built?");
    await last(page).locator(".answer", { hasText: "In 1987" }).waitFor();
  },
  async "compare two methods"(page) {
    await page.getByRole("button", { name: "Options" }).click();
    await page.getByLabel("Compare two methods").check();
    await page.locator("[data-main-input]").fill("What does the crane lift?");
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await becomes(() => last(page).locator(".answer").count(), 2);
  },
  async "see what a question cost"(page) {
    await ask(page, "What does the crane lift?");
    await last(page).locator(".answer").waitFor();
    await last(page).locator(".meta", { hasText: /\d calls? · \d+ tokens · paid \$0\.0/ }).waitFor();
  },
  async "take a document out for good"(page, { url }) {
    await page.getByRole("link", { name: "Knowledge" }).click();
    await page.getByText("gantry.md").first().click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("radio", { name: /Forget permanently/ }).check();
    await page.locator("dialog[open]").getByRole("textbox").fill("mine/quay/gantry.md");
    await page.locator("dialog[open]").getByRole("button", { name: "Forget permanently" }).click();
    await becomes(async () => (await (await fetch(`${url}/api/v1/bases/default/files`)).json()).length, 2);
  },
};
/** As docs/how-to/page.md tells them. */
const CLICKS = [3, 3, 3, 0, 5];

async function tried(browser, [name, act]) {
  const model = await startModel();
  const base = await place(program, model);
  for (const [path, text] of Object.entries(DOCUMENTS)) {
    await mkdir(join(base.folder, "mine", path, ".."), { recursive: true });
    await writeFile(join(base.folder, "mine", path), text);
  }
  if (!name.startsWith("bring")) {
    const child = base.begin("index", "mine");
    child.stdout.resume();
    child.stderr.resume();
    await new Promise((done) => child.once("close", done));
  }
  const server = await startServer(base);
  try {
    const page = await open(browser, "about:blank");
    await page.addInitScript(() => {
      globalThis.clicks = 0;
      document.addEventListener("pointerdown", () => (globalThis.clicks += 1), true);
    });
    await page.goto(server.url);
    await page.locator("main h1").waitFor();
    await act(page, { url: server.url, folder: base.folder });
    await shoot(page, name.slice(0, 12).replaceAll(" ", "-"));
    return await page.evaluate(() => globalThis.clicks);
  } finally {
    await server.stop();
    model.stop();
    await base.remove();
  }
}

if (!program) {
  console.log("LEFT OUT: five tasks of a newcomer: PIKERAG names no program");
} else {
  const browser = await launch();
  try {
    const clicks = [];
    for (const task of Object.entries(TASKS)) {
      clicks.push(await tried(browser, task));
      console.log(`${task[0]}: ${clicks.at(-1)} clicks`);
    }
    assert.deepEqual(clicks, CLICKS);
  } finally {
    await browser.close();
  }
}
