// Serves a built page as the server does, with its Content-Security-Policy; `/api/…` by `answers`.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

export const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

/** The models of a server that has one: the page asks for them on a first visit, and in Settings. */
export const MODELS = {
  chat: { model: "gpt-4.1", address: "https://api.example.org/v1" }, roles: [], offline: false, file: "pikerag.toml", found: [], catalogue: [], has_server: true, free_memory: null,
  providers: [{ name: "openai", base_url: "https://api.openai.com/v1", model: "gpt-4.1-mini", variable: "OPENAI_API_KEY", has_key: false, azure_api_version: null, placeholders: [] }],
  pull: null,
};
const DEFAULTS = { "GET /api/v1/models": MODELS, "GET /api/v1/budget": { server: null, key: null } };

/**
 * Serves `folder`. `answers` maps `"GET /api/v1/bases"` to a JSON value, or to a function `(request, response) => value`;
 * one that returns undefined has answered by itself. What is neither there nor in `DEFAULTS` is answered 404 as a problem.
 */
export async function serve(folder, answers = {}) {
  const server = createServer(async (request, response) => {
    // A page may lie in a folder: its requests go below that.
    const pathname = new URL(request.url, "http://localhost").pathname.replace(/^.*(?=\/api\/)/, "");
    const name = `${request.method} ${decodeURIComponent(pathname)}`;
    const answer = answers[name] ?? DEFAULTS[name];
    if (answer !== undefined) {
      const value = typeof answer === "function" ? await answer(request, response) : answer;
      return value === undefined ? undefined : send(response, 200, "application/json", JSON.stringify(value));
    }
    if (pathname.startsWith("/api/")) {
      return sendProblem(response, 404, "no-such-route");
    }
    const path = join(folder, normalize(pathname === "/" ? "/index.html" : pathname));
    const body = await readFile(path).catch(() => null);
    return body === null ? sendProblem(response, 404, "no-such-file") : send(response, 200, TYPES[extname(path)] ?? "text/plain", body);
  });
  // A connection that a browser keeps is not closed under a request that it is about to send.
  server.keepAliveTimeout = 0;
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

export function sendProblem(response, status, code, more = {}) {
  const problem = { type: `urn:pikerag:problem:${code}`, status, code, title: code.replaceAll("-", " "), fault: "caller", ...more };
  send(response, status, "application/problem+json", JSON.stringify(problem));
}

function send(response, status, type, body) {
  response.writeHead(status, { "content-type": type, "content-security-policy": CSP, "x-content-type-options": "nosniff" });
  response.end(body);
}
