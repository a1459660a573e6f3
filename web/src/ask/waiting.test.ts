// Tests the words of a wait for model calls.
import { afterEach, expect, test } from "vitest";

import type { Schemas } from "../lib/api";
import { preferences } from "../lib/preferences.svelte";
import { openCallsAt, waitDetails, waitTitle } from "./waiting";

const call = (role: Schemas["Role"], expected_ms: number | null): Schemas["OpenCall"] => ({ role, model: "qwen3-4b", passages: role === "answer" ? 9 : 0, prompt_tokens: 3149, waited_ms: 2000, expected_ms });
const NOW = 1_000_000;

afterEach(() => {
  preferences.language = "en";
});

test("a_wait_names_the_model_the_task_and_the_times", () => {
  preferences.language = "en";
  const calls = openCallsAt([call("answer", 40_200), call("look", null)], NOW);
  expect(waitTitle(calls)).toBe("qwen3-4b writes the answer");
  expect(waitDetails(calls, NOW + 10_300)).toBe("9 passages, about 3,100 tokens to read · 12 sec · usually about 40 sec · and 1 more call");
  preferences.language = "zh";
  expect(waitTitle(calls)).toBe("qwen3-4b 正在撰写回答");
  expect(waitDetails(calls, NOW + 10_300)).toBe("需读入 9 个文本块，约 3,100 个 Token · 12秒 · 通常约 40秒 · 另有 1 次调用");
});

test("a_call_that_has_just_begun_has_no_time_yet", () => {
  preferences.language = "en";
  const calls = openCallsAt([{ ...call("look", null), waited_ms: 0 }], NOW);
  expect(waitDetails(calls, NOW)).toBe("about 3,100 tokens to read");
  // The clock of the page may be read before the event.
  expect(waitDetails(calls, NOW - 900)).toBe("about 3,100 tokens to read");
});

test("without_an_open_call_the_run_goes_on", () => {
  preferences.language = "en";
  expect([waitTitle([]), waitDetails([], NOW)]).toEqual(["Working on it…", ""]);
});
