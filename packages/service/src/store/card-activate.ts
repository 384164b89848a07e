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

/** Cards that were issued or imported together, by their printed names. */
export interface CardBatch {
  readonly batch: number;
  readonly origin: "issue" | "import";
  readonly created_at: Date;
  readonly cards: number;
  readonly balance: Cents;
  /** Number of cards that are not sold yet, and the amount that their activation puts on them. */
  readonly inactive_cards: number;
  readonly inactive_balance: Cents;
}

/** The statement that lists the batches, oldest first. */
export const batchesStatement = {
  text: `select b.id as batch, b.origin, b.created_at, count(c.id)::int as cards,
      coalesce(sum(c.balance_cents), 0)::bigint as balance, count(c.inactive_cents)::int as inactive_cards,
      coalesce(sum(c.inactive_cents), 0)::bigint as inactive_balance
    from card_batches b left join cards c on c.batch_id = b.id group by b.id order by b.id`,
  values: [],
};
