// Tests that excerpts show words without marks of Markdown.
import { expect, test } from "vitest";

import { plainText } from "./plain";

test("marks of Markdown are taken out", () => {
  expect(plainText("**1. Goods.** Packs, in [incidents](a.jsonl).")).toBe("1. Goods. Packs, in incidents.");
  expect(plainText("| Hall 3 | Final assembly | Joss |")).toBe("Hall 3 | Final assembly | Joss");
  expect(plainText("## Building\n\n- **恒温库**：滑环\n> `HM-7` *now*.")).toBe("Building\n\n恒温库：滑环\nHM-7 now.");
  expect(plainText("| a | b |\n|---|:-:|\n| 1 | 2 |")).toBe("a | b\n1 | 2");
});

test("half of a mark at the edge of an excerpt is taken out", () => {
  expect(plainText("** Sadie leaves **Elm** at **")).toBe("Sadie leaves Elm at");
});

test("a text to read keeps its lists", () => {
  expect(plainText("# Depot\n- **A**: one\n  * two", "• ")).toBe("Depot\n• A: one\n  • two");
});

test("other signs stay", () => {
  for (const text of ["visiting_hours: 10:00-20:00", "2 * 3 * 4 = 24", "-5 °C", "#12", "a | b", "5 > 3", "__init", "ratio 3:1"]) {
    expect(plainText(text)).toBe(text);
  }
});
