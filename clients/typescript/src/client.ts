// The client: a method for each route.

import { ConnectionFailed, JobError, ProblemError, ReplyError, TimedOut } from "./errors.js";
import { Decoder } from "./events.js";
import { type Call, type Sender, json, pause, pieces, send } from "./request.js";
import type {
  AskEvent,
  Asked,
  Base,
  By,
  Corrected,
  DeletePreview,
  Deleted,
  Feedback,
  FileLine,
  Job,
  Level,
  Method,
  Problem,
  Run,
  RunDetails,
  SearchFound,
  SentFile,
  ShownChunk,
  Source,
  TaskClass,
  Turn,
  Uploaded,
  Verdict,
  WholeSource,
} from "./types.js";

export interface ClientOptions {
  /** The address of `pikerag serve`; `http://localhost:8686` by default. */
  url?: string;
  /** A key of `pikerag keys make`, if the server has keys. Nothing prints it. */
  key?: string;
  /** The base of calls that name none; `default` by default. */
  base?: string;
  /** Milliseconds without a byte from the server; 600,000 by default, `Infinity` for no limit. */
  timeout?: number;
  /** How often a request is repeated that a busy server refused; 2 by default. */
  retries?: number;
  fetch?: typeof fetch;
}

export interface CallOptions {
  base?: string;
  signal?: AbortSignal;
  /** Milliseconds without a byte from the server. */
  timeout?: number;
}

export interface AskOptions extends CallOptions {
  method?: string;
  /** Conditions such as `folder=law` or `date>=2020`. All must hold. */
  filter?: string | string[];
  /** Earlier turns of the conversation, the oldest first. */
  earlier?: Turn[];
  /** Only with the method `pike`. */
  level?: Level;
  /** Only with the method `pike`. */
  taskClass?: TaskClass;
}

export interface SearchOptions extends CallOptions {
  /** The number of hits, at most 200; 8 by default. */
  k?: number;
  by?: By;
  filter?: string | string[];
  rerank?: number;
}

/** A stream is sent as it comes, and only once: it cannot be repeated. */
export type UploadBody = Blob | ArrayBuffer | Uint8Array | string | ReadableStream<Uint8Array>;

export interface TextOptions extends CallOptions {
  /** Such as `notes/meeting.md`. A text of the same name is replaced. By default it is made from the title and the text. */
  name?: string;
  title?: string;
  /** Fields for filters: `{ author: "Chen" }` for `meta:author=Chen`. */
  metadata?: Record<string, string>;
  /** Stores the text without indexing it. */
  hold?: boolean;
}

export interface UploadOptions extends CallOptions {
  /** Stores the file without indexing it. */
  hold?: boolean;
  /** Takes a ZIP and stores the files in it. */
  unpack?: boolean;
}

export interface WaitOptions {
  base?: string;
  signal?: AbortSignal;
  /** Milliseconds for the whole job; no limit by default. The job goes on at the server. */
  timeout?: number;
  /** Gets the job after each request. */
  progress?: (job: Job) => void;
}

type Query = Record<string, string | number | boolean | undefined>;

/** A pikerag server. */
export class Client {
  // Private fields are in no output of `console.log` or `JSON.stringify`: the key stays private.
  readonly #sender: Sender;
  readonly #base: string;

  constructor(options: ClientOptions = {}) {
    const url = (options.url ?? "http://localhost:8686").replace(/\/+$/, "");
    if (!/^https?:\/\//.test(url)) throw new TypeError(`url: \`${url}\` does not begin with http:// or https://`);
    // `fetch` refuses such addresses and headers with an error that shows them.
    if (/^https?:\/\/[^/]*@/.test(url)) throw new TypeError("url: it contains a user; pass a key as `key`");
    const key = (options.key ?? "").trim();
    if (!/^[\x20-\x7e]*$/.test(key)) throw new TypeError("key: it contains characters that no key has");
    this.#base = options.base ?? "default";
    segment(this.#base);
    // Browsers call `fetch` with the window as `this` only.
    const call = options.fetch ?? ((...given: Parameters<typeof fetch>) => globalThis.fetch(...given));
    this.#sender = { url, key: key || undefined, timeout: options.timeout ?? 600_000, retries: options.retries ?? 2, fetch: call };
  }

  /**
   * The checked answer. It reads the stream of the question, because `fetch` of Node.js gives up after five minutes
   * without a byte. With `idempotencyKey` it sends one plain request, which the server answers again without a second run.
   */
  async ask(question: string, options: AskOptions & { idempotencyKey?: string } = {}): Promise<Asked> {
    if (options.idempotencyKey !== undefined) {
      const call = this.#ask(question, options);
      call.headers = { "idempotency-key": options.idempotencyKey };
      return this.#json(call, options);
    }
    for await (const event of this.stream(question, options)) {
      if (event.event === "answer") return event.data;
    }
    throw new ConnectionFailed("the stream ended before the answer; `runs()` lists the run");
  }

  /** The events of a question as they happen, the answer last. Leaving the loop stops the run. */
  async *stream(question: string, options: AskOptions = {}): AsyncGenerator<AskEvent, void, undefined> {
    const call = this.#ask(question, options);
    call.headers = { accept: "text/event-stream" };
    const decoder = new Decoder();
    for await (const piece of pieces(this.#sender, call, options)) {
      for (const { name, data } of decoder.feed(piece)) {
        const value = parsed(name, data);
        if (name === "problem") throw new ProblemError(value as Problem);
        yield { event: name, data: value } as AskEvent;
        if (name === "answer") return;
      }
    }
    throw new ConnectionFailed("the stream ended before the answer; `runs()` lists the run");
  }

  /** The best passages. */
  search(query: string, options: SearchOptions = {}): Promise<SearchFound> {
    const { k, by, rerank } = options;
    return this.#json({ method: "POST", path: this.#of(options, "/search"), json: { query, k, by, rerank, filter: conditions(options.filter) } }, options);
  }

  /** Inserts a text in Markdown as a document; `wait` for its `job`. */
  insertText(text: string, options: TextOptions = {}): Promise<Uploaded> {
    const { name, title, metadata, hold } = options;
    return this.#json({ method: "POST", path: this.#of(options, "/texts"), json: { text, name, title, metadata, hold } }, options);
  }

  /** Uploads a file, which replaces its older version. */
  upload(name: string, body: UploadBody, options: UploadOptions = {}): Promise<Uploaded> {
    const path = this.#of(options, `/files/${name.split("/").map(segment).join("/")}`, { hold: options.hold, unpack: options.unpack });
    return this.#json({ method: "PUT", path, body, headers: { "content-type": "application/octet-stream" } }, options);
  }

  /** Uploads a file and waits until it is searchable. */
  async uploadAndWait(name: string, body: UploadBody, options: WaitOptions & { unpack?: boolean } = {}): Promise<Job> {
    const { timeout: _ofJob, ...others } = options;
    const uploaded = await this.upload(name, body, others);
    if (uploaded.job === null) throw new ReplyError(`the server started no job for \`${uploaded.file}\``);
    return this.wait(uploaded.job, options);
  }

  /** Waits until a job is `done`. Rejects with `JobError` for every other end. */
  async wait(job: number, options: WaitOptions = {}): Promise<Job> {
    const ends = options.timeout === undefined ? Infinity : Date.now() + options.timeout;
    const { timeout: _ofJob, ...others } = options;
    for (let interval = 100; ; interval = Math.min(2 * interval, 2000)) {
      const state = await this.job(job, others);
      options.progress?.(state);
      if (state.stand === "done") return state;
      if (state.stand !== "waiting" && state.stand !== "running") throw new JobError(state);
      if (ends < Date.now() + interval) throw new TimedOut(`job ${job} is still \`${state.stand}\` after ${options.timeout} ms; it goes on at the server`);
      await pause(interval, options.signal);
    }
  }

  /**
   * Indexes uploads by name, or all pending ones; `known` names files as the base calls them. `reread` reads unchanged files
   * again, `retryRefused` asks models again about passages that they refused before.
   */
  index(files: string[] = [], options: CallOptions & { known?: string[]; reread?: boolean; retryRefused?: boolean } = {}): Promise<Job> {
    const { known = [], reread = false, retryRefused = false } = options;
    const body = { files, known, reread, retry_refused: retryRefused };
    return this.#json({ method: "POST", path: this.#of(options, "/index"), json: body }, options);
  }

  job(job: number, options: CallOptions = {}): Promise<Job> {
    return this.#get(options, `/jobs/${segment(job)}`);
  }

  /** The latest 500 jobs and all that are not over, newest first. */
  jobs(options: CallOptions = {}): Promise<Job[]> {
    return this.#get(options, "/jobs");
  }

  /** Accepts the bill of an offered job, or starts one again that did not finish. */
  beginJob(job: number, options: CallOptions = {}): Promise<Job> {
    return this.#json({ method: "POST", path: this.#of(options, `/jobs/${segment(job)}/begin`) }, options);
  }

  /** The latest runs, newest first; `brief` omits the evidence of their answers. */
  runs(options: CallOptions & { limit?: number; brief?: boolean } = {}): Promise<Run[]> {
    return this.#get(options, "/runs", { limit: options.limit, brief: options.brief });
  }

  run(run: string, options: CallOptions = {}): Promise<RunDetails> {
    return this.#get(options, `/runs/${segment(run)}`);
  }

  /** Repeats a run from recorded replies. No model is called. */
  replay(run: string, options: CallOptions = {}): Promise<Asked> {
    return this.#json({ method: "POST", path: this.#of(options, `/runs/${segment(run)}/replay`) }, options);
  }

  /** Accepts, corrects (with the right `answer`) or rejects the answer of a run. */
  feedback(run: string, verdict: Verdict, options: CallOptions & { answer?: string; note?: string; by?: string } = {}): Promise<Feedback> {
    const { answer, note, by } = options;
    return this.#json({ method: "POST", path: this.#of(options, "/feedback"), json: { run, verdict, answer, note, by } }, options);
  }

  chunk(chunk: string, options: CallOptions = {}): Promise<ShownChunk> {
    return this.#get(options, `/chunks/${segment(chunk)}`);
  }

  /** Gives a passage another text; `wait` for its `job`. The edited passage has another identifier. */
  editChunk(chunk: string, text: string, options: CallOptions = {}): Promise<Corrected> {
    return this.#json({ method: "PATCH", path: this.#of(options, `/chunks/${segment(chunk)}`), json: { text } }, options);
  }

  /** The documents of a base, by URI. */
  sources(options: CallOptions = {}): Promise<Source[]> {
    return this.#get(options, "/sources");
  }

  /** A document with its passages in reading order. */
  source(source: string, options: CallOptions = {}): Promise<WholeSource> {
    return this.#get(options, `/sources/${segment(source)}`);
  }

  files(options: CallOptions = {}): Promise<FileLine[]> {
    return this.#get(options, "/files");
  }

  /** The complete uploads, by name. */
  sent(options: CallOptions = {}): Promise<SentFile[]> {
    return this.#get(options, "/sent");
  }

  /** The bytes of a file as they were when it was indexed, by the name that the base uses or the name of the upload. */
  original(file: string, options: CallOptions = {}): Promise<Blob> {
    return send(this.#sender, { method: "GET", path: this.#of(options, "/original", { file }) }, options, (response) => response.blob());
  }

  /** What `delete` would remove. Nothing is changed. */
  deletion(file: string, options: CallOptions = {}): Promise<DeletePreview> {
    return this.#get(options, "/deletion", { file });
  }

  /** Deletes a file with everything derived from it. `forget` also removes runs and calls with its text. */
  delete(file: string, options: CallOptions & { forget?: boolean } = {}): Promise<Deleted> {
    return this.#json({ method: "DELETE", path: this.#of(options, "/files", { file, forget: options.forget || undefined }) }, options);
  }

  /** The bases that this key opens. */
  bases(options: Omit<CallOptions, "base"> = {}): Promise<Base[]> {
    return this.#json({ method: "GET", path: "/api/v1/bases" }, options);
  }

  /** Makes an empty base in a folder of the server. Needs a key of scope `admin`, if the server has keys. */
  createBase(name: string, options: Omit<CallOptions, "base"> = {}): Promise<Base> {
    return this.#json({ method: "POST", path: "/api/v1/bases", json: { name } }, options);
  }

  /** Renames a base that was `made` over REST or on the page. */
  renameBase(base: string, name: string, options: Omit<CallOptions, "base"> = {}): Promise<Base> {
    return this.#json({ method: "PATCH", path: this.#of({ base }, ""), json: { name } }, options);
  }

  /** Deletes a base that was `made` over REST or on the page, with all that is in it. `confirm` repeats its name. */
  async deleteBase(base: string, options: Omit<CallOptions, "base"> & { confirm: string }): Promise<void> {
    await send(this.#sender, { method: "DELETE", path: this.#of({ base }, "", { confirm: options.confirm }) }, options, (response) => response.arrayBuffer());
  }

  methods(options: Omit<CallOptions, "base"> = {}): Promise<Method[]> {
    return this.#json({ method: "GET", path: "/api/v1/methods" }, options);
  }

  /** The content of a base, its pending work, and problems of its files. */
  status(options: CallOptions = {}): Promise<Record<string, unknown>> {
    return this.#get(options, "");
  }

  /** Any other request: `request("POST", "/api/v1/bases/default/sql", { json: {…} })`. Null if the reply is empty. */
  request(method: string, path: string, options: Omit<CallOptions, "base"> & { json?: unknown } = {}): Promise<unknown> {
    if (!path.startsWith("/")) throw new TypeError(`path: \`${path}\` does not begin with \`/\``);
    return send(this.#sender, { method, path, json: options.json }, options, (response) => (response.status === 204 ? Promise.resolve(null) : json(response)));
  }

  #ask(question: string, options: AskOptions): Call {
    const { method, earlier, level } = options;
    const body = { question, method, earlier, level, class: options.taskClass, filter: conditions(options.filter) };
    return { method: "POST", path: this.#of(options, "/ask"), json: body };
  }

  #get<T>(options: CallOptions, rest: string, query: Query = {}): Promise<T> {
    return this.#json({ method: "GET", path: this.#of(options, rest, query) }, options);
  }

  #json<T>(call: Call, options: Omit<CallOptions, "base">): Promise<T> {
    return send(this.#sender, call, options, json) as Promise<T>;
  }

  #of(options: { base?: string }, rest: string, query: Query = {}): string {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    return `/api/v1/bases/${segment(options.base ?? this.#base)}${rest}${search && `?${search}`}`;
  }
}

/** `name` as one part of a path. `.` and `..` would lead to another route. */
function segment(name: string | number): string {
  const text = String(name);
  if (text === "" || text === "." || text === "..") throw new TypeError(`\`${text}\` is not a name`);
  return encodeURIComponent(text);
}

function conditions(filter: string | string[] | undefined): string[] | undefined {
  return typeof filter === "string" ? [filter] : filter;
}

function parsed(name: string, data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw new ReplyError(`the event \`${name}\` is no JSON`, { cause });
  }
}
