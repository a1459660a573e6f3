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

/** Letters of a name on an axis. */
export const MOST_OF_NAME = 18;
const LEAST_OF_NAME = 8;

/** The letters of a tilted name that ends below its place: the first one has the width of the axis and of half a place. */
export function lettersAt(width: number, places: number): number {
  const left = 30 + (0.6 * (width - 60)) / Math.max(1, places);
  return Math.max(LEAST_OF_NAME, Math.min(MOST_OF_NAME, Math.floor(left / 6)));
}

/** A name of at most `most` letters; a Chinese one is as wide as two. */
export function shortened(name: string, most: number): string {
  let wide = 0;
  let at = 0;
  for (const letter of name) {
    wide += /\p{Script=Han}/u.test(letter) ? 2 : 1;
    if (most < wide) {
      return `${name.slice(0, Math.max(1, at - 1)).trimEnd()}…`;
    }
    at += letter.length;
  }
  return name;
}
