/** Readings with the statements that give their results, between two texts; nothing where there is none. */
export function nearest(before: string, readings: string[] = [], statements: string[] = [], end: string): string {
  if (readings.length === 0) return "";
  const worded = readings.map((reading, at) => (statements[at] === undefined ? reading : `${reading} [${statements[at]}]`));
  return `${before}${worded.join(" | ")}${end}`;
}
