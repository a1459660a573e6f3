// Reads server-sent events from the body of a response.

export interface ServerEvent {
  name: string;
  data: string;
}

/** Joins pieces of text to events. Lines end with `\n`, `\r\n` or `\r` only. */
export class Decoder {
  #rest = "";
  #name = "";
  #data: string[] = [];

  /** The events that `piece` completes. */
  feed(piece: string): ServerEvent[] {
    let text = this.#rest + piece;
    // A final `\r` may be the first half of `\r\n`.
    const held = text.endsWith("\r") ? "\r" : "";
    text = text.slice(0, text.length - held.length);
    const lines = text.split(/\r\n|\n|\r/);
    this.#rest = (lines.pop() ?? "") + held;
    return lines.flatMap((line) => this.#line(line));
  }

  #line(line: string): ServerEvent[] {
    if (line !== "") {
      const at = line.indexOf(":");
      const field = at < 0 ? line : line.slice(0, at);
      const value = at < 0 ? "" : line.slice(at + 1).replace(/^ /, "");
      if (field === "event") this.#name = value;
      else if (field === "data") this.#data.push(value);
      return [];
    }
    const found = this.#data.length === 0 ? [] : [{ name: this.#name || "message", data: this.#data.join("\n") }];
    this.#name = "";
    this.#data = [];
    return found;
  }
}
