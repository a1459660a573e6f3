// Sends a request, watches for silence, and turns each failure into an error of this package.

import { ConnectionFailed, ReplyError, TimedOut, failure, retryAfter } from "./errors.js";

/** Seconds. A longer `Retry-After` is not waited for: the caller gets the error and decides. */
const LONGEST_RETRY_WAIT = 30;

/** Milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

export interface Sender {
  url: string;
  key: string | undefined;
  timeout: number;
  retries: number;
  fetch: typeof fetch;
}

export interface Call {
  method: string;
  /** Below the address of the server, with its query. */
  path: string;
  json?: unknown;
  body?: unknown;
  headers?: Record<string, string>;
}

/** Aborts a request when the server sends nothing for `timeout` ms, or when the caller's signal says so. */
class Watch {
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isLate = false;
  readonly #stop = () => this.#controller.abort(this.caller?.reason);

  constructor(
    readonly url: string,
    readonly timeout: number,
    readonly caller: AbortSignal | undefined,
  ) {
    if (caller?.aborted) this.#stop();
    caller?.addEventListener("abort", this.#stop);
    this.restart();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Starts the time again after a sign of life. */
  restart(): void {
    clearTimeout(this.#timer);
    // A timer of more milliseconds fires at once.
    if (LONGEST_TIMER < this.timeout) return;
    this.#timer = setTimeout(() => {
      this.#isLate = true;
      this.#controller.abort();
    }, this.timeout);
  }

  /** Stops the time while the client waits as the server asked. */
  hold(): void {
    clearTimeout(this.#timer);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.caller?.removeEventListener("abort", this.#stop);
  }

  /** Closes the connection. */
  abort(): void {
    this.end();
    this.#controller.abort();
  }

  error(cause: unknown): unknown {
    if (this.caller?.aborted) return this.caller.reason;
    if (this.#isLate) return new TimedOut(`${this.url} sent nothing for ${this.timeout} ms; raise \`timeout\`, or use a stream`, { cause });
    const reason = cause instanceof Error ? (cause.cause instanceof Error ? cause.cause.message : cause.message) : String(cause);
    return new ConnectionFailed(`cannot reach ${this.url}: ${reason}; is \`pikerag serve\` running there?`, { cause });
  }
}

/** Sends a call and reads its reply with `read`. */
export async function send<T>(sender: Sender, call: Call, options: { signal?: AbortSignal; timeout?: number }, read: (response: Response) => Promise<T>): Promise<T> {
  const watch = new Watch(sender.url, options.timeout ?? sender.timeout, options.signal);
  try {
    const response = await open(sender, call, watch);
    watch.restart();
    return await reading(watch, () => read(response));
  } finally {
    watch.end();
  }
}

/** The pieces of a reply's text as they come. Leaving the loop closes the connection. */
export async function* pieces(sender: Sender, call: Call, options: { signal?: AbortSignal; timeout?: number }): AsyncGenerator<string, void, undefined> {
  const watch = new Watch(sender.url, options.timeout ?? sender.timeout, options.signal);
  try {
    const response = await open(sender, call, watch);
    const reader = response.body?.getReader();
    const decoder = new TextDecoder();
    while (reader) {
      watch.restart();
      const { done, value } = await reading(watch, () => reader.read());
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    watch.abort();
  }
}

/** The JSON of a reply. */
export async function json(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ReplyError(`the reply of ${response.url || "the server"} is no JSON`, { cause });
  }
}

/**
 * A response with status 2xx. Only refusals before any work are repeated: 429 and 503 with `Retry-After`. A request that was
 * cancelled may have called models, so it is not repeated.
 */
async function open(sender: Sender, call: Call, watch: Watch): Promise<Response> {
  const headers: Record<string, string> = { ...call.headers };
  if (sender.key) headers["authorization"] = `Bearer ${sender.key}`;
  if (call.json !== undefined) headers["content-type"] = "application/json";
  const body = call.json === undefined ? call.body : JSON.stringify(call.json);
  const isStream = typeof ReadableStream !== "undefined" && body instanceof ReadableStream;
  const init: Record<string, unknown> = { method: call.method, headers, signal: watch.signal, redirect: "error" };
  if (body !== undefined) init["body"] = body;
  // Node.js and browsers send a stream only so.
  if (isStream) init["duplex"] = "half";
  for (let attempt = 0; ; attempt += 1) {
    const response = await reading(watch, () => sender.fetch(sender.url + call.path, init as RequestInit));
    if (response.ok) return response;
    const after = retryAfter(response);
    const isRepeated = (response.status === 429 || response.status === 503) && after !== undefined && after <= LONGEST_RETRY_WAIT;
    const problem = await reading(watch, () => failure(response));
    if (!isRepeated || isStream || sender.retries <= attempt || problem.code === "cancelled") throw problem;
    watch.hold();
    await pause(after * 1000, watch.signal).catch((cause: unknown) => Promise.reject(watch.error(cause)));
    watch.restart();
  }
}

async function reading<T>(watch: Watch, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof ReplyError) throw cause;
    throw watch.error(cause);
  }
}

/** Waits, or rejects as soon as the signal aborts. */
export function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
