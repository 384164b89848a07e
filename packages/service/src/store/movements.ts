import type { Cents } from "@giftcard-pay/client/contract";
import type { Queryable } from "../database/database.js";

/** One movement of money on a card. */
export interface Movement {
  readonly at: Date;
  readonly kind: "issue" | "top_up" | "devalue" | "cancel" | "adjust" | "expire" | "move";
  readonly amountCents: Cents;
  readonly companyId: number | null;
  /** The balance after the movement. */
  readonly balanceCents: Cents;
  /** The entry in the audit log, if a person or a till made the movement. */
  readonly auditId: number | null;
  /** The other card of a move. */
  readonly otherCardId: number | null;
}

/** Lists a card's movements, oldest first. */
export async function listMovements(db: Queryable, cardId: number): Promise<Movement[]> {
  const { rows } = await db.query<Movement>(
    `select l.created_at as at, l.kind, l.amount_cents as "amountCents", l.company_id as "companyId",
       (sum(l.amount_cents) over (order by l.id))::bigint as "balanceCents", l.audit_id as "auditId",
       coalesce(l.moved_from_card, i.card_id) as "otherCardId"
     from ledger l left join ledger i on l.kind = 'move' and i.moved_from = l.id
     where l.card_id = $1 order by l.id`,
    [cardId],
  );
  return rows;
}
