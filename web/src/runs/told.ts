// How is it said what was paid, where some of it may not be known?
import { formatMoney } from "../lib/format";
import { runs } from "../lib/words/runs";
import type { Money } from "./sums";

export function toldMoney(money: Money | null): string {
  if (money === null) {
    return "–";
  }
  const told = formatMoney(money.dollars);
  return money.isAll ? told : runs().figures.atLeast(told);
}
