// Takes the statements out of a text that names readings: `beds of Cedar [SELECT beds FROM wards]`.

/** The text without its statements, and the statements, each once. */
export function withoutStatements(text: string): { text: string; statements: string[] } {
  const statements = new Set<string>();
  const rest = text
    .replace(/ ?\[(SELECT\b[^\]]*(?:\[[^\]]*\][^\]]*)*)\]/g, (_, found: string) => {
      for (const statement of found.split(/;\s*(?=SELECT\b)/)) {
        statements.add(statement.trim());
      }
      return "";
    });
  // The buttons beside the statements say the same of the command line.
  const shown = statements.size === 0 ? text : rest.replace(/ ?`pikerag sql` (?:gives the result of such a statement\.|可给出这样的语句的结果。)/g, "");
  return { text: shown, statements: [...statements] };
}
