import { checkLedger } from "../../../packages/service/dist/store/ledger-check.js";
import type { GiftcardSide } from "../faults/service.js";
import { sum } from "./cents.js";

/** A card at the service. `takenCents` and `times` are of its devalues that weren't reversed. */
export interface CardBooks {
  readonly balanceCents: number;
  readonly takenCents: number;
  readonly times: number;
}

type Issuer = Pick<GiftcardSide, "books">;

/** Adds to each card what the service's ledger has of it. */
export async function readCards<Card extends { readonly id: number }>(
  { books }: Issuer,
  cards: readonly Card[],
): Promise<(Card & CardBooks)[]> {
  const { rows } = await books.query(
    `select c.id::int, c.balance_cents::int as "balanceCents", coalesce(sum(-l.amount_cents), 0)::int as "takenCents",
       count(l.id)::int as times
     from cards c left join ledger l on l.card_id = c.id and l.kind = 'devalue'
       and not exists (select 1 from ledger r where r.reverses = l.id)
     where c.id = any($1) group by c.id`,
    [cards.map(({ id }) => id)],
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return cards.map((card) => {
    const row = byId.get(card.id);
    if (!row) throw new Error(`The service has no card ${card.id}.`);
    return { ...card, ...row };
  });
}

/** Returns the cents that are off these cards. */
export async function centsOff(
  issuer: Issuer,
  cards: readonly { readonly id: number; readonly issuedCents: number }[],
): Promise<number> {
  return sum((await readCards(issuer, cards)).map(({ issuedCents, balanceCents }) => issuedCents - balanceCents));
}

/** Runs the service's own check of its ledger. @returns what is wrong */
export async function checkIssuer({ books }: Issuer): Promise<string[]> {
  const { faults } = await checkLedger(books);
  return faults.length > 0 ? [`the service's ledger check finds ${faults.length} faults`] : [];
}
