// Tests that a citation opens its passage with the words marked; a part of ask.mjs.
import assert from "node:assert/strict";

import { becomes, isSound, settled } from "./browser.mjs";

/** The words that are cited are marked: in Chinese text, on the page of a PDF, in the row of a table. */
export async function sources(page, exchange, shoot) {
  const edited = exchange.locator(".sources li").filter({ hasText: "corrected" });
  await becomes(() => edited.locator(".number").allTextContents(), ["2"], "the mark of a corrected passage");
  await exchange.locator(".answer button[data-citation='1']").click();
  const drawer = page.locator("dialog[open]");
  await drawer.locator("mark").waitFor();
  await becomes(() => drawer.locator("mark").textContent(), "制动衬片小于6毫米时，须立即更换。");
  await becomes(() => drawer.locator("mark").evaluate((mark) => mark.getBoundingClientRect().top < innerHeight), true);
  await isSound(page);
  await shoot(page, "source-text");
  await page.keyboard.press("Escape");
  await becomes(() => page.evaluate(() => document.activeElement?.dataset.citation), "1", "the focus comes back");
  await exchange.locator(".answer button[data-citation='2']").click();
  await drawer.locator(".mark.words").waitFor();
  await settled(page);
  const box = await drawer.locator(".mark.words").evaluate((mark) => {
    const [one, whole] = [mark, mark.parentElement].map((element) => element.getBoundingClientRect());
    return [one.left - whole.left, one.width].map((part) => (100 * part) / whole.width).concat([(100 * (one.top - whole.top)) / whole.height]);
  });
  assert.ok(Math.abs(box[0] - 10) < 0.5 && 38 < box[1] && box[1] < 55 && Math.abs(box[2] - 12.5) < 0.5, `the half of the line, not all of it: ${box}`);
  await isSound(page);
  await shoot(page, "source-page");
  await drawer.getByRole("button", { name: "Previous page" }).click();
  await drawer.getByText("Page 1 of 3").waitFor();
  await becomes(() => drawer.getByRole("button", { name: "Previous page" }).isDisabled(), true);
  await becomes(() => drawer.locator(".mark").count(), 0);
  const next = drawer.getByRole("button", { name: "Next page" });
  await next.click();
  await drawer.getByText("Page 2 of 3").waitFor();
  await next.click();
  await drawer.getByText("Page 3 of 3").waitFor();
  await drawer.locator(".page img").waitFor();
  await becomes(() => next.isDisabled(), true);
  await isSound(page);
  await shoot(page, "last-page");
  // Where there is no page after it, a key leads nowhere either.
  await drawer.locator(".box").press("PageDown");
  await drawer.getByText("Page 3 of 3").waitFor();
  await drawer.locator(".box").press("PageUp");
  await drawer.getByText("Page 2 of 3").waitFor();
  await drawer.getByRole("button", { name: "Larger" }).click();
  await drawer.getByText("150%").waitFor();
  await drawer.getByRole("tab", { name: "Text" }).click();
  await becomes(() => drawer.locator("mark").textContent(), "The oil is changed every year.");
  await page.keyboard.press("Escape");
}
