// Tests the shell and the shared pieces in a browser: `npm run browser`, after a build; `SHOTS=folder` keeps pictures.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "vite";

import { DESKTOP, PHONE, becomes, isSound, launch, open, settled, shooter } from "./browser.mjs";
import { sendProblem, serve } from "./serve.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const shoot = shooter("");
// Not all that the tabs ask for is made up here: Chromium reports each 404.
const MISSING = { expected: /404/ };
const bases = [{ name: "default" }, { name: "law" }, { name: "技术手册" }];
const answers = { "GET /api/v1/bases": bases };

async function looks(browser, url) {
  for (const [screen, viewport] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
    for (const colorScheme of ["light", "dark"]) {
      for (const locale of ["en-US", "zh-CN"]) {
        const page = await open(browser, url, { viewport, colorScheme, locale });
        for (const tab of ["ask", "knowledge", "runs", "settings"]) {
          await page.goto(`${url}#/${tab}`);
          await page.locator(`nav a[href^="#/${tab}"][aria-current]`).first().waitFor();
          await isSound(page, MISSING);
          await shoot(page, `${tab}-${screen}-${colorScheme}-${locale.slice(0, 2)}`);
        }
        await page.context().close();
      }
    }
  }
}

async function moves(browser, url) {
  const page = await open(browser, url);
  await page.locator("main h1").waitFor();
  await becomes(() => page.title(), "Ask · pikerag");
  // The second key has to follow the first within a time: nothing is awaited between them.
  await Promise.all(["g", "r"].map((key) => page.keyboard.press(key)));
  await page.waitForFunction(() => document.activeElement?.textContent === "Runs");
  await becomes(() => page.title(), "Runs · pikerag");
  await page.getByRole("combobox").selectOption("技术手册");
  await page.waitForURL(/#\/runs\/%E6/);
  await page.getByRole("link", { name: "Settings" }).click();
  await page.waitForURL(/#\/settings\/%E6/);
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await isSound(page, MISSING);
  await shoot(page, "help");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "将页面切换为中文" }).click();
  await becomes(() => page.locator("html").getAttribute("lang"), "zh-CN");
  await becomes(() => page.title(), "设置 · pikerag");
  await page.getByRole("button", { name: /跟随系统/ }).click();
  await page.getByRole("button", { name: /浅色主题/ }).click();
  await becomes(() => page.locator("html").getAttribute("data-theme"), "dark");
  await page.reload();
  await page.locator("main h1").waitFor();
  await becomes(() => page.locator("html").getAttribute("data-theme"), "dark");
  await page.goto(`${url}#/ask/nowhere`);
  await page.getByText("没有名为“nowhere”的知识库").waitFor();
  await isSound(page, MISSING);
  await shoot(page, "no-such-base");
  await page.reload();
  await page.getByText("nowhere").waitFor();
  await page.keyboard.press("Tab");
  await shoot(page, "skip");
  await page.keyboard.press("Enter");
  await becomes(() => page.evaluate(() => document.activeElement?.tagName), "MAIN");
  await page.context().close();
}

async function asksForKey(browser) {
  const given = [];
  const { url, close } = await serve(join(root, "dist"), {
    "GET /api/v1/bases": (request, response) => {
      given.push(request.headers.authorization);
      return request.headers.authorization === "Bearer right" ? bases : sendProblem(response, 401, "no-key");
    },
  });
  const page = await open(browser, url);
  const dialog = page.getByRole("dialog", { name: "A key is needed" });
  for (const key of ["wrong", "right"]) {
    await dialog.waitFor();
    page.complaints.length = 0; // Chromium tells each 401.
    await isSound(page);
    await shoot(page, `key-${key}`);
    await page.getByLabel("Key", { exact: true }).fill(key);
    await page.keyboard.press("Enter");
    await becomes(() => given.at(-1), `Bearer ${key}`);
  }
  await page.locator("main h1").waitFor();
  assert.deepEqual(given, [undefined, "Bearer wrong", "Bearer right"]);
  await becomes(() => dialog.count(), 0);
  await page.evaluate(() => sessionStorage.clear());
  await page.reload();
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("alert").getByRole("button", { name: "Try again" }).click();
  await dialog.waitFor();
  close();
  await page.context().close();
}

async function isUnreachable(browser) {
  const { url, close } = await serve(join(root, "dist"), answers);
  const page = await open(browser, url);
  await page.route("**/api/**", (route) => route.abort());
  await page.reload();
  await page.getByText("The server cannot be reached").waitFor();
  await shoot(page, "unreachable");
  close();
  await page.context().close();
}

async function pieces(browser) {
  const folder = await mkdtemp(join(tmpdir(), "gallery-"));
  const input = join(root, "browser/gallery/index.html");
  await build({ root, logLevel: "warn", build: { outDir: folder, emptyOutDir: true, rollupOptions: { input } } });
  const came = uploads();
  const { url, close } = await serve(folder, came.answers);
  for (const colorScheme of ["light", "dark"]) {
    const page = await open(browser, `${url}browser/gallery/index.html`, { colorScheme });
    await page.locator("[data-markdown] table").waitFor();
    await shoot(page, `pieces-${colorScheme}`, { fullPage: true });
    await isSound(page);
    await isHarmless(page);
    await rowsMove(page);
    await uploadGoesOn(page, came);
    await page.getByRole("tab", { name: "Passages" }).focus();
    await page.keyboard.press("ArrowRight");
    await becomes(() => page.locator("[data-panel]").textContent(), "b");
    await page.getByRole("button", { name: "Toast" }).click();
    await page.getByText("Saved").waitFor();
    await page.getByRole("button", { name: "Dialog" }).click();
    await shoot(page, `dialog-${colorScheme}`);
    await isSound(page);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Drawer" }).click();
    await page.locator("dialog[open]").waitFor();
    await settled(page);
    await shoot(page, `drawer-${colorScheme}`);
    await page.mouse.click(100, 300);
    await becomes(() => page.locator("dialog[open]").count(), 0);
    await page.context().close();
  }
  close();
  await rm(folder, { recursive: true });
}

/** What a hostile text wants does not happen. */
async function isHarmless(page) {
  const text = page.locator("[data-markdown]");
  assert.equal(await text.locator("img, script, b, [onclick], [style]").count(), 0);
  const links = await text.locator("a").evaluateAll((all) => all.map((one) => [one.textContent, one.getAttribute("href"), one.target, one.rel].join(" ").trim()));
  assert.deepEqual(links, [
    "the notes https://example.org/a?b=1 _blank noopener noreferrer", "js", "data", "rel", "https://auto.example https://auto.example _blank noopener noreferrer",
  ]);
  await becomes(() => text.locator(".citation").count(), 2);
  await text.locator(".citation").nth(1).click();
  await page.getByText("cited 2").waitFor();
}

/** A server that takes `folder/a b.bin` in pieces, and breaks the connection in the second. */
function uploads() {
  const came = { bytes: Buffer.alloc(0), requests: [] };
  came.answers = {
    "GET /api/v1/bases/law/uploads": () => ({ file: "", held: came.bytes.length, is_whole: false }),
    "PUT /api/v1/bases/law/files/folder/a b.bin": async (request, response) => {
      const [, from, whole] = /bytes (\d+)-\d+\/(\d+)/.exec(request.headers["content-range"]).map(Number);
      came.requests.push(`${request.url.split("/").pop()} from ${from}`);
      // Chromium sends by itself once more what broke off.
      if (from !== came.bytes.length) {
        return sendProblem(response, 409, "out-of-order");
      }
      for await (const piece of request) {
        came.bytes = Buffer.concat([came.bytes, piece]);
        if (came.requests.length === 2 && from + 1_000_000 < came.bytes.length) {
          response.destroy();
          return undefined;
        }
      }
      return { file: "folder/a b.bin", held: came.bytes.length, is_whole: came.bytes.length === whole };
    },
  };
  return came;
}

async function uploadGoesOn(page, came) {
  came.bytes = Buffer.alloc(0);
  came.requests.length = 0;
  const buffer = Buffer.from(Uint32Array.from({ length: 2_500_000 }, (_, number) => number).buffer);
  await page.getByLabel("File").setInputFiles({ name: "a b.bin", mimeType: "application/octet-stream", buffer });
  await page.getByText(`sent 1, held ${buffer.length}`).waitFor();
  assert.ok(came.bytes.equals(buffer));
  const [first, second] = came.requests.map((request) => /^a%20b\.bin\?hold=true&upload=([\w-]+) from (\d+)$/.exec(request));
  assert.deepEqual([first[2], second[2]], ["0", "4194304"]);
  // Both pieces are of one upload.
  assert.equal(first[1], second[1]);
  page.complaints.length = 0; // Chromium tells the broken connection.
}

async function rowsMove(page) {
  const rows = page.getByRole("grid").getByRole("row");
  assert.ok((await rows.count()) < 40);
  await rows.first().focus();
  for (const [key, row] of [["End", "10000"], ["ArrowUp", "9999"]]) {
    await page.keyboard.press(key);
    await becomes(() => page.evaluate(() => document.activeElement?.getAttribute("aria-rowindex")), row);
  }
  await page.keyboard.press("Enter");
  await page.getByText("activated 9998").waitFor();
  await becomes(() => page.evaluate(() => document.activeElement?.getAttribute("aria-rowindex")), "9999");
  await page.keyboard.press("Tab");
  await becomes(() => page.evaluate(() => document.activeElement?.ariaLabel), "Delete 9998");
  await page.keyboard.press("Home");
  await page.waitForFunction(() => document.activeElement?.getAttribute("aria-rowindex") === "1");
}

const browser = await launch();
try {
  const { url, close } = await serve(join(root, "dist"), answers);
  await looks(browser, url);
  await moves(browser, url);
  close();
  await asksForKey(browser);
  await isUnreachable(browser);
  await pieces(browser);
  console.log("the shell and the pieces do what they are to do");
} finally {
  await browser.close();
}
