// Opens pages in Debian's Chromium, collects what they complain of, and waits until they are at rest.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { chromium } from "playwright-core";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
/** A state that has not come after this long never comes: a busy machine may be slow, but no test measures that. */
const PATIENCE_MS = 120_000;
export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

export function launch() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true, args: FLAGS });
}

/** A page in a context of its own. `page.complaints`: errors, refusals by the policy, requests to elsewhere; `page.pending`: requests without an answer. */
export async function open(browser, url, { viewport = DESKTOP, colorScheme = "light", locale = "en-US", reducedMotion = "reduce", ...more } = {}) {
  const context = await browser.newContext({ viewport, colorScheme, locale, reducedMotion, ...more });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  if (process.env.SLOW) {
    // As on a machine so many times slower: what is not waited for shows.
    await (await context.newCDPSession(page)).send("Emulation.setCPUThrottlingRate", { rate: Number(process.env.SLOW) });
  }
  page.complaints = [];
  page.pending = new Set();
  page.on("console", (message) => message.type() === "error" && page.complaints.push([message.text(), message.location().url].filter(Boolean).join(" at ")));
  page.on("pageerror", (error) => page.complaints.push(String(error)));
  page.on("request", (request) => {
    page.pending.add(request);
    if (!request.url().startsWith(new URL(url).origin) && !/^(data|blob):/.test(request.url())) {
      page.complaints.push(`request to ${request.url()}`);
    }
  });
  for (const ended of ["requestfinished", "requestfailed"]) {
    page.on(ended, (request) => page.pending.delete(request));
  }
  // Events come for as long as something goes on.
  page.on("response", (response) => response.headers()["content-type"]?.startsWith("text/event-stream") && page.pending.delete(response.request()));
  await page.goto(url);
  return page;
}

/** Waits until a page is at rest: each request is answered, nothing moves, and it stays so for some frames. */
export async function settled(page) {
  const by = Date.now() + PATIENCE_MS;
  for (let quiet = 0; quiet < 3; ) {
    const isMoving = await page.evaluate(async () => {
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      return document.getAnimations().some((one) => one.playState === "running" && one.effect?.getTiming().iterations !== Infinity);
    });
    quiet = isMoving || 0 < page.pending.size ? 0 : quiet + 1;
    assert.ok(Date.now() < by, `the page does not come to rest: ${[...page.pending].map((request) => request.url())}`);
  }
}

/** Pictures are kept in the folder `SHOTS`, under names that begin with `prefix`. */
export function shooter(prefix, defaults = {}) {
  return async (page, name, options = defaults) => {
    if (process.env.SHOTS) {
      await settled(page);
      await page.screenshot({ path: join(process.env.SHOTS, `${prefix}${name}.png`), ...options });
    }
  };
}

/** At rest, a page passes axe, has complained of nothing but `expected`, is not wider than the screen, and ran nothing hostile. */
export async function isSound(page, { expected = /(?!)/ } = {}) {
  await settled(page);
  assert.deepEqual(await accessibility(page), []);
  assert.deepEqual(page.complaints.filter((line) => !expected.test(line)), []);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "wider than the screen");
  assert.equal(await page.evaluate(() => globalThis.hacked), undefined, "something hostile ran");
  assert.equal(await page.locator("img[src='x'], main script").count(), 0);
}

/** What axe finds wrong with a page, a line each. */
async function accessibility(page) {
  await page.evaluate(await readFile(AXE, "utf8"));
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
  return violations.map(({ id, help, nodes }) => `${id}: ${help} (${nodes.map((node) => node.html.slice(0, 120)).join(" | ")})`);
}

/** Waits until `read` gives what is expected; fails with what it gave last. */
export async function becomes(read, expected, message) {
  const by = Date.now() + PATIENCE_MS;
  let last = await read();
  while (!isDeepStrictEqual(last, expected) && Date.now() < by) {
    await new Promise((done) => setTimeout(done, 25));
    last = await read();
  }
  assert.deepEqual(last, expected, message);
}

/** A gate for servers that are made up: `passed()` waits while it is shut. */
export function gate() {
  let open = () => undefined;
  let opened = Promise.resolve();
  return {
    shut: () => (opened = new Promise((done) => (open = done))),
    open: () => open(),
    passed: () => opened,
  };
}
