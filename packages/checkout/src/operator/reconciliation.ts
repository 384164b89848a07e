import { formatCents } from "@giftcard-pay/client";
import type { Difference } from "./difference.js";
import type { Days } from "./period.js";
import { layOut } from "./text-table.js";

/** The result of a reconciliation. */
export interface Reconciliation extends Days {
  /** The number of compared charges. */
  readonly charges: number;
  /** The number of compared payments of the shop. */
  readonly payments: number;
  /** The number of compared cards of the service's report; null without a report. */
  readonly cards: number | null;
  /** The number of groups that differ only because of a charge or reversal in progress. The next reconciliation judges them. */
  readonly moving: number;
  readonly differences: readonly Difference[];
}

/** Formats a reconciliation for printing: a line for each difference with both sides, then the counts. Amounts in euro. */
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
