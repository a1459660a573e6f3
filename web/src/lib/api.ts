// Calls the server, typed by docs/openapi.json; every failure is a `ProblemError`.
import type { components, paths } from "../api/schema";
import { askForKey, key } from "./key.svelte";
import { ProblemError, isAbort, problemOf } from "./problem";

export { ProblemError, asProblem, isAbort, problemOf } from "./problem";

/** The types of the document, by name: `Schemas["Job"]`. */
export type Schemas = components["schemas"];

export type Method = "get" | "post" | "put" | "patch" | "delete";
export type Path = keyof paths;
type Operation<P extends Path, M extends Method> = paths[P] extends { [K in M]: infer O } ? O : never;
type Json<Response> = Response extends { content: { "application/json": infer Body } } ? Body : undefined;
type Responses<O> = O extends { responses: infer R } ? R : never;
type Status<O> = Extract<keyof Responses<O>, 200 | 201 | 202 | 204>;

/** The body of a successful response. */
export type Answer<P extends Path, M extends Method> = Json<Responses<Operation<P, M>>[Status<Operation<P, M>>]>;
type Parameters<O, Where extends string> = O extends { parameters: { [K in Where]?: infer Found } } ? Found : never;
type Body<O> = O extends { requestBody?: { content: { "application/json": infer Sent } } } ? Sent : never;

/** The parts of a request. */
export type Sent<P extends Path, M extends Method> = {
  path?: Parameters<Operation<P, M>, "path">;
  query?: Parameters<Operation<P, M>, "query">;
  body?: Body<Operation<P, M>>;
  signal?: AbortSignal;
};

/** Asks the server: `await call("get", "/api/v1/bases/{base}/jobs", { path: { base } })`. */
export async function call<P extends Path, M extends Method>(method: M, path: P, sent: Sent<P, M> = {}): Promise<Answer<P, M>> {
  const response = await request(method, addressOf(path, sent), sent);
  return (response.status === 204 ? undefined : await jsonOf(response)) as Answer<P, M>;
}

/** The bytes of a picture or file, with the headers. `Picture.svelte` shows pictures. */
export async function blob<P extends Path>(path: P, sent: Sent<P, "get"> = {}): Promise<{ blob: Blob; headers: Headers }> {
  const response = await request("get", addressOf(path, sent), sent);
  return { blob: await response.blob(), headers: response.headers };
}

/** The address of a path with its parts and query, relative to the page. */
export function addressOf(path: string, sent: { path?: unknown; query?: unknown }): string {
  const parts = (sent.path ?? {}) as Record<string, string | number>;
  const address = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const part = String(parts[name] ?? "");
    // Only the name of a file may contain folders.
    return name === "file" ? part.split("/").map(encodeURIComponent).join("/") : encodeURIComponent(part);
  });
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(sent.query ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) {
        query.append(name, String(one));
      }
    }
  }
  return `.${address}${query.size === 0 ? "" : `?${query}`}`;
}

/** A successful response. Asks for a missing key and repeats the request with it; `accept` is the wanted media type. */
export async function request(
  method: Method,
  address: string,
  { body, signal, accept = "application/json" }: { body?: unknown; signal?: AbortSignal; accept?: string } = {},
): Promise<Response> {
  for (;;) {
    const sentKey = key.current;
    const headers = new Headers({ accept });
    if (sentKey !== null) {
      headers.set("authorization", `Bearer ${sentKey}`);
    }
    if (body !== undefined) {
      headers.set("content-type", "application/json");
    }
    const response = await fetched(address, { method: method.toUpperCase(), headers, body: JSON.stringify(body), signal });
    if (response.ok) {
      return response;
    }
    const problem = await problemIn(response);
    if (response.status !== 401 || !(await hasOtherKey(sentKey))) {
      throw problem;
    }
  }
}

/** Whether there is another key than the one of a request; asks for one if needed. */
export async function hasOtherKey(sentKey: string | null): Promise<boolean> {
  return key.current !== sentKey || askForKey();
}

async function fetched(address: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address, { ...init, credentials: "omit", cache: "no-store", redirect: "error" });
  } catch (error) {
    throw isAbort(error) ? error : new ProblemError({ code: "unreachable" });
  }
}

async function problemIn(response: Response): Promise<ProblemError> {
  const body: unknown = await response.json().catch(() => null);
  return problemOf(response.status, body);
}

async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    throw isAbort(error) ? error : new ProblemError({ code: "unreadable", status: response.status });
  }
}
