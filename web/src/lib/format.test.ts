// Tests numbers, money, bytes and durations in both languages.
import { afterEach, expect, test } from "vitest";

import { formatAgo, formatBytes, formatDuration, formatLanguage, formatMoney, formatNumber, formatPercent } from "./format";
import { preferences } from "./preferences.svelte";

afterEach(() => {
  preferences.language = "en";
});

function all(): string[] {
  return [
    formatNumber(12345.6), formatPercent(0.421, 1), formatMoney(0.00421), formatMoney(12.5), formatMoney(0),
    formatBytes(0), formatBytes(999), formatBytes(1_540_000), formatDuration(340), formatDuration(3210), formatDuration(125_000),
    formatDuration(3_840_000), formatAgo(0, 300_000),
  ];
}

test("in English", () => {
  preferences.language = "en";
  expect(all()).toEqual(["12,346", "42.1%", "$0.0042", "$12.50", "$0.00", "0 bytes", "999 bytes", "1.5 MB", "340 ms", "3.2 sec", "2 min 5 sec", "1 hr 4 min", "5 minutes ago"]);
});

test("in Chinese", () => {
  preferences.language = "zh";
  expect(all()).toEqual(["12,346", "42.1%", "$0.0042", "$12.50", "$0.00", "0 B", "999 B", "1.5 MB", "340毫秒", "3.2秒", "2分钟 5秒", "1小时 4分钟", "5分钟前"]);
});

test("languages by their codes", () => {
  const names = () => ["vie", "deu", "fas", "x"].map(formatLanguage);
  preferences.language = "en";
  expect(names()).toEqual(["Vietnamese", "German", "Persian", "x"]);
  preferences.language = "zh";
  expect(names()).toEqual(["越南语", "德语", "波斯语", "x"]);
});
