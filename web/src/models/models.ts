// Describes the models that the server could use.
import type { Schemas } from "../lib/api";

export type Listed = Schemas["ModelsList"];
export type CatalogueModel = Schemas["CatalogueModel"];
export type Provider = Schemas["ModelProvider"];
export type Pull = Schemas["ModelPull"];
export type Chosen = Schemas["ChosenChat"];
export type Role = Schemas["Role"];
export type SearchKind = "embedder" | "reranker";
export type ChosenSearch = Schemas["ChosenSearchModel"];

export type Source = "found" | "catalogue" | "endpoint";

/** The fields of the form for an embedder or a reranker. */
export type SearchFields = { base_url: string; model: string; api_key: string };

/** The embedders of a base whose vectors the one in use did not make. */
export type OtherVectors = { made_by: string; in_use: string };

/** The fields of the form for an endpoint; a field that is not used is empty. */
export type Fields = { base_url: string; model: string; api_key: string; azure_api_version: string };

/** The name of a provider as it calls itself, in both scripts if it has two. */
const TITLES: Record<string, string> = {
  openai: "OpenAI", azure: "Azure OpenAI", anthropic: "Anthropic", gemini: "Google Gemini", mistral: "Mistral", deepseek: "DeepSeek",
  dashscope: "通义千问 · DashScope", zhipu: "智谱 · Zhipu", siliconflow: "硅基流动 · SiliconFlow", openrouter: "OpenRouter", ollama: "Ollama",
};
// The purpose of a role; roles in neither list answer questions.
const INDEXING = ["atomize", "summarize", "tag", "describe", "extract"];
const MEASURING = ["judge"];
const SHOWN_LANGUAGES = 2;
const LOCAL = "local:";

export function providerTitle(name: string): string {
  return TITLES[name] ?? name;
}

/** The source to show first: servers that have a model, else the catalogue. */
export function firstSource({ found }: Pick<Listed, "found">): Source {
  return found.some(({ models }) => models.length !== 0) ? "found" : "catalogue";
}

/** What a request sends for a model that pikerag serves; without a role it is for all tasks. */
export function localChoice(name: string, role: Role | null): Chosen {
  return { role, model: `${LOCAL}${name}` };
}

/** The model that a task uses now; without a role, the one that writes answers. */
export function currentOf({ chat, roles }: Pick<Listed, "chat" | "roles">, role: Role | null): Listed["chat"] {
  return roles.find((one) => one.role === role)?.own ?? chat;
}

/** The roles by purpose; groups without a role are left out. */
export function groupsOf(roles: string[]): { kind: "ask" | "index" | "measure"; roles: string[] }[] {
  const kindOf = (role: string) => (INDEXING.includes(role) ? "index" : MEASURING.includes(role) ? "measure" : "ask");
  const kinds = ["ask", "index", "measure"] as const;
  return kinds.map((kind) => ({ kind, roles: roles.filter((role) => kindOf(role) === kind) })).filter((group) => 0 < group.roles.length);
}

/** The name of a model as people see it. */
export function modelName(model: string): string {
  return model.startsWith(LOCAL) ? model.slice(LOCAL.length) : model;
}

/** The title of a model; the server sends its quantization in English. */
export function titleIn(language: "en" | "zh", title: string): string {
  return language === "zh" ? title.replace(/, 4 bits/, "，4 位") : title;
}

/** The main languages of a model, and the number of the others. */
export function languagesOf({ languages }: Pick<CatalogueModel, "languages">): { main: string[]; others: number } {
  const main = languages.slice(0, SHOWN_LANGUAGES);
  return { main, others: languages.length - main.length };
}

/** Whether a model needs more memory than is free; false if that is not known. */
export function isTooLarge({ memory }: Pick<CatalogueModel, "memory">, free: number | null): boolean {
  return free !== null && free < memory;
}

/** Whether the download of a model is running. */
export function isPulled(pull: Pull | null, name: string): boolean {
  return pull !== null && pull.name === name && pull.state === "running";
}

/** The fields of a provider; the key is typed by the user. */
export function fieldsOf(provider: Provider | null): Fields {
  return { base_url: provider?.base_url ?? "", model: provider?.model ?? "", api_key: "", azure_api_version: provider?.azure_api_version ?? "" };
}

/** The words in the fields that must be replaced. */
export function placeholdersIn({ base_url, model }: Fields, provider: Provider | null): string[] {
  return (provider?.placeholders ?? []).filter((word) => base_url.includes(word) || model.includes(word));
}

/** What a request sends for these fields. */
export function choiceOf({ base_url, model, api_key, azure_api_version }: Fields, role: Role | null): Chosen {
  const given = (text: string) => text.trim() || null;
  return { role, model: model.trim(), base_url: given(base_url), api_key: given(api_key), azure_api_version: given(azure_api_version) };
}

/** Whether the server has the key of a provider for this address. */
export function hasKeyAt({ base_url }: Fields, provider: Provider | null): boolean {
  const plain = (address: string) => address.trim().replace(/\/+$/, "");
  return provider !== null && provider.has_key && plain(base_url) === plain(provider.base_url);
}

/** What a request sends for the endpoint of an embedder or a reranker. */
export function searchChoiceOf({ base_url, model, api_key }: SearchFields): ChosenSearch {
  return { base_url: base_url.trim(), model: model.trim(), api_key: api_key.trim() || null };
}

/** The names of embedders, which the server joins, without the marks of their endpoints and prefixes. */
export function embedderNames(joined: string): string[] {
  return [...new Set(joined.split(" and ").map((name) => name.split("#")[0] ?? name))];
}

/** The embedders, if the one in use did not make the vectors of a base; null also without vectors. */
export function otherVectors(status: Pick<Schemas["StatusResponse"], "embedder"> & { summary: Pick<Schemas["StatusResponse"]["summary"], "embedder"> }): OtherVectors | null {
  const [made_by, in_use] = [status.summary.embedder, status.embedder];
  return made_by === null || made_by === undefined || in_use === null || made_by === in_use ? null : { made_by, in_use };
}
