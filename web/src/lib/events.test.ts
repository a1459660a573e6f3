// Tests that events are read completely, wherever the bytes are cut.
import { expect, test } from "vitest";

import { type RawEvent, parseEvents } from "./events";

function streamOf(pieces: Uint8Array[], oncancel = () => {}): ReadableStream<Uint8Array> {
  let next = 0;
  return new ReadableStream({
    pull(controller) {
      const piece = pieces[next++];
      return piece ? controller.enqueue(piece) : controller.close();
    },
    cancel: oncancel,
  });
}

async function read(text: string, size: number): Promise<RawEvent[]> {
  const bytes = new TextEncoder().encode(text);
  const pieces = [];
  for (let from = 0; from < bytes.length; from += size) {
    pieces.push(bytes.slice(from, from + size));
  }
  const found = [];
  for await (const event of parseEvents(streamOf(pieces))) {
    found.push(event);
  }
  return found;
}

const TEXT = 'event: run\ndata: {"question": "谁校准传感器？ 🐟"}\n\n:\n\nevent: event\ndata: a\ndata:  b\nid: 4\n\ndata\n\ndata: last\n\ndata: cut off';
const EVENTS = [
  { event: "run", data: '{"question": "谁校准传感器？ 🐟"}' },
  { event: "event", data: "a\n b" },
  { event: "message", data: "" },
  { event: "message", data: "last" },
];

for (const [name, end] of Object.entries({ LF: "\n", CRLF: "\r\n", CR: "\r" })) {
  test(`events with ${name}, cut after every number of bytes`, async () => {
    const text = TEXT.replaceAll("\n", end);
    for (let size = 1; size <= 40; size++) {
      expect(await read(text, size)).toEqual(EVENTS);
    }
    expect(await read(text, 10_000)).toEqual(EVENTS);
  });
}

test("a mark of byte order and empty pieces are no part of it", async () => {
  expect(await read("\ufeffdata: x\n\n", 1)).toEqual([{ event: "message", data: "x" }]);
  const pieces = [new Uint8Array(), new TextEncoder().encode("data: x\n\n"), new Uint8Array()];
  const found = [];
  for await (const event of parseEvents(streamOf(pieces))) {
    found.push(event);
  }
  expect(found).toEqual([{ event: "message", data: "x" }]);
});

test("whoever leaves the loop drops the connection", async () => {
  let cancelled = false;
  const pieces = ["data: 1\n\n", "data: 2\n\n", "data: 3\n\n"].map((text) => new TextEncoder().encode(text));
  const stream = streamOf(pieces, () => (cancelled = true));
  for await (const event of parseEvents(stream)) {
    expect(event.data).toBe("1");
    break;
  }
  expect(cancelled).toBe(true);
});

test("a stream that breaks is a problem, one that was stopped is not", async () => {
  const breaking = (error: unknown) => new ReadableStream<Uint8Array>({ start: (controller) => controller.error(error) });
  const readAll = async (stream: ReadableStream<Uint8Array>) => {
    for await (const event of parseEvents(stream)) {
      throw new Error(`${event.data} was read`);
    }
  };
  await expect(readAll(breaking(new TypeError("network")))).rejects.toMatchObject({ code: "unreachable" });
  await expect(readAll(breaking(new DOMException("stopped", "AbortError")))).rejects.toMatchObject({ name: "AbortError" });
});
