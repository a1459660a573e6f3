// Reads server-sent events over `fetch`, which can POST and send a key.
import { type Method, type Path, addressOf, request } from "./api";
import { ProblemError, isAbort } from "./problem";

/** One event as it came. */
export type RawEvent = { event: string; data: string };

/** The default type of the events; a caller can name its own kinds: `{ event: "job"; data: Job } | …`. */
export type AnyEvent = { event: string; data: unknown };

type SentForEvents = { path?: Record<string, string | number>; query?: Record<string, unknown>; body?: unknown; signal?: AbortSignal };

/**
 * The events of a request, their data read as JSON, until the server ends them. Leaving the loop or aborting `signal`
 * drops the connection, and with it what the server does for it. A `problem` event is an event: who loops decides.
 */
export async function* events<E extends AnyEvent = AnyEvent>(method: Method, path: Path, sent: SentForEvents = {}): AsyncGenerator<E, void, void> {
  const address = addressOf(path, sent);
  const response = await request(method, address, { body: sent.body, signal: sent.signal, accept: "text/event-stream" });
  if (response.body === null) {
    return;
  }
  for await (const { event, data } of parseEvents(response.body)) {
    yield { event, data: read(data) } as E;
  }
}

function read(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw new ProblemError({ code: "unreadable" });
  }
}

/** The events in a stream of bytes that may be cut anywhere, in a letter or in a line's end too. */
export async function* parseEvents(stream: ReadableStream<Uint8Array>): AsyncGenerator<RawEvent, void, void> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let event = "";
  let data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      rest += decoder.decode(value, { stream: true });
      // A CR at the very end may be the half of a CRLF: it waits for what follows.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line !== "") {
          ({ event, data } = withField(line, event, data));
          continue;
        }
        if (data.length !== 0) {
          yield { event: event || "message", data: data.join("\n") };
        }
        event = "";
        data = [];
      }
    }
  } catch (error) {
    throw isAbort(error) || error instanceof ProblemError ? error : new ProblemError({ code: "unreachable" });
  } finally {
    // Fails where the stream already has.
    await reader.cancel().catch(() => undefined);
  }
}

function withField(line: string, event: string, data: string[]): { event: string; data: string[] } {
  const colon = line.indexOf(":");
  const name = colon === -1 ? line : line.slice(0, colon);
  const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
  if (name === "event") {
    return { event: value, data };
  }
  return { event, data: name === "data" ? [...data, value] : data };
}
