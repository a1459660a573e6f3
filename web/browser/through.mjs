// Serves a built page as serve.mjs does, and hands requests on to a real server, event by event.
import { readFile } from "node:fs/promises";
import { createServer, request as ask } from "node:http";
import { extname, join, normalize } from "node:path";

import { CSP } from "./serve.mjs";

const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

/** Serves `folder`; `/api/…`, `/health` and `/ready` go to `target` (`http://127.0.0.1:8686`), which has to see its own address. */
export async function through(folder, target) {
  const to = new URL(target);
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    if (!pathname.startsWith("/api/") && !["/health", "/ready"].includes(pathname)) {
      const body = await readFile(join(folder, normalize(pathname === "/" ? "/index.html" : pathname))).catch(() => null);
      response.writeHead(body === null ? 404 : 200, { "content-type": TYPES[extname(pathname === "/" ? "/index.html" : pathname)] ?? "text/plain", "content-security-policy": CSP, "x-content-type-options": "nosniff" });
      return response.end(body);
    }
    const { origin, ...headers } = request.headers;
    const handed = ask({ host: to.hostname, port: to.port, method: request.method, path: request.url, headers: { ...headers, host: to.host } }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    handed.on("error", () => response.destroy());
    response.on("close", () => handed.destroy());
    request.pipe(handed);
  });
  server.keepAliveTimeout = 0;
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}
