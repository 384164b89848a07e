import { formatCents } from "@giftcard-pay/client";
import type { Difference } from "./difference.js";
import { type BookedCharge, movementsOf } from "./movements.js";
import type { ReportedCard } from "./service-report.js";

/**
 * The service's report names cards by their last four digits, so figures are compared per such group. A charge that
 * was made and reversed around midnight may fall on two days for the two clocks; the next period shows it reversed.
 */
export function compareCards(
  charges: readonly BookedCharge[],
  report: readonly ReportedCard[],
  moments: { from: Date; to: Date },
): Difference[] {
  const groups = new Map<string, { journal: Sums; service: Sums }>();
  const group = (lastFour: string) => {
    const found = groups.get(lastFour) ?? { journal: newSums(), service: newSums() };
    groups.set(lastFour, found);
    return found;
  };
  for (const movement of charges.flatMap((charge) => movementsOf(charge, moments.from, moments.to))) {
    const { journal } = group(movement.lastFour);
    if (movement.kind === "devalued") journal.devaluedCents += movement.cents;
    else journal.cancelledCents += movement.cents;
  }
  for (const card of report) {
    const { service } = group(card.lastFour);
    service.devaluedCents += card.devaluedCents;
    service.cancelledCents += card.cancelledCents;
  }
  return [...groups].flatMap(([lastFour, { journal, service }]): Difference[] => {
    if (netOf(journal) === netOf(service)) return [];
    return [
      {
        ...{ kind: "service", reference: null, orderId: null, lastFour },
        journal: { says: describe(journal), cents: netOf(journal) },
        other: { who: "service", says: describe(service), cents: netOf(service) },
      },
    ];
  });
}

interface Sums {
  devaluedCents: number;
  cancelledCents: number;
}

const newSums = (): Sums => ({ devaluedCents: 0, cancelledCents: 0 });
const netOf = (sums: Sums): number => sums.devaluedCents - sums.cancelledCents;
const describe = (sums: Sums): string =>
  `${formatCents(sums.devaluedCents)} devalued, ${formatCents(sums.cancelledCents)} cancelled`;
