// Is what waits told apart from what is under way and from what is done?
import { expect, test } from "vitest";

import { waitingOf } from "./waiting";

const sent = (file: string, in_base = false) => ({ file, bytes: 1, in_base });
const names = (...given: Parameters<typeof waitingOf>) => waitingOf(...given).map(({ file }) => file);

test("what is not in the base waits, and a newer version of what is", () => {
  const all = [sent("a.md"), sent("b.md", true), sent("c.md", true), sent("d.md")];
  expect(names(all, [], new Set())).toEqual(["a.md", "d.md"]);
  expect(names(all, ["c.md", "gone.md"], new Set())).toEqual(["a.md", "c.md", "d.md"]);
});

test("what is under way does not, and all may be", () => {
  const all = [sent("a.md"), sent("b.md", true)];
  expect(names(all, ["b.md"], new Set(["a.md"]))).toEqual(["b.md"]);
  expect(names(all, ["b.md"], null)).toEqual([]);
});
