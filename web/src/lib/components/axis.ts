// Labels the axis of a plot.

export type Values = (number | null)[];

/** Steps of an axis for counts: one run is not split in tenths. */
export const WHOLE_STEPS = Array.from({ length: 15 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();

/** Whether all figures are whole numbers. */
export function isWhole(rows: Values[]): boolean {
  return rows.every((row) => row.every((value) => value === null || Number.isInteger(value)));
}

/** The labels of an axis, each once: a rounded label that repeats says nothing. */
export function distinct(labels: string[]): string[] {
  return labels.map((label, at) => (labels.indexOf(label) === at ? label : ""));
}
