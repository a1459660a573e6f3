// Lists the readings of a question over tables that a refused answer offers.
import type { Schemas } from "../lib/api";

/** A reading in words, and the `SELECT` that gives its result. */
export type Choice = { reading: string; statement: string };

/** The readings that have a statement, in the order of the answer: runs of earlier versions name some without. */
export function choicesOf(refusal: Schemas["Reason"] | undefined): Choice[] {
  const { readings = [], statements = [] } = refusal && "readings" in refusal ? refusal : {};
  return readings.map((reading, at) => ({ reading, statement: statements[at] ?? "" })).filter((choice) => choice.statement.trim() !== "");
}
