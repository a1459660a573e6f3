// How is a page looked at? In Debian's Chromium, with all it complains of collected.
import { deepStrictEqual as deepEqual } from "node:assert";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { isDeepStrictEqual } from "node:util";

import { chromium } from "playwright-core";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

export function launch() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true, args: FLAGS });
}

/** A page in a context of its own. `page.complaints`: errors, refusals by the policy, requests to elsewhere. */
export async function open(browser, url, { viewport = DESKTOP, colorScheme = "light", locale = "en-US", ...more } = {}) {
  const context = await browser.newContext({ viewport, colorScheme, locale, ...more });
  const page = await context.newPage();
  if (process.env.SLOW) {
    // As on a machine so many times slower: what is not waited for shows.
    await (await context.newCDPSession(page)).send("Emulation.setCPUThrottlingRate", { rate: Number(process.env.SLOW) });
  }
  page.complaints = [];
  page.on("console", (message) => message.type() === "error" && page.complaints.push(message.text()));
  page.on("pageerror", (error) => page.complaints.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith(new URL(url).origin) && !/^(data|blob):/.test(request.url())) {
      page.complaints.push(`request to ${request.url()}`);
    }
  });
  await page.goto(url);
  return page;
}

/** What axe finds wrong with a page, a line each; what comes into sight has come. */
export async function accessibility(page) {
  await page.evaluate(() => Promise.allSettled(document.getAnimations().filter((one) => one.effect?.getTiming().iterations !== Infinity).map((one) => one.finished)));
  await page.evaluate(await readFile(AXE, "utf8"));
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
  return violations.map(({ id, help, nodes }) => `${id}: ${help} (${nodes.map((node) => node.html.slice(0, 120)).join(" | ")})`);
}

/** What is read comes to be what is expected, or is told as it was last: a page on a busy machine takes its time. */
export async function becomes(read, expected, message) {
  const by = Date.now() + 15_000;
  let last = await read();
  while (!isDeepStrictEqual(last, expected) && Date.now() < by) {
    await new Promise((done) => setTimeout(done, 25));
    last = await read();
  }
  deepEqual(last, expected, message);
}
