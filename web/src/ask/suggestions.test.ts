// Tests the questions that are made from the documents of a base.
import { expect, test } from "vitest";

import type { Schemas } from "../lib/api";
import { suggestionsFrom } from "./suggestions";

const column = (name: string, kind: Schemas["ColumnKind"], distinct: number, samples: string[] = []): Schemas["DataColumn"] =>
  ({ name, sql: name, kind, unit: null, filled: 66, unread: 0, distinct, least: null, greatest: null, samples });
const table = (title: string, rows: number, columns: Schemas["DataColumn"][]): Schemas["DataTable"] => ({ name: title, title, about: [], columns, rows, left_out: 0, parts: [] });
const REPAIRS = table("repairs", 66, [column("order", "identifier", 66, ["MR-1"]), column("port", "category", 4), column("hours", "real", 23)]);

test("tables_and_titles_give_questions_of_several_kinds", () => {
  expect(suggestionsFrom({ tables: [REPAIRS], titles: ["Handbook", "Notes"], questions: [] })).toEqual([
    { kind: "lookup", table: "repairs", row: "MR-1", column: "port" },
    { kind: "each", table: "repairs", column: "hours", by: "port" },
    { kind: "largest", table: "repairs", column: "hours" },
    { kind: "summary", title: "Handbook" },
    { kind: "summary", title: "Notes" },
  ]);
});

test("atomic_questions_come_first_and_there_are_at_most_six", () => {
  const found = suggestionsFrom({ tables: [REPAIRS, { ...REPAIRS, title: "more" }], titles: ["a", "b", "c"], questions: ["Who?", "What?", "Where?", "When?"] });
  expect(found.slice(0, 3).map((one) => one.kind)).toEqual(["atomic", "atomic", "atomic"]);
  expect(found.length).toBe(6);
});

test("long_names_and_values_that_repeat_too_rarely_give_no_question", () => {
  const few = table("few", 5, [column("order", "text", 5, ["x"]), column("port", "category", 4)]);
  expect(suggestionsFrom({ tables: [few], titles: ["t".repeat(80)], questions: [] })).toEqual([]);
  expect(suggestionsFrom({ tables: [], titles: [], questions: [] })).toEqual([]);
});
