import { formatCents } from "@giftcard-pay/client";
import type { Difference } from "./difference.js";
import { type BookedCharge, movementsOf } from "./movements.js";
import type { ReportedCard } from "./service-report.js";

interface Sums {
  devaluedCents: number;
  canceledCents: number;
}

const netOf = (sums: Sums): number => sums.devaluedCents - sums.canceledCents;
const describe = (sums: Sums): string =>
  `${formatCents(sums.devaluedCents)} devalued, ${formatCents(sums.canceledCents)} canceled`;

/**
 * What one side has of cards. The service's report names them by their last four digits, so figures are added up per such
 * group. A charge that was made and reversed around midnight may fall on two days for the two clocks; the next period
 * shows it reversed.
 */
export class CardFigures {
  readonly #sums = new Map<string, Sums>();
  /** How many cards of a report are in it. */
  cards = 0;

  /** Adds what a charge moved between two moments. */
  addCharge(charge: BookedCharge, { from, to }: { from: Date; to: Date }): void {
    for (const { lastFour, kind, cents } of movementsOf(charge, from, to))
      this.#add(lastFour, kind === "devalued" ? { devaluedCents: cents } : { canceledCents: cents });
  }

  addCard({ lastFour, ...sums }: ReportedCard): void {
    this.cards += 1;
    this.#add(lastFour, sums);
  }

  #add(lastFour: string, { devaluedCents = 0, canceledCents = 0 }: Partial<Sums>): void {
    const sums = this.#sums.get(lastFour) ?? { devaluedCents: 0, canceledCents: 0 };
    this.#sums.set(lastFour, sums);
    sums.devaluedCents += devaluedCents;
    sums.canceledCents += canceledCents;
  }

  /** What the journal, this one, has otherwise than the service. */
  differencesTo(service: CardFigures): Difference[] {
    const nothing = { devaluedCents: 0, canceledCents: 0 };
    return [...new Set([...this.#sums.keys(), ...service.#sums.keys()])].flatMap((lastFour): Difference[] => {
      const [ours, theirs] = [this.#sums.get(lastFour) ?? nothing, service.#sums.get(lastFour) ?? nothing];
      if (netOf(ours) === netOf(theirs)) return [];
      return [
        {
          kind: "service",
          reference: null,
          orderId: null,
          lastFour,
          journal: { says: describe(ours), cents: netOf(ours) },
          other: { who: "service", says: describe(theirs), cents: netOf(theirs) },
        },
      ];
    });
  }
}
