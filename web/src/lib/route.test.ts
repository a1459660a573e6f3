// Tests that an address gives back its parts.
import { expect, test } from "vitest";

import { hrefOf, parseRoute } from "./route.svelte";

test("an address names what it was made of", () => {
  const href = hrefOf("knowledge", "法律/2?", ["a/b.pdf", "100%"], { page: "3", q: "a&b" });
  const { query, ...found } = parseRoute(href);
  expect(found).toEqual({ tab: "knowledge", base: "法律/2?", rest: ["a/b.pdf", "100%"] });
  expect(Object.fromEntries(query)).toEqual({ page: "3", q: "a&b" });
});

test("an address that says little or nonsense names a tab", () => {
  for (const hash of ["", "#", "#/", "#/nowhere", "#ask"]) {
    expect(parseRoute(hash)).toMatchObject({ tab: "ask", base: null, rest: [] });
  }
  expect(parseRoute("#/runs/%zz/%e4")).toMatchObject({ tab: "runs", base: "%zz", rest: ["%e4"] });
  expect(parseRoute(hrefOf("runs"))).toMatchObject({ tab: "runs", base: null });
});
