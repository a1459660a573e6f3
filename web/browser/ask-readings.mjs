// Tests the readings that a refused answer over tables offers; a part of ask.mjs.
import assert from "node:assert/strict";

import { READINGS, STATEMENTS } from "./ask-answers.mjs";
import { becomes, isSound, open, settled } from "./browser.mjs";

const last = (page) => page.locator(".exchange").last();
const WORDS = {
  "en-US": { title: "Did you mean:", open: "Open in tables", rows: "The first 2 rows; there are more", none: "The result has no rows.", wrong: "The statement has an error", help: "Choose a reading of the question", key: "Use single-key shortcuts", label: "Result" },
  "zh-CN": { title: "您是指：", open: "在表格中打开", rows: "前 2 行，后面还有", none: "结果没有行。", wrong: "语句有误", help: "选择对问题的一种理解", key: "启用单键快捷键", label: "结果" },
};

/** A refused answer over tables offers its readings: a click or a key runs one, its result is a figure or a table. */
export async function offersReadings(browser, url, made, ask, shoot) {
  for (const [locale, colorScheme] of [["en-US", "light"], ["zh-CN", "dark"]]) {
    const own = WORDS[locale];
    const page = await open(browser, url, { locale, colorScheme });
    await ask(page, "Which readings are there?");
    const list = last(page).getByRole("region", { name: own.title });
    const button = (at) => list.getByRole("button", { name: READINGS[at] });
    await becomes(() => list.locator("ol button bdi").allTextContents(), READINGS, "a reading without a statement has no button");
    const before = made.asked.length;
    await isSound(page);
    assert.equal(made.asked.length, before, "no statement runs by itself");
    // One row and one column: a figure beside its reading.
    await button(0).click();
    await list.locator(".figure").getByText("1234.5", { exact: true }).waitFor();
    assert.deepEqual(made.asked.at(-1), { statement: STATEMENTS[0], most: 100 });
    await becomes(() => list.getByRole("status").last().innerText().then((text) => text.replace(/\s+/g, " ")), `1234.5 ${READINGS[0]}`);
    await becomes(() => button(0).getAttribute("aria-pressed"), "true");
    const [size, usual] = await list.evaluate((box) => [".figure", "h3"].map((one) => parseFloat(getComputedStyle(box.querySelector(one)).fontSize)));
    assert.ok(1.5 * usual < size, "the figure is large");
    await isSound(page);
    await shoot(page, `readings-figure-${locale.slice(0, 2)}`);
    // A key chooses, unless somebody types.
    await page.locator("[data-main-input]").fill("");
    await page.keyboard.press("2");
    await becomes(() => page.locator("[data-main-input]").inputValue(), "2");
    await page.locator("[data-main-input]").fill("");
    await page.locator("h1").focus();
    await page.keyboard.press("2");
    const grid = list.getByRole("grid", { name: own.label });
    await becomes(() => grid.getByRole("row").count(), 2);
    assert.match(await grid.innerText(), /<img src=x.*9.*甲港.*–/s);
    await list.getByText(own.rows).waitFor();
    await becomes(() => list.locator(".figure").count(), 0, "the result before is gone");
    await isSound(page);
    await shoot(page, `readings-table-${locale.slice(0, 2)}`);
    await page.keyboard.press("3");
    await list.getByText(own.none).waitFor();
    await becomes(() => grid.count(), 0);
    await button(3).click();
    await list.getByRole("alert").getByText(own.wrong).waitFor();
    page.complaints.length = 0; // Chromium tells each 400.
    await isSound(page);
    // Without single-key shortcuts the numbers are gone, and keys do nothing.
    await page.keyboard.press("?");
    await page.getByText(own.help).waitFor();
    await page.getByLabel(own.key).uncheck();
    await page.keyboard.press("Escape");
    await becomes(() => list.locator("kbd").count(), 0);
    await page.locator("h1").focus();
    const now = made.asked.length;
    await page.keyboard.press("1");
    await settled(page);
    assert.equal(made.asked.length, now);
    // The same in the run's page.
    const id = await last(page).locator(".run").getAttribute("data-run");
    await page.goto(`${url}#/runs/default/${id}`);
    const inRun = page.locator("section", { has: page.locator("[data-choices]") }).last();
    await inRun.getByRole("button", { name: READINGS[1] }).click();
    await becomes(() => inRun.getByRole("grid", { name: own.label }).getByRole("row").count(), 2);
    const href = await inRun.getByRole("link", { name: own.open }).getAttribute("href");
    assert.match(href, /^#\/knowledge\/default\/tables\?sql=/);
    assert.equal(new URLSearchParams(href.split("?")[1]).get("sql"), STATEMENTS[1]);
    page.complaints.length = 0; // That tab asks for what is not made up here.
    await isSound(page);
    await shoot(page, `readings-run-${locale.slice(0, 2)}`);
    await page.context().close();
  }
}
