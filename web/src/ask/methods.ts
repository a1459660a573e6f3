// Loads the methods and their forecasts, and groups the methods.
import { type Schemas, call } from "../lib/api";
import { ask } from "../lib/words/ask";

export type Method = Schemas["MethodDescription"];
export type Forecast = Schemas["QuestionForecast"];
export type MethodGroup = "usual" | "search" | "structure" | "model" | "papers" | "variants";

/** The default method. */
export const USUAL = "pike";

const USUALS = [USUAL, "adaptive", "kar3"];

/** What a method does, in a line; the page shows no marks of code. */
export function summaryOf({ name, summary }: Pick<Method, "name" | "summary">): string {
  return (ask().methods.summaries[name] ?? summary).replaceAll("`", "");
}

export function groupOf(method: Method): MethodGroup {
  if (USUALS.includes(method.name)) {
    return "usual";
  }
  if (method.needs !== null) {
    return "structure";
  }
  if (method.name.startsWith(`${method.family}-`)) {
    return "variants";
  }
  if (method.family === "naive-rag" || method.family === "hop-rag") {
    return "search";
  }
  return method.family === "direct" ? "model" : "papers";
}

const forecasts = new Map<string, Promise<Forecast>>();
let methods: Promise<Method[]> | null = null;

/** One request serves the page; a failed one is repeated. */
export function allMethods(): Promise<Method[]> {
  methods ??= call("get", "/api/v1/methods").catch((error: unknown) => {
    methods = null;
    throw error;
  });
  return methods;
}

/** The forecast of a question by a method; kept until a question is asked, because forecasts learn. */
export function forecastOf(base: string, method: string): Promise<Forecast> {
  const key = `${base}\n${method}`;
  const known = forecasts.get(key);
  if (known) {
    return known;
  }
  const asked = call("get", "/api/v1/bases/{base}/forecast", { path: { base }, query: { method } });
  asked.catch(() => forecasts.delete(key));
  forecasts.set(key, asked);
  return asked;
}

export function forgetForecasts(): void {
  forecasts.clear();
}
