// Tests that another key finds nothing of the key before.
import { beforeEach, expect, test, vi } from "vitest";
import { keepKey, key, ownsStored } from "./key.svelte";

const ADA = "pikerag_aaaaaaaa_secret";
const EVE = "pikerag_eeeeeeee_secret";

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
const reload = vi.fn();

beforeEach(() => {
  stored = new Stored();
  vi.stubGlobal("localStorage", stored);
  vi.stubGlobal("location", { reload });
  reload.mockClear();
  key.current = null;
});

test("the same key keeps what it stored", () => {
  keepKey(ADA);
  stored.setItem("pikerag.conversations/default", "[]");
  key.current = null;
  expect(ownsStored()).toBe(false);
  keepKey(ADA);
  expect(ownsStored()).toBe(true);
  expect(stored.getItem("pikerag.conversations/default")).toBe("[]");
  expect(reload).not.toHaveBeenCalled();
});

test("another key, and none, delete questions, answers and uploads", () => {
  for (const next of [EVE, null]) {
    key.current = null;
    keepKey(ADA);
    for (const name of ["pikerag.conversations/default", "pikerag.held/default", "pikerag.upload/default/a.md", "pikerag.preferences"]) {
      stored.setItem(name, "x");
    }
    reload.mockClear();
    keepKey(next);
    expect([...stored.items.keys()].sort()).toEqual(["pikerag.owner", "pikerag.preferences"]);
    expect(reload).toHaveBeenCalledOnce();
  }
});
