// Follows the download of a model on the server.
import { call } from "../lib/api";
import { events } from "../lib/events";
import { isAbort } from "../lib/problem";
import type { Pull } from "./models";

export class Pulling {
  current: Pull | null = $state.raw(null);
  error: unknown = $state.raw(null);
  #following: AbortController | null = null;

  /** Begins a download and follows it; `ondone` is called when the model is there. */
  async begin(name: string, ondone: () => void): Promise<void> {
    this.error = null;
    try {
      this.current = await call("post", "/api/v1/models/pull", { body: { name } });
    } catch (error) {
      this.error = error;
      return;
    }
    await this.follow(ondone);
  }

  /** Follows the latest download to its end. */
  async follow(ondone: () => void): Promise<void> {
    this.leave();
    const following = new AbortController();
    this.#following = following;
    try {
      for await (const { data } of events<{ event: "pull"; data: Pull }>("get", "/api/v1/models/pull", { signal: following.signal })) {
        this.current = data;
      }
    } catch (error) {
      if (!isAbort(error)) {
        this.error = error;
      }
      return;
    }
    if (this.current?.state === "done") {
      ondone();
    }
  }

  /** Stops the download; the server keeps the bytes that came. */
  async stop(): Promise<void> {
    try {
      await call("delete", "/api/v1/models/pull");
    } catch (error) {
      this.error = error;
    }
  }

  /** Stops following; the download goes on. */
  leave(): void {
    this.#following?.abort();
    this.#following = null;
  }
}
