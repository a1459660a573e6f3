// The parts of a run, as the server sends them.
import type { Schemas } from "../lib/api";

export type Answer = Schemas["Answer"];
export type Candidate = Schemas["Candidate"];
export type Change = Schemas["Change"];
export type Citation = Schemas["Citation"];
export type RunEvent = Schemas["RunEvent"];
export type Notice = Schemas["Notice"];
export type Kind = RunEvent["event"];
