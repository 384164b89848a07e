import { formatCents } from "@giftcard-pay/client";
import type { Difference } from "./difference.js";
import type { Days } from "./period.js";
import { layOut } from "./text-table.js";

/** What a comparison of the books found. */
export interface Reconciliation extends Days {
  /** How many charges were looked at. */
  readonly charges: number;
  /** How many of the shop's payments were. */
  readonly payments: number;
  /** How many of the service's cards were; null without its report. */
  readonly cards: number | null;
  /** How many would differ, but are just being charged or reversed: the next reconciliation judges them. */
  readonly moving: number;
  readonly differences: readonly Difference[];
}

/** A reconciliation as lines to print: a difference each, with both sides, and the count last. Amounts in euro. */
export function reconciliationText(
  reconciliation: Reconciliation,
  nameOf: (orderId: string) => string = (id) => id,
): string {
  const { from, to, charges, payments, cards, moving, differences } = reconciliation;
  const amount = (cents: number | null) => (cents === null ? "?" : formatCents(cents));
  const rows = differences.map(({ kind, reference, orderId, lastFour, journal, other }) => [
    kind,
    lastFour === null ? "" : `…${lastFour}`,
    orderId === null ? "" : nameOf(orderId),
    reference ?? "",
    `journal: ${amount(journal.cents)} (${journal.says})`,
    `${other.who}: ${amount(other.cents)} (${other.says})`,
  ]);
  const count = differences.length;
  const found = count === 0 ? "no difference" : `${count} difference${count === 1 ? "" : "s"}`;
  const ofReport = cards === null ? "" : `, ${cards} cards of the report`;
  const unsettled = moving === 0 ? "" : `; ${moving} still moving`;
  return `${layOut(rows)}${from} to ${to}: ${charges} charges, ${payments} payments${ofReport}; ${found}${unsettled}\n`;
}
