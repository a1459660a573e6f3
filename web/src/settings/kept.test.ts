// Tests that a renamed base keeps its conversations and uploads, and that a deleted one leaves none.
import { beforeEach, expect, test, vi } from "vitest";
import { moveKept } from "./kept";

class Stored {
  readonly items = new Map<string, string>();
  get length() {
    return this.items.size;
  }
  key = (place: number) => [...this.items.keys()][place] ?? null;
  getItem = (name: string) => this.items.get(name) ?? null;
  setItem = (name: string, value: string) => void this.items.set(name, value);
  removeItem = (name: string) => void this.items.delete(name);
}

let stored: Stored;

beforeEach(() => {
  stored = new Stored();
  vi.stubGlobal("localStorage", stored);
  for (const place of ["pikerag.conversations/law", "pikerag.upload/law/a/b.md", "pikerag.conversations/law-2", "pikerag.base"]) {
    stored.setItem(place, place);
  }
});

test("a renamed base keeps its conversations and uploads", () => {
  moveKept("law", "statutes");
  expect([...stored.items.keys()].sort()).toEqual(["pikerag.base", "pikerag.conversations/law-2", "pikerag.conversations/statutes", "pikerag.upload/statutes/a/b.md"]);
  expect(stored.getItem("pikerag.upload/statutes/a/b.md")).toBe("pikerag.upload/law/a/b.md");
});

test("a deleted base leaves nothing", () => {
  moveKept("law", null);
  expect([...stored.items.keys()].sort()).toEqual(["pikerag.base", "pikerag.conversations/law-2"]);
});
