// Lists the passages that only one of two answers has, each title once.
import type { Run } from "./sums";

/** A title, and its passages in the order of the answer. */
export type Evidence = { title: string; chunks: string[] };

/** The passages behind the answer of `run` that `other` lacks; `titles` are the server's, for runs without passages. */
export function onlyIn(run: Run, other: Run, titles: string[]): Evidence[] {
  const theirs = new Set(chunksOf(other).map(({ id }) => id));
  const own = chunksOf(run).filter(({ id }) => !theirs.has(id));
  const found = new Map<string, string[]>();
  for (const { id, title, headings } of own) {
    const name = (headings[0] === title ? headings : [title, ...headings]).join(" › ");
    const chunks = found.get(name) ?? [];
    chunks.push(id);
    found.set(name, chunks);
  }
  return own.length === 0 ? [...new Set(titles)].map((title) => ({ title, chunks: [] })) : [...found].map(([title, chunks]) => ({ title, chunks }));
}

function chunksOf(run: Run) {
  return (run.answer?.context.chunks ?? []).map(({ chunk }) => chunk);
}
