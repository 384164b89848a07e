import type pg from "pg";
import { readSnapshot } from "../database/database.js";

/** A row that breaks a rule of the ledger. */
export interface LedgerFault {
  /** The broken rule, one of {@link RULES}. */
  readonly rule: keyof typeof RULES;
  readonly cardId: number | null;
  readonly lastFour: string | null;
  readonly ledgerId: number | null;
  readonly expectedCents: number | null;
  readonly foundCents: number | null;
}

/** The rules, each with a statement that finds all rows that break it. */
const RULES = {
  balance_is_ledger: `
    select c.id as card, c.last_four, null::bigint as row, coalesce(s.cents, 0) as expected, c.balance_cents as found
      from cards c left join (select card_id, sum(amount_cents)::bigint as cents from ledger group by card_id) s
        on s.card_id = c.id
      where c.balance_cents <> coalesce(s.cents, 0) order by 1`,
  // Checked for each moment: a card's rows are inserted one after the other.
  never_below_zero: `
    select c.id, c.last_four, l.id, 0::bigint, l.running
      from (select id, card_id, sum(amount_cents) over (partition by card_id order by id)::bigint as running from ledger) l
        join cards c on c.id = l.card_id where l.running < 0
    union all
    select id, last_four, null, 0, balance_cents from cards where balance_cents < 0 order by 1, 3`,
  one_reversal_each: `
    select c.id, c.last_four, min(r.id), d.refund_cents, sum(r.amount_cents)::bigint
      from ledger r left join ledger d on d.id = r.reverses and d.kind = 'devalue' and d.card_id = r.card_id
          and d.company_id = r.company_id
        left join cards c on c.id = r.card_id
      where r.kind = 'cancel'
      group by r.reverses, r.card_id, c.id, c.last_four, d.id, d.refund_cents
      having count(*) <> 1 or d.id is null or sum(r.amount_cents) <> d.refund_cents order by 3`,
  key_has_its_row: `
    select c.id, c.last_four, k.ledger_id, null::bigint, l.refund_cents
      from idempotency_keys k left join ledger l on l.id = k.ledger_id left join cards c on c.id = l.card_id
      where k.ledger_id is not null
        and (l.id is null or l.kind <> 'devalue' or l.company_id <> k.company_id or k.operation <> 'devalue') order by 3`,
  // A move goes from a card to its replacement, or to a later replacement.
  move_has_two_halves: `
    with recursive successors (card, successor) as (
      select id, reissued_as from cards where reissued_as is not null
      union select s.card, c.reissued_as from successors s join cards c on c.id = s.successor where c.reissued_as is not null
    )
    select c.id, c.last_four, coalesce(o.id, i.id), o.refund_cents, i.amount_cents
      from (select * from ledger where kind = 'move' and moved_from is null) o
        full join (select * from ledger where kind = 'move' and moved_from is not null) i on i.moved_from = o.id
        left join successors s on s.card = o.card_id and s.successor = i.card_id
        left join cards c on c.id = coalesce(o.card_id, i.card_id)
      where s.card is null or o.refund_cents is distinct from i.amount_cents order by 3`,
  adjustment_has_its_entry: `
    select c.id, c.last_four, l.id, (a.details ->> 'by')::bigint, l.amount_cents
      from ledger l left join audit_log a on a.id = l.audit_id left join cards c on c.id = l.card_id
      where l.kind = 'adjust' and (a.id is null or a.card_id is distinct from l.card_id
        or (a.details ->> 'by')::bigint is distinct from l.amount_cents) order by 3`,
  write_off_has_its_entry: `
    select c.id, c.last_four, l.id, (a.details ->> 'balance')::bigint, l.refund_cents
      from ledger l left join audit_log a on a.id = l.audit_id left join cards c on c.id = l.card_id
      where l.kind = 'expire' and (a.id is null or a.action <> 'expire' or a.card_id is distinct from l.card_id
        or (a.details ->> 'balance')::bigint is distinct from l.refund_cents) order by 3`,
  // A card that is not sold yet never held money; a replaced card holds none.
  closed_is_empty: `
    (select distinct on (c.id) c.id, c.last_four, l.id, 0::bigint, l.amount_cents
      from cards c join ledger l on l.card_id = c.id where c.inactive_cents is not null order by c.id, l.id)
    union all
    select id, last_four, null, 0, balance_cents from cards where reissued_as is not null and balance_cents <> 0
    order by 1, 3`,
} as const;

/** The result of a check of the ledger. */
export interface LedgerCheck {
  readonly cards: number;
  readonly ledgerRows: number;
  readonly balanceCents: number;
  readonly faults: LedgerFault[];
}

/** Compares balances, reversals, keys, moves and adjustments with the ledger, in one snapshot. The service may keep running. */
export function checkLedger(pool: pg.Pool): Promise<LedgerCheck> {
  return readSnapshot(pool, async (db) => {
    const faults: LedgerFault[] = [];
    for (const [rule, text] of Object.entries(RULES)) {
      const { rows } = await db.query({ text, rowMode: "array" });
      for (const [cardId, lastFour, ledgerId, expectedCents, foundCents] of rows) {
        faults.push({
          rule: rule as keyof typeof RULES,
          cardId,
          lastFour,
          ledgerId,
          expectedCents,
          foundCents,
        });
      }
    }
    const { rows } = await db.query(
      `select (select count(*)::int from cards) as cards, (select count(*)::bigint from ledger) as "ledgerRows",
         (select coalesce(sum(balance_cents), 0)::bigint from cards) as "balanceCents"`,
    );
    return { ...rows[0], faults };
  });
}
