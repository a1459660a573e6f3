// Measures the page with large bases against the program itself; it prints figures and asserts nothing.
//
//   node browser/large.mjs PROGRAM [LARGE]
//
// Ten thousand documents are written and indexed by words; LARGE names the base of a million atoms that
// `cargo bench -p pikerag-store --bench base -- busy` makes (a copy of it is worked with).
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { launch, open } from "./browser.mjs";
import { startServer } from "./real.mjs";

const DOCUMENTS = 10_000;
const WORDS = "crane brake lining winch motor oil pressure valve inspection report owner harbour shift repair wear cable drum gauge bolt weld limit alarm sensor control panel relay fuse".split(" ");
const [program, large] = process.argv.slice(2).map((path) => resolve(path));

/** Words that are the same each time. */
function drawn() {
  let state = 7;
  const next = () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648);
  return (count) => Array.from({ length: count }, () => WORDS[next() % WORDS.length]).join(" ");
}

/** A folder of its own in which the program runs without any model or weights. */
async function place() {
  const folder = await mkdtemp(join(tmpdir(), "pikerag-large-"));
  await writeFile(join(folder, "pikerag.toml"), '[index]\natoms = ["sentences"]\n');
  const env = { PATH: process.env.PATH, HOME: folder, XDG_CACHE_HOME: join(folder, "cache"), XDG_STATE_HOME: join(folder, "state"), PIKERAG_CONFIG: join(folder, "pikerag.toml") };
  const begin = (...words) => spawn(program, ["--offline", "--base", "base", ...words], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  return { folder, begin, remove: () => rm(folder, { recursive: true, force: true }) };
}

async function many({ folder, begin }) {
  const words = drawn();
  for (let at = 0; at < DOCUMENTS; at++) {
    const below = join(folder, "docs", `folder${String(at % 40).padStart(2, "0")}`);
    await mkdir(below, { recursive: true });
    await writeFile(join(below, `note-${at}.md`), `# Note ${at} on the ${words(1)}\n\n${words(40)}.\n\n## Details\n\n${words(40)}.\n`);
  }
  const child = begin("index", "docs");
  child.stdout.resume();
  child.stderr.resume();
  const started = performance.now();
  await once(child, "close");
  tell("indexing 10,000 documents by words", `${((performance.now() - started) / 1000).toFixed(0)} s`);
}

const tell = (what, figure) => console.log(`| ${what} | ${figure} |`);
const ms = (value) => `${Math.round(value)} ms`;

async function timed(what, act) {
  const started = performance.now();
  await act();
  tell(what, ms(performance.now() - started));
}

/** What a browser that comes for the first time paints, and when; `slow` throttles its processor. */
async function paints(browser, url, text, slow) {
  const page = await open(browser, "about:blank");
  if (1 < slow) {
    await (await page.context().newCDPSession(page)).send("Emulation.setCPUThrottlingRate", { rate: slow });
  }
  const started = performance.now();
  await page.goto(url);
  await page.getByText(text).first().waitFor();
  const whole = performance.now() - started;
  const painted = await page.evaluate(() => {
    const [first] = performance.getEntriesByName("first-contentful-paint");
    const bytes = performance.getEntriesByType("resource").filter(({ name }) => /\.(js|css)$/.test(name)).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
    return { first: first.startTime, bytes };
  });
  const how = slow === 1 ? "" : `, a processor ${slow} times slower`;
  tell(`first paint${how}`, `${ms(painted.first)}; all of it with the base's figures ${ms(whole)}; ${(painted.bytes / 1000).toFixed(0)} KB of script and styles`);
  await page.context().close();
}

/** The longest time that the page stood still while `act` was done. */
async function still(page, act) {
  await page.evaluate(() => {
    globalThis.longest = 0;
    globalThis.observer?.disconnect();
    globalThis.observer = new PerformanceObserver((list) => list.getEntries().forEach((entry) => (globalThis.longest = Math.max(globalThis.longest, entry.duration))));
    globalThis.observer.observe({ entryTypes: ["longtask"] });
  });
  await act();
  return page.evaluate(() => globalThis.longest);
}

async function lists(browser, url, count) {
  const page = await open(browser, "about:blank");
  const rows = page.getByRole("grid").getByRole("row");
  await timed(`the list of ${count} documents, from nothing`, async () => {
    await page.goto(`${url}/#/knowledge/default`);
    await rows.nth(5).waitFor({ timeout: 120_000 });
  });
  const longest = await still(page, () => timed("a filter", async () => {
    await page.getByLabel("Filter by name, title or type").fill("note-99");
    await page.getByText(`of ${count} documents`).waitFor();
  }));
  tell("the page stood still meanwhile, at most", ms(longest));
  await page.getByLabel("Filter by name, title or type").fill("");
  await rows.first().focus();
  await timed("its last row", async () => {
    await page.keyboard.press("End");
    await page.waitForFunction((all) => document.activeElement?.getAttribute("aria-rowindex") === all, count.replaceAll(",", ""));
  });
  tell("rows drawn", String(await rows.count()));
  await page.context().close();
}

/** The neighbourhood of a document of three hundred passages in a base of a million nodes. */
async function graph(browser, url) {
  const page = await open(browser, "about:blank");
  await page.goto(`${url}/#/knowledge/default/graph`);
  await page.locator("[data-main-input]").fill("Hub");
  const longest = await still(page, () => timed("75 nodes around a document, from the click to the picture", async () => {
    await page.keyboard.press("Enter");
    await page.locator(".canvas canvas").first().waitFor({ timeout: 60_000 });
    await page.getByText(/\b7\d nodes/).waitFor();
  }));
  tell("the page stood still meanwhile, at most", ms(longest));
  await page.getByRole("button", { name: "Filter" }).click();
  const further = await still(page, () => timed("300 of them", async () => {
    await page.getByRole("slider").fill("300");
    await page.getByText(/\b30\d nodes/).waitFor();
  }));
  tell("the page stood still meanwhile, at most", ms(further));
  const box = await page.locator(".canvas").boundingBox();
  const frames = page.evaluate(() => new Promise((resolve) => {
    const all = [];
    const step = (at) => (all.push(at) < 90 ? requestAnimationFrame(step) : resolve(all));
    requestAnimationFrame(step);
  }));
  await page.mouse.move(box.x + box.width - 20, box.y + 20);
  await page.mouse.down();
  for (let step = 0; step < 60; step++) {
    await page.mouse.move(box.x + box.width - 20 - 4 * step, box.y + 20 + 3 * step);
  }
  await page.mouse.up();
  const at = await frames;
  const gaps = at.slice(1).map((time, index) => time - at[index]).sort((a, b) => a - b);
  tell("a frame while it is moved, 95th percentile", `${gaps[Math.floor(0.95 * gaps.length)].toFixed(1)} ms`);
  await page.context().close();
}

async function send(url, name, text) {
  const answer = await fetch(`${url}/api/v1/bases/default/files/${name}`, { method: "PUT", body: text });
  const { job } = await answer.json();
  for (;;) {
    const { stand } = await (await fetch(`${url}/api/v1/bases/default/jobs/${job}`)).json();
    if (stand !== "waiting" && stand !== "running") {
      return;
    }
    await new Promise((done) => setTimeout(done, 50));
  }
}

console.log("| what | seen |\n| --- | --- |");
const browser = await launch();
try {
  const held = await place();
  try {
    await many(held);
    const server = await startServer(held);
    await paints(browser, server.url, "10,000 documents", 1);
    await paints(browser, server.url, "10,000 documents", 4);
    await lists(browser, server.url, "10,000");
    await server.stop();
  } finally {
    await held.remove();
  }
  if (large) {
    const held = await place();
    try {
      await cp(large, join(held.folder, "base"), { recursive: true });
      const server = await startServer(held);
      const words = drawn();
      // What the base leaves to indexing is done first.
      await timed("a sentence for each of 100,000 passages", () => send(server.url, "first.md", "# First\n\nThe first.\n"));
      await timed("a file of fifty passages, indexed into a million atoms", () => send(server.url, "fifty.md", Array.from({ length: 50 }, () => words(100)).join("\n\n")));
      await send(server.url, "hub.md", `# Hub\n\n${Array.from({ length: 400 }, (_, at) => `## Part ${at}\n\n${words(60)}.`).join("\n\n")}\n`);
      await graph(browser, server.url);
      await lists(browser, server.url, "100,003");
      await server.stop();
    } finally {
      await held.remove();
    }
  }
} finally {
  await browser.close();
}
