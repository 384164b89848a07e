import type { Cents } from "@giftcard-pay/client/contract";
import { CARD_COLUMNS, type Card } from "./card-lookup.js";
import { isSince, isUntil } from "./days.js";

/** A movement that a search matched, by printed names. */
export interface FoundMovement {
  readonly id: number;
  /** An ISO time. */
  readonly at: string;
  readonly kind: string;
  readonly amount: Cents;
  readonly company_id: number | null;
  readonly company: string | null;
}

/** A card that a search found, with its latest matching movements. None if the search names neither amount nor day. */
export type FoundCard = Card & { readonly movements: readonly FoundMovement[] };

/** A search for a card by details that its holder remembers. */
export interface CardSearch {
  readonly lastFour: string;
  /** The amount of a movement, in either direction, or the requested amount of a devalue. */
  readonly amountCents?: number | undefined;
  /** The day of the movement, by the clock in Amsterdam. */
  readonly day?: string | undefined;
}

const MAX_MOVEMENTS = 20;

/** Creates the statement that finds cards, oldest first. If amount or day are given, one movement must match both. */
export const searchStatement = ({ lastFour, amountCents, day }: CardSearch) => ({
  text: `select ${CARD_COLUMNS}, coalesce(m.movements, '[]') as movements
    from cards cross join lateral (
      select json_agg(json_build_object('id', l.id, 'at', l.created_at, 'kind', l.kind, 'amount', l.amount_cents,
          'company_id', l.company_id, 'company', o.name) order by l.id) as movements
        from (select * from ledger l
          where l.card_id = cards.id
            and ($2::bigint is null or abs(l.amount_cents) = $2 or l.requested_cents = $2)
            and ($3::date is null or (${isSince("l.created_at", "$3")} and ${isUntil("l.created_at", "$3")}))
            and ($2::bigint is not null or $3::date is not null)
          order by l.id desc limit ${MAX_MOVEMENTS}) l left join companies o on o.id = l.company_id
    ) m
    where last_four = $1 and (m.movements is not null or ($2::bigint is null and $3::date is null))
    order by cards.id`,
  values: [lastFour, amountCents ?? null, day ?? null],
});
