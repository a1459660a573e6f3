// Tries the operations of a client one by one, and prints a line of JSON for each (see `harness.py`).
import { createRequire } from "node:module";

/** Results of earlier operations. */
export const kept = {};

/** The result of an earlier operation, which this one needs. */
export function needed(name) {
  if (!(name in kept)) throw new Error(`not tried: the operation that gives \`${name}\` failed`);
  return kept[name];
}

/** Loads a package of the folder of packages that the first argument names. */
export const load = createRequire(`${process.argv[2]}/package.json`);

/** Runs `act`. Words that it returns are a remark, `{ refused }` a refusal; what it throws is a failure. */
export async function operation(name, act, seconds = 60) {
  console.log(JSON.stringify({ begins: name }));
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end within ${seconds} s`)), seconds * 1000);
  });
  try {
    const words = await Promise.race([act(), late]);
    const refused = words?.refused;
    report(name, refused ? "refused" : "passed", refused ?? words ?? "");
  } catch (error) {
    console.error(error);
    report(name, "failed", error?.message ?? error);
  } finally {
    clearTimeout(timer);
  }
}

function report(operation, result, words) {
  console.log(JSON.stringify({ operation, result, words: String(words).replace(/\s+/g, " ").trim().slice(0, 1500) }));
}
