// How does the page speak with the server? Typed by docs/openapi.json; every failure is a `ProblemError`.
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

/** What a request answers with. */
export type Answer<P extends Path, M extends Method> = Json<Responses<Operation<P, M>>[Status<Operation<P, M>>]>;
type Parameters<O, Where extends string> = O extends { parameters: { [K in Where]?: infer Found } } ? Found : never;
type Body<O> = O extends { requestBody?: { content: { "application/json": infer Sent } } } ? Sent : never;

/** What goes with a request. */
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

/** The bytes of a picture or file with the head they came with. Who shows them takes `Picture.svelte`. */
export async function blob<P extends Path>(path: P, sent: Sent<P, "get"> = {}): Promise<{ blob: Blob; headers: Headers }> {
  const response = await request("get", addressOf(path, sent), sent);
  return { blob: await response.blob(), headers: response.headers };
}

/** The address of a path with its parts and query, relative to the page. */
export function addressOf(path: string, sent: { path?: unknown; query?: unknown }): string {
  const parts = (sent.path ?? {}) as Record<string, string | number>;
  const address = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const part = String(parts[name] ?? "");
    // The name of a file is the one part that holds folders.
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

/** A response that is fine. Asks for a key and goes on with it where one is missing; `accept` is what is wanted. */
export async function request(
  method: Method,
  address: string,
  { body, signal, accept = "application/json" }: { body?: unknown; signal?: AbortSignal; accept?: string } = {},
): Promise<Response> {
  for (;;) {
    const borne = key.current;
    const headers = new Headers({ accept });
    if (borne !== null) {
      headers.set("authorization", `Bearer ${borne}`);
    }
    if (body !== undefined) {
      headers.set("content-type", "application/json");
    }
    const response = await fetched(address, { method: method.toUpperCase(), headers, body: JSON.stringify(body), signal });
    if (response.ok) {
      return response;
    }
    const problem = await problemIn(response);
    if (response.status !== 401 || !(await hasOtherKey(borne))) {
      throw problem;
    }
  }
}

/** Whether there is a key now that a request has not borne yet; asks for one if need be. */
export async function hasOtherKey(borne: string | null): Promise<boolean> {
  return key.current !== borne || askForKey();
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
