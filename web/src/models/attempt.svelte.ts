// Tests or sets one choice of a model, and keeps the result beside it.
import { type Schemas, call } from "../lib/api";
import type { Chosen, ChosenSearch, Role, SearchKind } from "./models";

/** One request at a time, with what the latest one brought. */
class Trial<Tried, Result> {
  busy: "test" | "set" | "unset" | null = $state(null);
  tried: Tried | null = $state.raw(null);
  result: Result | null = $state.raw(null);
  error: unknown = $state.raw(null);

  /** Whether the server accepted the request. */
  protected async run(kind: "test" | "set" | "unset", work: () => Promise<void>): Promise<boolean> {
    this.busy = kind;
    this.tried = this.result = this.error = null;
    try {
      await work();
    } catch (error) {
      this.error = error;
    }
    this.busy = null;
    return this.error === null;
  }
}

/** A chat model. */
export class Attempt extends Trial<Schemas["TriedChat"], Schemas["SetChat"]> {
  /** Makes one small call to the model. */
  async test(body: Chosen): Promise<void> {
    await this.run("test", async () => {
      this.tried = await call("post", "/api/v1/models/test", { body });
    });
  }

  /** Stores the choice on the server; null if it was refused. */
  async set(body: Chosen): Promise<Schemas["SetChat"] | null> {
    await this.run("set", async () => {
      this.result = await call("put", "/api/v1/models/chosen", { body });
    });
    return this.result;
  }

  /** Takes its own model from a task; null if the server refused. */
  async unset(role: Role): Promise<Schemas["SetChat"] | null> {
    await this.run("unset", async () => {
      this.result = await call("delete", "/api/v1/models/chosen", { query: { role } });
    });
    return this.result;
  }
}

/** The embedder or the reranker. */
export class SearchAttempt extends Trial<Schemas["TriedSearchModel"], Schemas["SetSearchModel"]> {
  readonly #path: { kind: SearchKind };

  constructor(kind: SearchKind) {
    super();
    this.#path = { kind };
  }

  /** Makes one small call to the model. */
  async test(body: ChosenSearch): Promise<void> {
    await this.run("test", async () => {
      this.tried = await call("post", "/api/v1/models/search/{kind}/test", { path: this.#path, body });
    });
  }

  /** Stores the endpoint on the server; whether the server accepted it. */
  async set(body: ChosenSearch): Promise<boolean> {
    return this.run("set", async () => {
      this.result = await call("put", "/api/v1/models/search/{kind}", { path: this.#path, body });
    });
  }

  /** Takes the endpoint away; whether the server accepted it. */
  async unset(): Promise<boolean> {
    return this.run("unset", async () => {
      this.result = await call("delete", "/api/v1/models/search/{kind}", { path: this.#path });
    });
  }
}
