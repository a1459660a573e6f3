import { expect, test } from "vitest";

import { type Provider, choiceOf, currentOf, embedderNames, fieldsOf, firstSource, groupsOf, hasKeyAt, isPulled, isTooLarge, languagesOf, localChoice, modelName, otherVectors, placeholdersIn, providerTitle, searchChoiceOf, titleIn } from "./models";

const deepseek: Provider = { name: "deepseek", base_url: "https://api.deepseek.com", model: "deepseek-flash", variable: "DEEPSEEK_API_KEY", has_key: true, azure_api_version: null, placeholders: [] };
const azure: Provider = { ...deepseek, name: "azure", base_url: "https://NAME.openai.azure.com", model: "DEPLOYMENT", has_key: false, azure_api_version: "2024-10-21", placeholders: ["NAME", "DEPLOYMENT"] };

test("servers that have a model come first", () => {
  expect(firstSource({ found: [] })).toBe("catalogue");
  expect(firstSource({ found: [{ program: "Ollama", base_url: "http://127.0.0.1:11434/v1", models: [] }] })).toBe("catalogue");
  expect(firstSource({ found: [{ program: "Ollama", base_url: "http://127.0.0.1:11434/v1", models: ["qwen3:8b"] }] })).toBe("found");
});

test("empty fields are not sent", () => {
  expect(choiceOf({ ...fieldsOf(deepseek), model: " deepseek-chat " }, null)).toEqual({ role: null, model: "deepseek-chat", base_url: "https://api.deepseek.com", api_key: null, azure_api_version: null });
  expect(choiceOf({ ...fieldsOf(null), model: "m", api_key: " k " }, "answer")).toEqual({ role: "answer", model: "m", base_url: null, api_key: "k", azure_api_version: null });
  expect(localChoice("qwen3-4b", "atomize")).toEqual({ role: "atomize", model: "local:qwen3-4b" });
});

test("a task has the usual model unless it has its own", () => {
  const [chat, small] = [{ model: "large", address: "https://api.example.org" }, { model: "small", address: null }];
  const listed = { chat, roles: [{ role: "answer" as const, own: null }, { role: "atomize" as const, own: small }] };
  expect([currentOf(listed, null), currentOf(listed, "answer"), currentOf(listed, "atomize")]).toEqual([chat, chat, small]);
  expect(groupsOf(["answer", "role_of_tomorrow", "tag"])).toEqual([{ kind: "ask", roles: ["answer", "role_of_tomorrow"] }, { kind: "index", roles: ["tag"] }]);
});

test("vectors of another embedder are found", () => {
  const status = (made_by: string | null, in_use: string | null) => ({ embedder: in_use, summary: { embedder: made_by } });
  expect(otherVectors(status("a#1", "a#2"))).toEqual({ made_by: "a#1", in_use: "a#2" });
  expect([otherVectors(status("a#1", "a#1")), otherVectors(status(null, "a")), otherVectors(status("a", null))]).toEqual([null, null, null]);
  expect([embedderNames("bge-m3#1a2b3c4d"), embedderNames("a#1 and a#2 and b")]).toEqual([["bge-m3"], ["a", "b"]]);
  expect(searchChoiceOf({ base_url: " http://a/v1 ", model: " m ", api_key: " " })).toEqual({ base_url: "http://a/v1", model: "m", api_key: null });
});

test("placeholders must be replaced", () => {
  const fields = fieldsOf(azure);
  expect(placeholdersIn(fields, azure)).toEqual(["NAME", "DEPLOYMENT"]);
  expect(placeholdersIn({ ...fields, base_url: "https://mine.openai.azure.com" }, azure)).toEqual(["DEPLOYMENT"]);
  expect(placeholdersIn(fieldsOf(deepseek), deepseek)).toEqual([]);
  expect(placeholdersIn(fields, null)).toEqual([]);
});

test("the key of a variable is only for the address of its provider", () => {
  expect(hasKeyAt({ ...fieldsOf(deepseek), base_url: "https://api.deepseek.com/" }, deepseek)).toBe(true);
  expect(hasKeyAt({ ...fieldsOf(deepseek), base_url: "https://other.example" }, deepseek)).toBe(false);
  expect(hasKeyAt(fieldsOf(azure), azure)).toBe(false);
  expect(hasKeyAt(fieldsOf(null), null)).toBe(false);
});

test("models are described by what is known of them", () => {
  expect(languagesOf({ languages: ["en", "zh", "fr"] })).toEqual({ main: ["en", "zh"], others: 1 });
  expect(languagesOf({ languages: ["en"] })).toEqual({ main: ["en"], others: 0 });
  expect([isTooLarge({ memory: 5 }, 4), isTooLarge({ memory: 5 }, 5), isTooLarge({ memory: 5 }, null)]).toEqual([true, false, false]);
  expect([modelName("local:qwen3-4b"), modelName("gpt-4.1")]).toEqual(["qwen3-4b", "gpt-4.1"]);
  expect([titleIn("zh", "Qwen3 4B, 4 bits (Q4_K_M)"), titleIn("en", "Qwen3 4B, 4 bits")]).toEqual(["Qwen3 4B，4 位 (Q4_K_M)", "Qwen3 4B, 4 bits"]);
  expect([providerTitle("zhipu"), providerTitle("new")]).toEqual(["智谱 · Zhipu", "new"]);
});

test("only the running download of a model counts", () => {
  const pull = { name: "qwen3-4b", state: "running", step: "file", bytes: 1, all: 2, says: "", says_zh: "" } as const;
  expect([isPulled(pull, "qwen3-4b"), isPulled(pull, "other"), isPulled({ ...pull, state: "done" }, "qwen3-4b"), isPulled(null, "qwen3-4b")]).toEqual([true, false, false, false]);
});
