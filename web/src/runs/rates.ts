// What do tokens cost? By a forecast of the server, as its runs tell none.
import { call } from "../lib/api";
import { type Rates, ratesOf } from "./sums";

/** Null where no price is known, or nothing can be told. */
export async function loadRates(base: string): Promise<Rates | null> {
  try {
    const methods = await call("get", "/api/v1/methods");
    const method = methods.find(({ name }) => name === "naive-rag") ?? methods.find(({ roles }) => 0 < roles.length);
    return method ? ratesOf(await call("get", "/api/v1/bases/{base}/forecast", { path: { base }, query: { method: method.name } })) : null;
  } catch {
    // Money is said besides; all else is told without it.
    return null;
  }
}
