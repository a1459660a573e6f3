// Tests the questions that are made from the documents of a base.
import { expect, test } from "vitest";

import type { Schemas } from "../lib/api";
import { suggestionsFrom } from "./suggestions";

const column = (name: string, kind: Schemas["ColumnKind"], distinct: number, samples: string[] = []): Schemas["DataColumn"] =>
  ({ name, sql: name, kind, unit: null, filled: 66, unread: 0, distinct, least: null, greatest: null, samples });
const table = (title: string, rows: number, columns: Schemas["DataColumn"][]): Schemas["DataTable"] => ({ name: title, title, about: [], columns, rows, left_out: 0, parts: [] });
const REPAIRS = table("repairs", 66, [column("order", "identifier", 66, ["MR-1"]), column("port", "category", 4), column("hours", "real", 23)]);

test("tables_and_titles_give_questions_of_several_kinds", () => {
  expect(suggestionsFrom({ tables: [REPAIRS], titles: ["Handbook", "Notes"], questions: [] }, "en")).toEqual([
    { kind: "total", table: "repairs", column: "hours" },
    { kind: "lookup", table: "repairs", row: "MR-1", column: "port" },
    { kind: "largest", table: "repairs", column: "hours" },
    { kind: "each", table: "repairs", column: "hours", by: "port" },
    { kind: "summary", title: "Handbook" },
    { kind: "count", table: "repairs" },
  ]);
});

test("atomic_questions_come_first_and_there_are_at_most_six", () => {
  const found = suggestionsFrom({ tables: [REPAIRS, { ...REPAIRS, title: "more" }], titles: ["a", "b", "c"], questions: ["Who?", "What?", "Where?", "When?"] }, "en");
  expect(found.slice(0, 3).map((one) => one.kind)).toEqual(["atomic", "atomic", "atomic"]);
  expect(found.length).toBe(6);
});

test("long_names_and_values_that_repeat_too_rarely_give_no_question", () => {
  const few = table("few", 5, [column("order", "text", 5, ["x"]), column("port", "category", 4)]);
  expect(suggestionsFrom({ tables: [few], titles: ["t".repeat(80)], questions: [] }, "en")).toEqual([{ kind: "count", table: "few" }]);
  expect(suggestionsFrom({ tables: [], titles: [], questions: [] }, "en")).toEqual([]);
});

const kindsOf = (tables: Schemas["DataTable"][], language: "en" | "zh" = "en") => suggestionsFrom({ tables, titles: [], questions: [] }, language).map((one) => one.kind);

test("a_title_of_two_tables_gives_no_question", () => {
  expect(kindsOf([REPAIRS, { ...REPAIRS, name: "repairs_2" }])).toEqual([]);
  expect(suggestionsFrom({ tables: [REPAIRS, { ...REPAIRS, title: "repairs 2024" }], titles: [], questions: [] }, "en").every((one) => "table" in one && one.table === "repairs 2024")).toBe(true);
  expect(kindsOf([{ ...REPAIRS, title: "Repairs_2024" }, { ...REPAIRS, title: "repairs 2024" }])).toEqual([]);
});

test("questions_are_in_the_language_of_the_page", () => {
  const chinese = table("片区", 9, [column("路段", "identifier", 9, ["梧桐路"]), column("区", "category", 4), column("抢修站", "category", 2), column("片区长", "category", 4), column("居民户数", "integer", 9)]);
  expect(suggestionsFrom({ tables: [REPAIRS, chinese], titles: ["Handbook", "员工手册"], questions: ["Who?", "谁？"] }, "zh")).toEqual([
    { kind: "atomic", question: "谁？" },
    { kind: "total", table: "片区", column: "居民户数" },
    { kind: "lookup", table: "片区", row: "梧桐路", column: "抢修站" },
    { kind: "largest", table: "片区", column: "居民户数" },
    // Not by `区`, which is a part of `片区长`.
    { kind: "each", table: "片区", column: "居民户数", by: "抢修站" },
    { kind: "summary", title: "员工手册" },
  ]);
  expect(suggestionsFrom({ tables: [{ ...chinese, title: "areas" }], titles: [], questions: ["谁？"] }, "en")).toEqual([{ kind: "count", table: "areas" }]);
});

test("names_with_underscores_are_written_with_blanks_if_they_stay_unique", () => {
  const weeks = table("parts", 8, [column("part", "identifier", 8, ["7", "AC-4"]), column("lead_weeks", "integer", 6), column("price", "integer", 6), column("price_net", "integer", 6), column("price net", "integer", 6)]);
  expect(suggestionsFrom({ tables: [weeks], titles: [], questions: [] }, "en")).toEqual([
    { kind: "total", table: "parts", column: "lead weeks" },
    { kind: "lookup", table: "parts", row: "AC-4", column: "lead weeks" },
    { kind: "largest", table: "parts", column: "lead weeks" },
    { kind: "count", table: "parts" },
  ]);
});

test("rows_are_counted_where_the_title_is_one_word", () => {
  expect(kindsOf([table("Cranes by port", 6, [column("port", "category", 4)])])).toEqual([]);
});

test("shares_and_prices_per_metre_have_no_sum", () => {
  const shares = table("months", 12, [column("month", "date", 12), { ...column("leaks", "real", 12), unit: "%" }]);
  expect(kindsOf([shares])).toEqual(["largest", "count"]);
  const prices = table("pipes", 12, [column("pipe", "text", 12), { ...column("price", "real", 12), unit: "EUR/m" }]);
  expect(kindsOf([prices])).toEqual(["largest", "count"]);
});
