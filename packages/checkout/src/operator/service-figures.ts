import { formatCents } from "@giftcard-pay/client";
import type { CardSums, Difference } from "./difference.js";
import { type BookedCharge, movementsOf } from "./movements.js";
import type { ReportedCard } from "./service-report.js";

type Sums = { -readonly [K in keyof CardSums]: CardSums[K] };

/** Describes the sums of a card, for one side of a difference. */
const sideOf = (sums: CardSums) => ({
  says: `${formatCents(sums.chargedCents)} charged, ${formatCents(sums.canceledCents)} canceled`,
  cents: netOf(sums),
  sums,
});
const netOf = (sums: CardSums): number => sums.chargedCents - sums.canceledCents;

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
      this.#add(lastFour, kind === "devalued" ? { chargedCents: cents } : { canceledCents: cents });
  }

  addCard({ lastFour, devaluedCents: chargedCents, canceledCents }: ReportedCard): void {
    this.cards += 1;
    this.#add(lastFour, { chargedCents, canceledCents });
  }

  #add(lastFour: string, { chargedCents = 0, canceledCents = 0 }: Partial<Sums>): void {
    const sums = this.#sums.get(lastFour) ?? { chargedCents: 0, canceledCents: 0 };
    this.#sums.set(lastFour, sums);
    sums.chargedCents += chargedCents;
    sums.canceledCents += canceledCents;
  }

  /** Returns the differences between these sums, the journal's, and the service's. */
  differencesTo(service: CardFigures): Difference[] {
    const nothing = { chargedCents: 0, canceledCents: 0 };
    return [...new Set([...this.#sums.keys(), ...service.#sums.keys()])].flatMap((lastFour): Difference[] => {
      const [ours, theirs] = [this.#sums.get(lastFour) ?? nothing, service.#sums.get(lastFour) ?? nothing];
      if (netOf(ours) === netOf(theirs)) return [];
      return [
        {
          kind: "service",
          reference: null,
          orderId: null,
          lastFour,
          journal: sideOf(ours),
          other: { who: "service", ...sideOf(theirs) },
        },
      ];
    });
  }
}
