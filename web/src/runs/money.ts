// Words an amount that was paid, where prices of some parts may be unknown.
import { formatMoney } from "../lib/format";
import { runs } from "../lib/words/runs";
import type { Money } from "./sums";

export function shownMoney(money: Money | null): string {
  if (money === null) {
    return "–";
  }
  const amount = formatMoney(money.dollars);
  return money.isAll ? amount : runs().figures.atLeast(amount);
}
