import type pg from "pg";
import { readSnapshot } from "../database/database.js";
import { changedBlocks, findFaults, type LedgerFault, rowRules } from "./ledger-rules.js";

/** The rules that need all rows. */
const WHOLE_RULES = {
  balance_is_ledger: `
    select c.id as card, c.last_four, null::bigint as row, coalesce(s.cents, 0) as expected, c.balance_cents as found
      from cards c left join (select card_id, sum(amount_cents)::bigint as cents from ledger group by card_id) s
        on s.card_id = c.id
      where c.balance_cents <> coalesce(s.cents, 0) order by 1`,
  // Checked for each moment: a card's rows are inserted one after the other.
  never_below_zero: `
    select c.id, c.last_four, l.id, 0::bigint, l.running
      from (select id, card_id, sum(amount_cents) over (partition by card_id order by id)::bigint as running from ledger) l
        join cards c on c.id = l.card_id where l.running < 0 order by 1, 3`,
  key_has_its_row: `
    select c.id, c.last_four, k.ledger_id, null::bigint, l.refund_cents
      from idempotency_keys k left join ledger l on l.id = k.ledger_id left join cards c on c.id = l.card_id
      where k.ledger_id is not null
        and (l.id is null or l.company_id is distinct from k.company_id
          or (k.operation, l.kind) <> ('devalue', 'devalue')) order by 3`,
} as const;

export interface LedgerCheck {
  readonly cards: number;
  readonly ledgerRows: number;
  readonly balanceCents: number;
  readonly faults: LedgerFault[];
}

/** Compares balances, reversals, keys, moves and adjustments with the ledger, and blocks that `check --resume` verified with their digests, in one snapshot. The service may keep running. */
export function checkLedger(pool: pg.Pool, onProgress?: (rules: number, total: number) => void): Promise<LedgerCheck> {
  return readSnapshot(pool, async (db) => {
    const faults = await findFaults(db, { ...WHOLE_RULES, ...rowRules() }, onProgress);
    faults.push(...(await changedBlocks(db)));
    const { rows } = await db.query(
      `select (select count(*)::int from cards) as cards, (select count(*)::bigint from ledger) as "ledgerRows",
         (select coalesce(sum(balance_cents), 0)::bigint from cards) as "balanceCents"`,
    );
    return { ...rows[0], faults };
  });
}
