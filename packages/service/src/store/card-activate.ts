import type { Cents } from "@giftcard-pay/client/contract";
import { exitCodes, OperatorError } from "../operator-error.js";
import { type CardChange, idsOf } from "./card-changes.js";
import { putFirstMoney } from "./card-issue.js";

/** Activates sold cards, unless they are blocked or expired: puts the amount on each that it was issued for. */
export const activating: CardChange = {
  action: "card activate",
  isNeeded({ id, inactiveCents, isBlocked, isPastExpiry }) {
    if (inactiveCents === null) return false;
    if (!isBlocked && !isPastExpiry) return true;
    const [is, first] = isBlocked ? ["is blocked", "Unblock"] : ["has expired", "Extend"];
    throw new OperatorError(`Card ${id} ${is}. ${first} it first.`, exitCodes.conflict);
  },
  refuseRepetition({ id }) {
    throw new OperatorError(`Card ${id} is already active.`, exitCodes.conflict);
  },
  balanceAfter: ({ inactiveCents }) => inactiveCents as Cents,
  async write(db, cards, audit) {
    const auditIds = await audit(({ inactiveCents }) => ({ cards: 1, balance: inactiveCents }));
    await db.query("update cards set inactive_cents = null where id = any($1)", [idsOf(cards)]);
    const money = cards.map(({ id, inactiveCents }, index) => ({
      id,
      cents: inactiveCents as Cents,
      auditId: auditIds[index] as number,
    }));
    await putFirstMoney(db, money);
  },
};

/** Cards that were issued or imported together. */
export interface CardBatch {
  readonly id: number;
  readonly origin: "issue" | "import";
  readonly createdAt: Date;
  readonly cards: number;
  readonly balanceCents: Cents;
  /** Number of cards that are not sold yet, and the amount that their activation puts on them. */
  readonly inactiveCards: number;
  readonly inactiveCents: Cents;
}

/** Creates the statement that lists the batches, oldest first. */
export const batchesStatement = () => ({
  text: `select b.id, b.origin, b.created_at as "createdAt", count(c.id)::int as cards,
      coalesce(sum(c.balance_cents), 0)::bigint as "balanceCents", count(c.inactive_cents)::int as "inactiveCards",
      coalesce(sum(c.inactive_cents), 0)::bigint as "inactiveCents"
    from card_batches b left join cards c on c.batch_id = b.id group by b.id order by b.id`,
  values: [],
});
