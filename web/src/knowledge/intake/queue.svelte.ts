// Uploads files into a base, estimates their cost, then indexes them.
import { type Schemas, call } from "../../lib/api";
import { type ProblemError, asProblem, isAbort } from "../../lib/problem";
import { toast } from "../../lib/toasts.svelte";
import { upload } from "../../lib/upload";
import { knowledge } from "../../lib/words/knowledge";
import type { Named } from "./dropped";
import { type Estimated, isFree, isIdle } from "./estimates";

const AT_ONCE = 3;

/** A usual request to index. `known`: names of files in the base. */
export function takes(files: string[], known: string[] = []): Schemas["IndexBody"] {
  return { files, known, reread: false, retry_refused: false };
}

/** A file being uploaded. */
export class Entry {
  sent = $state(0);
  state: "waiting" | "sending" | "held" | "failed" = $state("waiting");
  problem: ProblemError | null = $state.raw(null);
  /** The files of an archive that were left out, with the reason. */
  leftOut: Schemas["LeftOut"][] = $state.raw([]);

  constructor(
    readonly id: number,
    readonly name: string,
    readonly file: File,
    readonly unpack: boolean,
  ) {}
}

export class Intake {
  entries: Entry[] = $state.raw([]);
  /** Uploaded files to estimate and index now. */
  held: string[] = $state.raw([]);
  /** Uploaded files that are not indexed yet. Only this browser knows those that replace a file of the base. */
  left: string[] = $state.raw([]);
  estimate: Estimated | null = $state.raw(null);
  isCounting = $state(false);
  isBeginning = $state(false);
  problem: ProblemError | null = $state.raw(null);
  /** The last started job, with the uploaded files that it reads; any if omitted. */
  started: { job: Schemas["Job"]; files?: string[] } | null = $state.raw(null);

  readonly failed = $derived(this.entries.filter((entry) => entry.state === "failed"));
  readonly underWay = $derived(this.entries.filter((entry) => entry.state === "waiting" || entry.state === "sending"));
  readonly bytes = $derived(this.entries.reduce((sum, entry) => sum + entry.file.size, 0));
  readonly sent = $derived(this.entries.reduce((sum, entry) => sum + Math.min(entry.sent, entry.file.size), 0));
  private next = 0;
  private stop = new AbortController();

  constructor(readonly base: string) {
    this.left = kept(base);
  }

  /** `unpack`: unpack the archives among them. */
  add(files: Named[], unpack: boolean): void {
    const fresh = new Map(files.map(({ name, file }) => [name, new Entry(++this.next, name, file, unpack && isArchive(name))]));
    // A file that is sent again replaces the older one; finished files leave the list.
    const stay = this.entries.filter((entry) => entry.state !== "held" && (entry.state === "sending" || !fresh.has(entry.name)));
    this.entries = [...stay, ...fresh.values()];
    this.estimate = null;
    this.problem = null;
    void this.pump();
  }

  /** Earlier uploads are handled like new ones. */
  take(names: string[]): void {
    this.estimate = null;
    this.problem = null;
    this.hold(names);
    void this.countWhenDone();
  }

  retry(entry: Entry): void {
    entry.state = "waiting";
    entry.problem = null;
    void this.pump();
  }

  drop(entry: Entry): void {
    this.entries = this.entries.filter((one) => one !== entry);
    void this.countWhenDone();
  }

  /** Stops the unfinished uploads; the finished ones stay. */
  stopAll(): void {
    this.stop.abort();
    this.stop = new AbortController();
    this.entries = this.entries.filter((entry) => entry.state === "failed" || entry.state === "held");
    void this.countWhenDone();
  }

  /** Estimates the cost of indexing, of all pending files if nothing is held; indexes at once if it is free. Returns whether there is nothing to do. */
  async count(): Promise<boolean> {
    const files = this.held;
    this.isCounting = true;
    this.problem = null;
    try {
      const estimated = await call("post", "/api/v1/bases/{base}/estimate", { path: { base: this.base }, body: takes(files) });
      if (files !== this.held || this.underWay.length !== 0) {
        // The estimate follows when all files are uploaded.
      } else if (isIdle(estimated)) {
        this.setAside();
        this.forget(files);
        return true;
      } else if (isFree(estimated)) {
        await this.index();
      } else {
        this.estimate = estimated;
      }
    } catch (error) {
      this.problem = asProblem(error);
    } finally {
      this.isCounting = false;
    }
    // More files were added meanwhile.
    if (files !== this.held && this.problem === null) {
      await this.countWhenDone();
    }
    return false;
  }

  async index(): Promise<void> {
    const files = this.held;
    this.isBeginning = true;
    this.problem = null;
    try {
      const job = await call("post", "/api/v1/bases/{base}/index", { path: { base: this.base }, body: takes(files) });
      this.started = { job, files: files.length === 0 ? undefined : files };
      this.setAside(files);
      this.forget(files);
    } catch (error) {
      this.problem = asProblem(error);
    } finally {
      this.isBeginning = false;
    }
    // More files were added meanwhile.
    if (this.problem === null) {
      await this.countWhenDone();
    }
  }

  /** The files stay on the server as pending. */
  setAside(files = this.held): void {
    this.estimate = null;
    this.problem = null;
    // Files that were added meanwhile stay.
    const gone = new Set(files);
    this.held = this.held.filter((name) => !gone.has(name));
    this.entries = this.entries.filter((entry) => entry.state !== "held" || entry.leftOut.length !== 0);
  }

  /** The files are no longer pending; an empty list means all. */
  forget(files: string[]): void {
    const gone = new Set(files);
    this.keep(files.length === 0 ? [] : this.left.filter((name) => !gone.has(name)));
  }

  private hold(names: string[]): void {
    this.held = [...new Set([...this.held, ...names])];
    this.keep([...new Set([...this.left, ...names])]);
  }

  private keep(names: string[]): void {
    this.left = names;
    keep(this.base, names);
  }

  private async pump(): Promise<void> {
    const sending = () => this.entries.filter((entry) => entry.state === "sending").length;
    for (let entry = this.nextWaiting(); entry && sending() < AT_ONCE; entry = this.nextWaiting()) {
      entry.state = "sending";
      void this.send(entry);
    }
  }

  private nextWaiting(): Entry | undefined {
    return this.entries.find((entry) => entry.state === "waiting");
  }

  private async send(entry: Entry): Promise<void> {
    const { signal } = this.stop;
    try {
      const onprogress = (sent: number) => (entry.sent = sent);
      const came = await upload(this.base, entry.name, entry.file, { hold: true, unpack: entry.unpack || undefined, onprogress, signal });
      entry.sent = entry.file.size;
      entry.leftOut = came.unpacked?.left_out ?? [];
      entry.state = "held";
      this.hold(came.unpacked?.files ?? [entry.name]);
    } catch (error) {
      if (!isAbort(error)) {
        entry.problem = asProblem(error);
        entry.state = "failed";
      }
    }
    void this.pump();
    await this.countWhenDone();
  }

  private async countWhenDone(): Promise<void> {
    if (this.underWay.length === 0 && this.held.length !== 0 && !this.isCounting && !this.isBeginning && this.estimate === null) {
      if (await this.count()) {
        toast(knowledge().intake.unchanged, "good");
      }
    }
  }
}

export function isArchive(name: string): boolean {
  return /\.zip$/i.test(name);
}

const intakes = new Map<string, Intake>();

/** The uploads into a base; they go on when another view opens. */
export function intakeOf(base: string): Intake {
  const found = intakes.get(base) ?? new Intake(base);
  intakes.set(base, found);
  return found;
}

function placeOf(base: string): string {
  return `pikerag.held/${base}`;
}

function kept(base: string): string[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(placeOf(base)) ?? "[]");
    return Array.isArray(found) ? found.filter((name) => typeof name === "string") : [];
  } catch {
    return [];
  }
}

function keep(base: string, names: string[]): void {
  try {
    if (names.length === 0) {
      localStorage.removeItem(placeOf(base));
    } else {
      localStorage.setItem(placeOf(base), JSON.stringify(names));
    }
  } catch {
    // The storage is full: the server knows the files that are not in the base.
  }
}
