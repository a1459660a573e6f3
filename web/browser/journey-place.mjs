// Prepares a journey: a folder with a model and prices, and the words of the page.
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import ts from "typescript";

/** The words of a tab in a language. */
export async function wordsOf(tab, language) {
  const file = fileURLToPath(new URL(`../src/lib/words/${tab}.${language}.ts`, import.meta.url));
  const { outputText } = ts.transpileModule(await readFile(file, "utf8"), { compilerOptions: { module: "ESNext", target: "ES2022" } });
  return (await import(`data:text/javascript,${encodeURIComponent(outputText)}`))[language === "zh" ? "zh" : "en"];
}

/** A folder of its own without a settings file. The model answers where Ollama would, and nothing names it. */
export async function emptyPlace(program, model) {
  const folder = await mkdtemp(join(tmpdir(), "pikerag-first-"));
  const env = { PATH: process.env.PATH, HOME: folder, XDG_STATE_HOME: join(folder, "state"), OLLAMA_HOST: new URL(model.url).host };
  const begin = (...words) => spawn(program, ["--base", "base", ...words], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  return { folder, begin, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** A folder of its own, with a model. */
export async function place(program, model) {
  const folder = await mkdtemp(join(tmpdir(), "pikerag-journey-"));
  await writeFile(join(folder, "pikerag.toml"), "[prices.journey]\nprompt = 0.1\ncompletion = 0.1\n\n[[records]]\nname = \"load\"\nkey = [\"order\"]\nfields = [{ name = \"order\" }, { name = \"tons\", type = \"number\" }]\n");
  const env = { PATH: process.env.PATH, HOME: folder, XDG_STATE_HOME: join(folder, "state"), PIKERAG_CONFIG: join(folder, "pikerag.toml"), OPENAI_BASE_URL: model.url, OPENAI_MODEL: "journey", OLLAMA_HOST: "127.0.0.1:1" };
  const begin = (...words) => spawn(program, ["--base", "base", ...words], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  return { folder, begin, remove: () => rm(folder, { recursive: true, force: true }) };
}
