// Tests that pending files are distinguished from running and finished ones.
import { expect, test } from "vitest";

import { pendingOf } from "./pending";

const sent = (file: string, in_base = false) => ({ file, bytes: 1, in_base });
const names = (...given: Parameters<typeof pendingOf>) => pendingOf(...given).map(({ file }) => file);

test("a file that is not in the base is pending, and so is a newer version", () => {
  const all = [sent("a.md"), sent("b.md", true), sent("c.md", true), sent("d.md")];
  expect(names(all, [], new Set())).toEqual(["a.md", "d.md"]);
  expect(names(all, ["c.md", "gone.md"], new Set())).toEqual(["a.md", "c.md", "d.md"]);
});

test("a file in use is not pending, and any file may be in use", () => {
  const all = [sent("a.md"), sent("b.md", true)];
  expect(names(all, ["b.md"], new Set(["a.md"]))).toEqual(["b.md"]);
  expect(names(all, ["b.md"], null)).toEqual([]);
});
