import type { Cents } from "@giftcard-pay/client/contract";
import { makeCardNumber, makePin } from "../secrets/card-number.js";
import type { Keyring } from "../secrets/keyring.js";
import { type CardChange, idsOf, refuseInactive, refuseReplaced } from "./card-changes.js";
import { type CardSink, type IssuedCard, insertCards } from "./card-issue.js";

export interface ReissuedCard extends IssuedCard {
  readonly balanceCents: Cents;
  /** The id of the replaced card. */
  readonly replaces: number;
}

/**
 * Replaces cards by ones with a new number and PIN, unless they were already reissued or are not sold yet. Moves the
 * balances, and closes the old cards for good. Cancel tokens of an old card still work: their money goes to the new one.
 *
 * @param prefix the first digits of the new numbers
 * @param sink receives the new cards, whose numbers and PINs are shown only once
 */
export const reissuing = (keys: Keyring, prefix: string | undefined, sink: CardSink<ReissuedCard>): CardChange => ({
  action: "card reissue",
  isNeeded(card) {
    refuseReplaced(card);
    refuseInactive(card);
    return true;
  },
  balanceAfter: ({ balanceCents }) => balanceCents,
  begin: () => sink.begin(null),
  async write(db, cards, audit) {
    const orders = cards.map(({ expiryDate }) => ({
      cardNumber: makeCardNumber(prefix),
      pin: makePin(),
      expiryDate,
    }));
    const made = (await insertCards(db, keys, orders)).map((card, index) => {
      const { id: replaces, balanceCents } = cards[index] as (typeof cards)[number];
      return { ...card, replaces, balanceCents };
    });
    const auditIds = await audit(({ balanceCents }, index) => {
      const { id, cardNumber } = made[index] as ReissuedCard;
      return { new_card: id, new_last_four: cardNumber.lastFour(), balance: balanceCents };
    });
    const newIds = made.map(({ id }) => id);
    await db.query(
      `update cards set reissued_as = new_id from unnest($1::bigint[], $2::bigint[]) as given (old_id, new_id)
         where cards.id = old_id`,
      [idsOf(cards), newIds],
    );
    await db.query(
      `select move_cents(old_id, new_id, cents, audit)
         from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) as given (old_id, new_id, cents, audit)
         where cents > 0`,
      [idsOf(cards), newIds, made.map(({ balanceCents }) => balanceCents), auditIds],
    );
    await sink.take(made);
  },
  end: () => sink.end(),
});
