// Tests that documents and files are joined, found and sorted.
import { expect, test } from "vitest";

import { type FileLine, type Source, listed, requestedAs, rowsOf, shownAs, typeName } from "./rows";

const source = (uri: string, title = uri, media_type = "text/markdown"): Source => ({ id: uri, uri, title, media_type, hash: "", language: null, metadata: {} });
const file = (name: string, chunks = 1, documents = 1, on_disk: FileLine["on_disk"] = "there"): FileLine => ({ name, path: `/x/${name}`, chunks, documents, on_disk, hash: "", same_as: [], sent_as: null });

test("documents know their file, and files without a document are listed too", () => {
  const rows = rowsOf([source("a.md"), source("r.jsonl#1"), source("r.jsonl#2"), source("lost.md")], [file("a.md", 3), file("r.jsonl", 9, 2), file("bare.pdf", 0, 0, "gone")]);
  expect(rows.map((row) => [row.name, row.passages, row.state])).toEqual([
    ["a.md", 3, "there"], ["r.jsonl#1", null, "there"], ["r.jsonl#2", null, "there"], ["lost.md", null, "unknown"], ["bare.pdf", 0, "gone"],
  ]);
  expect(rowsOf([source("a.md")], null)[0]).toMatchObject({ state: "unknown", file: null });
});

test("they are found by all words, in any order of columns", () => {
  const rows = rowsOf([source("f10.md", "Crane"), source("f9.md", "Brake"), source("f1.pdf", "起重机", "application/pdf")], [file("f10.md", 1), file("f9.md", 50), file("f1.pdf", 7)]);
  const names = (filter: string, by: Parameters<typeof listed>[2]["by"], isDescending = false) => listed(rows, filter, { by, isDescending }).map((row) => row.name);
  expect(names("", "name")).toEqual(["f1.pdf", "f9.md", "f10.md"]);
  expect(names("", "passages", true)).toEqual(["f9.md", "f1.pdf", "f10.md"]);
  expect(names("MD crane", "name")).toEqual(["f10.md"]);
  expect(names("起重", "title")).toEqual(["f1.pdf"]);
  expect(names("pdf", "type")).toEqual(["f1.pdf"]);
});

test("ten thousand are filtered and ordered", () => {
  const rows = rowsOf(Array.from({ length: 10_000 }, (_, at) => source(`folder/${at % 97}/file ${at}.md`)), null);
  expect(listed(rows, "file 99", { by: "name", isDescending: true })).toHaveLength(280);
  expect(listed(rows, "", { by: "title", isDescending: false })).toHaveLength(10_000);
});

test("an uploaded file is shown by the name of its upload", () => {
  const sent = (name: string, sent_as: string): FileLine => ({ ...file(name), sent_as });
  const files = [sent("base.uploads/a/b.md", "a/b.md"), sent("base.uploads/a%23b.jsonl", "a#b.jsonl"), file("docs/a.md"), { ...file("docs/copy.md"), same_as: ["base.uploads/a/b.md"] }];
  const byName = new Map(files.map((one) => [one.name, one]));
  const shown = (place: string) => shownAs(place, byName);
  expect(["base.uploads/a/b.md", "base.uploads/a%23b.jsonl#3", "docs/a.md#1", "nowhere.md"].map(shown)).toEqual(["a/b.md", "a#b.jsonl#3", "docs/a.md#1", "nowhere.md"]);
  const rows = rowsOf([source("base.uploads/a%23b.jsonl#3")], files);
  expect(rows.map((row) => row.shown)).toEqual(["a#b.jsonl#3", "a/b.md", "docs/a.md", "docs/copy.md"]);
  expect(rows.at(-1)?.sameAs).toEqual(["a/b.md"]);
});

test("a file is requested by its path if an upload has its name", () => {
  const files = [file("docs/a.md"), { ...file("base.uploads/docs/a.md"), sent_as: "docs/a.md" }, file("docs/b.md")];
  expect(files.map((one) => requestedAs(one.name, files))).toEqual(["/x/docs/a.md", "base.uploads/docs/a.md", "docs/b.md"]);
  expect(requestedAs("docs/a.md", null)).toBe("docs/a.md");
});

test("types are named in a word", () => {
  expect(["application/pdf", "text/html; charset=x", "application/x-odd", "image/png", ""].map(typeName)).toEqual(["PDF", "HTML", "ODD", "PNG", ""]);
});
