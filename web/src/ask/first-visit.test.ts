import { expect, test } from "vitest";

import { type Known, isPossible, mayChoose, stepOf } from "./first-visit";

const fresh: Known = { visit: "new", hasModel: false, offline: false, documents: 0, hasAsked: false };

test("a first visit goes from the model over documents to a question", () => {
  expect(stepOf(fresh)).toBe("model");
  const begun: Known = { ...fresh, visit: "begun", hasModel: true };
  expect(stepOf(begun)).toBe("documents");
  expect(stepOf({ ...begun, documents: 2 })).toBe("question");
  expect(stepOf({ ...begun, documents: 2, hasAsked: true })).toBeNull();
});

test("a visit can go on without a model", () => {
  const without: Known = { ...fresh, visit: "without" };
  expect(stepOf(without)).toBe("documents");
  expect(stepOf({ ...without, documents: 1 })).toBe("question");
});

test("the guide stays away where it does not help", () => {
  expect(stepOf({ ...fresh, visit: "over" })).toBeNull();
  expect(stepOf({ ...fresh, offline: true })).toBeNull();
  expect(stepOf({ ...fresh, hasModel: true })).toBeNull();
});

test("the server is asked for models only where the guide may be shown", () => {
  expect(isPossible({ visit: "new", documents: 3, hasModel: true })).toBe(false);
  expect(isPossible({ visit: "new", documents: 0, hasModel: true })).toBe(true);
  expect(isPossible({ visit: "new", documents: 3, hasModel: false })).toBe(true);
  expect(isPossible({ visit: "begun", documents: 3, hasModel: true })).toBe(true);
  expect(isPossible({ visit: "over", documents: 0, hasModel: false })).toBe(false);
});

test("only administrators who see everything choose models", () => {
  expect(mayChoose(null)).toBe(true);
  expect(mayChoose({ scope: "admin", bases: [], filter: "" })).toBe(true);
  expect(mayChoose({ scope: "write", bases: [], filter: "" })).toBe(false);
  expect(mayChoose({ scope: "admin", bases: ["law"], filter: "" })).toBe(false);
  expect(mayChoose({ scope: "admin", bases: [], filter: "folder=open" })).toBe(false);
});
