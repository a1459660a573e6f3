// Tries a page against the program itself, which `PIKERAG=path` names; the page comes from the build, requests are handed on.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { open } from "./browser.mjs";

const EXAMPLE = fileURLToPath(new URL("../../examples/maintenance", import.meta.url));

/** A folder with the example's documents, indexed without any model; `run` runs the program in it. */
export async function baseFolder(program) {
  const folder = await mkdtemp(join(tmpdir(), "pikerag-page-"));
  await cp(join(EXAMPLE, "docs"), join(folder, "docs"), { recursive: true });
  await cp(join(EXAMPLE, "maintenance.questions.jsonl"), join(folder, "questions.jsonl"));
  await writeFile(join(folder, "pikerag.toml"), '[server]\nevaluations = "reports"\nkeys = "keys.json"\n');
  const env = { PATH: process.env.PATH, HOME: folder, XDG_STATE_HOME: join(folder, "state"), PIKERAG_CONFIG: join(folder, "pikerag.toml") };
  const begin = (...words) => spawn(program, ["--offline", "--base", "base", ...words], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  const run = async (...words) => {
    const child = begin(...words);
    let output = "";
    child.stdout.on("data", (data) => (output += data));
    child.stderr.on("data", (data) => (output += data));
    const [code] = await once(child, "close");
    if (code !== 0) {
      throw new Error(`pikerag ${words.join(" ")}: ${output}`);
    }
  };
  await run("index", "docs");
  return { folder, run, begin, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** The server over such a folder. */
export async function startServer({ begin }) {
  const child = begin("serve", "--port", "0");
  let output = "";
  const url = await new Promise((resolve, reject) => {
    const read = (data) => {
      output += data;
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(output);
      return found && resolve(found[0]);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("exit", () => reject(new Error(`the server ended: ${output}`)));
  });
  const stop = async () => {
    child.removeAllListeners("exit");
    child.kill("SIGTERM");
    await once(child, "close");
  };
  return { url, stop };
}

/** A page of the build whose requests go to that server. */
export async function openAt(browser, page, server, options) {
  // Nothing of the build yet: its requests have to be caught first.
  const opened = await open(browser, new URL("/nothing", page).href, options);
  await opened.route(/\/(api|health|ready)(\/|\?|$)/, async (route) => {
    const request = route.request();
    const { pathname, search } = new URL(request.url());
    const { accept = "*/*", authorization, "content-type": type } = request.headers();
    const headers = { accept, ...(authorization && { authorization }), ...(type && { "content-type": type }) };
    const answer = await fetch(`${server}${pathname}${search}`, { method: request.method(), headers, body: request.postData() ?? undefined });
    await route.fulfill({ status: answer.status, contentType: answer.headers.get("content-type") ?? "text/plain", body: Buffer.from(await answer.arrayBuffer()) });
  });
  await opened.goto(page);
  opened.complaints.length = 0;
  return opened;
}
