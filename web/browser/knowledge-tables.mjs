// Tests the typed tables of the tab Knowledge and their field for SQL, with their part of the made-up server; a part of knowledge.mjs.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

import { PHONE, becomes, open } from "./browser.mjs";
import { sendProblem } from "./serve.mjs";

const EVIL = "<img src=x onerror=alert(1)>";
const TABLES = "#/knowledge/law/tables";

const column = (sql, kind, more = {}) => ({ name: sql, sql, kind, unit: null, filled: 40, unread: 0, distinct: 40, least: null, greatest: null, samples: [], ...more });
const cranes = {
  name: "cranes", title: `Cranes ${EVIL}`, about: ["lifting"], rows: 40, left_out: 2,
  columns: [
    column("year", "year", { least: "1984", greatest: "2023", samples: ["1984", "1985"] }),
    column("load", "real", { name: "Greatest load", unit: "t", filled: 38, unread: 1, least: "1.5", greatest: "120" }),
    column("港口", "category", { samples: [EVIL, "甲港"] }),
  ],
  parts: Array.from({ length: 8 }, (_, at) => ({ source: "0000000000000001", uri: "base.uploads/laws/a.pdf", rows: at })).map((part, at) => (at === 0 ? part : { ...part, source: `000000000000002${at}`, uri: `docs/part ${at}.csv` })),
};
const others = Array.from({ length: 30 }, (_, at) => ({ ...cranes, name: `other_${at}`, title: `Other ${at}`, about: [], columns: [column("a", "text")], parts: [cranes.parts[1]] }));

/** What statements of the tests give; others are wrong. */
const RESULTS = {
  "SELECT * FROM cranes LIMIT 20": { columns: ["year", "load", "港口"], rows: Array.from({ length: 20 }, (_, at) => [1984 + at, at === 3 ? null : at / 7, at === 0 ? EVIL : "甲港"]) },
  "SELECT year, load FROM cranes LIMIT 20": { columns: ["year", "load"], rows: [[1986, 9], [1985, 4], [1984, 6]] },
  "SELECT 港口, count(*), sum(load) FROM cranes GROUP BY 1": { columns: ["港口", "count(*)", "sum(load)"], rows: [["=1+1", 9, 12], ["-x", -1.5e-9, null], ['a,"b"', 3, 2]] },
  "SELECT 港口, count(*), count(load) FROM cranes GROUP BY 1": { columns: ["港口", "count(*)", "count(load)"], rows: [["=1+1", 9, 12], ["-x", -1.5e-9, null], ['a,"b"', 3, 2]] },
  "SELECT many": { columns: ["n", "x"], rows: Array.from({ length: 10_000 }, (_, at) => [`row ${at}`, at]) },
  "SELECT none": { columns: ["n"], rows: [] },
};

/** Answers for the tables of the base at `place`; `state.running` holds statements back. */
export function tableAnswers(place, state, recorded) {
  let asked = {};
  const sql = async (request, response) => {
    const { statement, most } = asked;
    await state.running.passed();
    const result = RESULTS[statement];
    if (!result) {
      return sendProblem(response, 400, "bad-sql", { title: "bad sql", detail: `near "${EVIL}": syntax error` });
    }
    return { columns: result.columns, rows: result.rows.slice(0, most), is_cut: most < result.rows.length };
  };
  const kept = recorded("sql", (request, response) => {
    asked = state.asked.findLast(([what]) => what === "sql")[1];
    return sql(request, response);
  });
  return { [`GET ${place}/tables`]: [cranes, ...others], [`POST ${place}/sql`]: kept };
}

export async function typedTables(browser, url, state, isSound, shoot) {
  const page = await open(browser, url + TABLES);
  await findsTables(page, url, isSound, shoot);
  await writesStatements(page, state, isSound, shoot);
  await drawsResults(page, url, state, isSound, shoot);
  await stopsAndFails(page, url, state, isSound, shoot);
  await page.context().close();
  await onAPhone(browser, url, isSound, shoot);
}

async function findsTables(page, url, isSound, shoot) {
  await page.getByText("31 tables").waitFor();
  const list = page.getByRole("grid", { name: "Tables" });
  assert.match(await list.getByRole("row").first().innerText(), /Cranes <img.*cranes.*40.*3.*laws\/a\.pdf.*and 7 more/s);
  await becomes(() => list.getByRole("link", { name: "laws/a.pdf" }).getAttribute("href"), "#/knowledge/law/documents/0000000000000001");
  await isSound(page);
  const filter = page.getByLabel("Filter by title, column or document");
  await filter.fill("load LIFTING");
  await page.getByText("1 of 31 tables").waitFor();
  await filter.fill("no such");
  await page.getByText("No matching table.").waitFor();
  await filter.fill("cranes");
  await list.getByRole("row").first().focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/tables\/cranes$/);
  // Its first rows are there at once.
  await page.getByText("20 rows", { exact: false }).waitFor();
  await page.getByText("40 rows, 3 columns · 2 rows of totals, notes or repeated headers left out").waitFor();
  const row = (name) => page.getByRole("row").filter({ has: page.getByRole("button", { name: `Insert ${name} into` }) });
  assert.match(await row("load").innerText(), /Greatest load.*number.*1 value is not of this kind.*t\s.*2\s.*40\s.*1\.5\s.*120/s);
  await page.getByRole("button", { name: "Show all 8" }).click();
  await becomes(() => page.getByRole("link", { name: "docs/part 7.csv" }).getAttribute("href"), "#/knowledge/law/documents/0000000000000027");
  // Text among the values: nothing to draw.
  await becomes(() => page.locator("figure").count(), 0);
  await isSound(page);
  await shoot(page, "table-opened");
}

async function writesStatements(page, state, isSound, shoot) {
  const field = page.getByLabel("Statement", { exact: true });
  await becomes(() => field.inputValue(), "SELECT * FROM cranes LIMIT 20");
  await page.getByRole("button", { name: "Insert year into the statement" }).click();
  await page.getByRole("button", { name: "Insert load into the statement" }).click();
  await becomes(() => field.inputValue(), "SELECT year, load FROM cranes LIMIT 20");
  await becomes(() => field.evaluate((one) => document.activeElement === one), true);
  await page.keyboard.press("Control+Enter");
  await page.getByRole("img", { name: "load by year" }).waitFor();
  assert.deepEqual(state.asked.findLast(([what]) => what === "sql")[1], { statement: "SELECT year, load FROM cranes LIMIT 20", most: 1000 });
  // A line goes from the first year to the last, whatever the order of the rows.
  await page.getByText("As a table").click();
  await becomes(() => page.locator("figure td:first-child").allInnerTexts(), ["1984", "1985", "1986"]);
  await isSound(page);
  await shoot(page, "table-line");
  // The address holds the statement; one that was sent to somebody waits until that person runs it.
  await page.waitForURL(/sql=SELECT/);
  const before = state.asked.length;
  await page.reload();
  await becomes(() => field.inputValue(), "SELECT year, load FROM cranes LIMIT 20");
  await isSound(page);
  assert.ok(!state.asked.slice(before).some(([what]) => what === "sql"));
}

async function drawsResults(page, url, state, isSound, shoot) {
  const field = page.getByLabel("Statement", { exact: true });
  await page.goto(url + TABLES);
  await becomes(() => field.inputValue(), "");
  await becomes(() => page.getByRole("button", { name: "Run" }).isDisabled(), true);
  await field.fill("SELECT 港口, count(*), sum(load) FROM cranes GROUP BY 1");
  await page.keyboard.press("Meta+Enter");
  await page.getByRole("img", { name: "sum(load) by 港口" }).waitFor();
  await becomes(() => page.locator("figure").count(), 2, "tons and a count have no axis in common");
  await field.fill("SELECT 港口, count(*), count(load) FROM cranes GROUP BY 1");
  await page.keyboard.press("Meta+Enter");
  await page.getByRole("img", { name: "count(*), count(load) by 港口" }).waitFor();
  await becomes(() => page.locator("canvas").count(), 1);
  await becomes(() => coloursOf(page), 2, "each column has its colour");
  await isSound(page);
  await shoot(page, "table-bars");
  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "CSV" }).click()]);
  assert.equal(saved.suggestedFilename(), "result.csv");
  assert.equal(await readFile(await saved.path(), "utf8"), "\ufeff港口,count(*),count(load)\r\n'=1+1,9,12\r\n'-x,-1.5e-9,\r\n\"a,\"\"b\"\"\",3,2\r\n");
  await field.fill("SELECT many");
  await page.getByRole("button", { name: "Run" }).click();
  await page.getByText("The first 1,000 rows; there are more").waitFor();
  await page.getByRole("button", { name: "Get up to 10,000 rows" }).click();
  await page.getByText(/^10,000 rows · /).waitFor();
  assert.deepEqual(state.asked.findLast(([what]) => what === "sql")[1], { statement: "SELECT many", most: 10_000 });
  const rows = page.getByRole("grid", { name: "Result" }).getByRole("row");
  assert.ok((await rows.count()) < 60, "rows in sight are drawn");
  await rows.first().focus();
  await page.keyboard.press("End");
  await page.getByText("row 9999").waitFor();
  await becomes(() => page.locator("figure").count(), 0, "so many categories are not drawn");
  await field.fill("SELECT none");
  await page.keyboard.press("Control+Enter");
  await page.getByText("The result has no rows.").waitFor();
}

/** How many of the first two colours of a plot its picture has. */
function coloursOf(page) {
  return page.locator("canvas").evaluate((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const wanted = [[0x0d, 0x7f, 0x74], [0xc2, 0x60, 0x1a]];
    const has = ([red, green, blue]) => {
      for (let at = 0; at < data.length; at += 4) {
        if (data[at] === red && data[at + 1] === green && data[at + 2] === blue) return true;
      }
      return false;
    };
    return wanted.filter(has).length;
  });
}

async function stopsAndFails(page, url, state, isSound, shoot) {
  const field = page.getByLabel("Statement", { exact: true });
  await field.fill("SELECT wrong");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("alert").getByText("The statement has an error").waitFor();
  await page.getByRole("alert").getByText(`near "${EVIL}": syntax error`).waitFor();
  await becomes(() => page.getByRole("grid", { name: "Result" }).count(), 0);
  await isSound(page);
  await shoot(page, "table-error");
  state.running.shut();
  await field.fill("SELECT many");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("Stopped", { exact: true }).waitFor();
  await becomes(() => page.getByRole("alert").count(), 0);
  state.running.open();
  await page.getByRole("button", { name: "Run" }).click();
  await page.getByText("The first 1,000 rows; there are more").waitFor();
  await page.goto(`${url}${TABLES}/gone`);
  await page.getByText("There is no table “gone”.").waitFor();
  await page.goto(`${url}#/knowledge/empty/tables`);
  await page.getByText("No tables yet").waitFor();
  await isSound(page);
}

async function onAPhone(browser, url, isSound, shoot) {
  const page = await open(browser, `${url}${TABLES}/cranes`, { viewport: PHONE, colorScheme: "dark", locale: "zh-CN" });
  await page.getByText("40 行，3 列", { exact: false }).waitFor();
  await page.getByText("共 20 行", { exact: false }).waitFor();
  await isSound(page);
  await shoot(page, "table-phone");
  await page.context().close();
}

/** The same with the program itself, over the tables of its base. */
export async function realTables(page, place, isSound, shoot) {
  await page.goto(`${place}/tables`);
  await page.getByRole("grid", { name: "Tables" }).getByRole("link").first().click();
  await page.waitForURL(/tables\/\w+$/);
  await page.getByRole("grid", { name: "Result" }).getByRole("row").first().waitFor();
  await page.getByLabel("Statement", { exact: true }).fill("SELECT 'a' AS name, 2 AS n UNION ALL SELECT 'b', 3");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("img", { name: "n by name" }).waitFor();
  await isSound(page);
  await shoot(page, "real-table");
  await page.getByLabel("Statement", { exact: true }).fill("PRAGMA user_version");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("alert").getByText("The statement is not allowed").waitFor();
}
