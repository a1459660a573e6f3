// Tests the access of a key.
import { expect, test } from "vitest";

import { accessOf } from "./access";

test("by scope, and less where a filter hides something", () => {
  expect(accessOf(null)).toEqual({ mayWrite: true, mayForget: true, sees: "all" });
  expect(accessOf({ scope: "admin", filter: "" })).toEqual({ mayWrite: true, mayForget: true, sees: "all" });
  expect(accessOf({ scope: "write", filter: "" })).toEqual({ mayWrite: true, mayForget: false, sees: "all" });
  expect(accessOf({ scope: "read", filter: "" })).toEqual({ mayWrite: false, mayForget: false, sees: "all" });
  expect(accessOf({ scope: "admin", filter: "folder=law" })).toEqual({ mayWrite: false, mayForget: false, sees: "part" });
});
