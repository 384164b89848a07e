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
 * The sums of one side, by a card's last four digits, which is how the service's report names cards. Around midnight, the two
 * clocks may count a reversal on different days. It then appears in the next period.
 */
export class CardFigures {
  readonly #sums = new Map<string, Sums>();
  /** The number of cards of the report. */
  cards = 0;

  /** Adds the movements of a charge within a period. */
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

  /** Returns the differences between these sums, the journal's, and the service's. */
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
