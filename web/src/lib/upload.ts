// Uploads a file in pieces, so that large files survive a broken connection.
import { type Schemas, addressOf, call, hasOtherKey } from "./api";
import { key } from "./key.svelte";
import { ProblemError, problemOf } from "./problem";

export type Uploaded = Schemas["Uploaded"];

const PIECE = 4 << 20;
const TRIES = 5;

export type UploadOptions = {
  /** It is kept and not indexed yet. */
  hold?: boolean;
  /** It is a ZIP archive whose files are wanted. */
  unpack?: boolean;
  /** Bytes that are there, of how many. */
  onprogress?: (sent: number, whole: number) => void;
  signal?: AbortSignal;
};

/**
 * Sends `file` as `name`, in pieces if it is large; goes on where an earlier try of the same file was cut off. All pieces of a
 * file have one identifier, so that they are not joined with those of another sender.
 */
export async function upload(base: string, name: string, file: File, options: UploadOptions = {}): Promise<Uploaded> {
  const mark = `pikerag.upload/${base}/${name}`;
  const version = `${file.size}/${file.lastModified}`;
  const [begun, ofBegun] = (localStorage.getItem(mark) ?? "").split(" ");
  const id = begun === version && ofBegun ? ofBegun : randomId();
  let sent = id === ofBegun ? await heldOf(base, name, id, file, options) : 0;
  localStorage.setItem(mark, `${version} ${id}`);
  for (let failures = 0; ; ) {
    try {
      const uploaded = await sendPiece(base, name, id, file, sent, options);
      sent = uploaded.held;
      failures = 0;
      options.onprogress?.(sent, file.size);
      if (uploaded.is_whole) {
        localStorage.removeItem(mark);
        return uploaded;
      }
    } catch (error) {
      failures += 1;
      if (!(error instanceof ProblemError) || !isWorthATry(error) || failures === TRIES) {
        throw error;
      }
      await pause(500 * 2 ** failures, options.signal);
      sent = await heldOf(base, name, id, file, options).catch(() => sent);
    }
  }
}

/** Connections break, servers are busy, and a piece may have come though its answer did not. */
function isWorthATry(problem: ProblemError): boolean {
  return ["unreachable", "out-of-order", "under-way"].includes(problem.code) || [429, 502, 503, 504].includes(problem.status);
}

/** A random identifier. It works over plain HTTP too, where `crypto.randomUUID` does not exist. */
function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function heldOf(base: string, name: string, id: string, file: File, { signal }: UploadOptions): Promise<number> {
  const { held } = await call("get", "/api/v1/bases/{base}/uploads", { path: { base }, query: { file: name, upload: id }, signal });
  return held <= file.size ? held : 0;
}

async function sendPiece(base: string, name: string, id: string, file: File, from: number, options: UploadOptions): Promise<Uploaded> {
  const { hold, unpack } = options;
  const address = addressOf("/api/v1/bases/{base}/files/{file}", { path: { base, file: name }, query: { hold, unpack, upload: id } });
  const to = Math.min(from + PIECE, file.size);
  const range = from === to ? `bytes */${file.size}` : `bytes ${from}-${to - 1}/${file.size}`;
  for (;;) {
    const sentKey = key.current;
    const piece = { body: file.slice(from, to), range: file.size === 0 ? null : range, sentKey };
    const { status, body } = await put(address, piece, options.signal, (loaded) => options.onprogress?.(from + loaded, file.size));
    if (200 <= status && status < 300) {
      return body as Uploaded;
    }
    if (status !== 401 || !(await hasOtherKey(sentKey))) {
      throw problemOf(status, body);
    }
  }
}

type Piece = { body: Blob; range: string | null; sentKey: string | null };

/** `XMLHttpRequest` reports the progress of an upload; `fetch` does not. */
function put(address: string, piece: Piece, signal: AbortSignal | undefined, onprogress: (loaded: number) => void) {
  return new Promise<{ status: number; body: unknown }>((resolve, reject) => {
    const sending = new XMLHttpRequest();
    const stop = () => sending.abort();
    const aborted = () => reject(new DOMException("stopped", "AbortError"));
    if (signal?.aborted) {
      return aborted();
    }
    signal?.addEventListener("abort", stop);
    sending.open("PUT", address);
    sending.setRequestHeader("content-type", "application/octet-stream");
    if (piece.range !== null) {
      sending.setRequestHeader("content-range", piece.range);
    }
    if (piece.sentKey !== null) {
      sending.setRequestHeader("authorization", `Bearer ${piece.sentKey}`);
    }
    sending.responseType = "json";
    sending.upload.onprogress = (event) => onprogress(event.loaded);
    sending.onload = () => resolve({ status: sending.status, body: sending.response });
    sending.onerror = () => reject(new ProblemError({ code: "unreachable" }));
    sending.onabort = aborted;
    sending.onloadend = () => signal?.removeEventListener("abort", stop);
    sending.send(piece.body);
  });
}

function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(new DOMException("stopped", "AbortError"));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
