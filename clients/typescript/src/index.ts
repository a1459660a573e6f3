// A client of a pikerag server for Node.js and browsers. It needs only `fetch`.

export { Client } from "./client.js";
export type { AskOptions, CallOptions, ClientOptions, SearchOptions, TextOptions, UploadBody, UploadOptions, WaitOptions } from "./client.js";
export { ConnectionFailed, JobError, PikeragError, ProblemError, ReplyError, TimedOut } from "./errors.js";
export type * from "./types.js";
