import type { BookedRefund } from "../medusa-tables/order-refund.js";

/** A refund that named no unit, and exceeded what was owed. Only a person knows what it was for. */
export interface UnexplainedRefund
  extends Pick<BookedRefund, "cents" | "beyondCents" | "createdAt" | "createdBy" | "note"> {
  readonly refundId: string;
}

/**
 * A refund that differs from what was owed by no more than this was rounded: Medusa shows fractions of a cent as
 * owed.
 */
const ROUNDING_CENTS = 5;

/** Lists refunds without units that exceed what was owed by more than rounding. */
export const unexplainedOf = (refunds: readonly BookedRefund[]): UnexplainedRefund[] =>
  refunds
    .filter(({ units, isGoodwill, beyondCents }) => !units && !isGoodwill && beyondCents > ROUNDING_CENTS)
    .map(toUnexplained);

const toUnexplained = ({ id, cents, beyondCents, createdAt, createdBy, note }: BookedRefund): UnexplainedRefund => ({
  refundId: id,
  cents,
  beyondCents,
  createdAt,
  createdBy,
  note,
});

/**
 * Adds refunds that Medusa made beyond what was owed, and died before it waived that: the latest refunds that name no
 * unit.
 * @param missingCents what was refunded beyond what came back
 */
export function withCrashed(
  unexplained: readonly UnexplainedRefund[],
  refunds: readonly BookedRefund[],
  missingCents: number,
): UnexplainedRefund[] {
  const found = new Map(unexplained.map((refund) => [refund.refundId, refund]));
  let leftCents = missingCents;
  for (const refund of refunds.toReversed()) {
    if (leftCents <= ROUNDING_CENTS || refund.units || refund.isGoodwill) continue;
    const known = found.get(refund.id) ?? { ...toUnexplained(refund), beyondCents: 0 };
    const more = Math.min(leftCents, refund.cents - known.beyondCents);
    leftCents -= more;
    if (more > 0) found.set(refund.id, { ...known, beyondCents: known.beyondCents + more });
  }
  return refunds.flatMap(({ id }) => found.get(id) ?? []);
}
