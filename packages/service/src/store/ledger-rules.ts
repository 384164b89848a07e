import type { Queryable } from "../database/database.js";

/** A row that breaks a rule of the ledger, by printed names. */
export interface LedgerFault {
  /** The broken rule, such as `balance_is_ledger`. */
  readonly rule: string;
  readonly card: number | null;
  readonly last_four: string | null;
  readonly ledger_row: number | null;
  /** In cents, as `found`. */
  readonly expected: number | null;
  readonly found: number | null;
}

/** Rules by name, each with a statement that finds all rows that break it. */
export type Rules = Readonly<Record<string, string>>;

export interface RowRange {
  readonly first: number;
  readonly through: number;
}

/**
 * Runs the statements of these rules.
 *
 * @param onProgress called before each rule, with the number of rules so far
 */
export async function findFaults(
  db: Queryable,
  rules: Rules,
  onProgress?: (done: number, total: number) => void,
): Promise<LedgerFault[]> {
  const faults: LedgerFault[] = [];
  const entries = Object.entries(rules);
  for (const [index, [rule, text]] of entries.entries()) {
    onProgress?.(index, entries.length);
    const { rows } = await db.query({ text, rowMode: "array" });
    for (const [card, last_four, ledger_row, expected, found] of rows)
      faults.push({ rule, card, last_four, ledger_row, expected, found });
  }
  return faults;
}

const isIn = (column: string, range: RowRange | undefined) =>
  range ? `${column} between ${range.first} and ${range.through}` : "true";

/** Returns the rules for single rows of the ledger: for all rows, or for those of a range, whose partners may be outside. */
export const rowRules = (range?: RowRange): Rules => ({
  one_reversal_each: `
    select c.id, c.last_four, min(r.id), d.refund_cents, sum(r.amount_cents)::bigint
      from ledger r left join ledger d on d.id = r.reverses and d.kind = 'devalue' and d.card_id = r.card_id
          and d.company_id = r.company_id
        left join cards c on c.id = r.card_id
      where r.kind = 'cancel'${
        range ? ` and r.reverses in (select reverses from ledger where kind = 'cancel' and ${isIn("id", range)})` : ""
      }
      group by r.reverses, r.card_id, c.id, c.last_four, d.id, d.refund_cents
      having count(*) <> 1 or d.id is null or sum(r.amount_cents) <> d.refund_cents order by 3`,
  // A move goes from a card to its replacement, or to a later replacement. The chain is followed for each move: a join with
  // all chains takes hours if the planner does not know yet that many cards were reissued.
  move_has_two_halves: `
    with moved as (select coalesce(moved_from, id) as out_id from ledger where kind = 'move' and ${isIn("id", range)})
    select c.id, c.last_four, coalesce(o.id, i.id), o.refund_cents, i.amount_cents
      from (select * from ledger where kind = 'move' and moved_from is null and id in (select out_id from moved)) o
        full join (select * from ledger where kind = 'move' and moved_from in (select out_id from moved)) i
          on i.moved_from = o.id
        left join cards c on c.id = coalesce(o.card_id, i.card_id)
      where o.refund_cents is distinct from i.amount_cents or not exists (
        with recursive successors (card) as (
          select reissued_as from cards where id = o.card_id
          union select s.reissued_as from successors join cards s on s.id = successors.card
        ) select from successors where card = i.card_id) order by 3`,
  adjustment_has_its_entry: `
    select c.id, c.last_four, l.id, (a.details ->> 'by')::bigint, l.amount_cents
      from ledger l left join audit_log a on a.id = l.audit_id left join cards c on c.id = l.card_id
      where ${isIn("l.id", range)} and l.kind = 'adjust' and (a.id is null or a.card_id is distinct from l.card_id
        or (a.details ->> 'by')::bigint is distinct from l.amount_cents) order by 3`,
  write_off_has_its_entry: `
    select c.id, c.last_four, l.id, (a.details ->> 'balance')::bigint, l.refund_cents
      from ledger l left join audit_log a on a.id = l.audit_id left join cards c on c.id = l.card_id
      where ${isIn("l.id", range)} and l.kind = 'expire' and (a.id is null or a.action <> 'expire' or a.card_id is distinct from l.card_id
        or (a.details ->> 'balance')::bigint is distinct from l.refund_cents) order by 3`,
  // A card that is not sold yet never held money; a replaced card holds none.
  closed_is_empty: `
    (select distinct on (c.id) c.id, c.last_four, l.id, 0::bigint, l.amount_cents
      from cards c join ledger l on l.card_id = c.id and ${isIn("l.id", range)} where c.inactive_cents is not null
      order by c.id, l.id)
    union all
    select id, last_four, null, 0, balance_cents from cards where reissued_as is not null and balance_cents <> 0
    order by 1, 3`,
});

/** The number of rows that share a digest. */
const BLOCK = 20_000;

/** Stores the digests of rows that were verified. Each digest covers the one before it. */
export async function storeBlocks(db: Queryable, { first, through }: RowRange): Promise<void> {
  for (let from = first; from <= through; from += BLOCK) {
    await db.query(
      `insert into checked_blocks (first, through, digest)
         values ($1, $2, ledger_digest($1, $2, (select digest from checked_blocks order by through desc limit 1)))`,
      [from, Math.min(from + BLOCK - 1, through)],
    );
  }
}

/** Reads verified rows again, and returns the blocks whose rows have changed since. By default, all of them. */
export async function changedBlocks(
  db: Queryable,
  { after = 0, limit }: { after?: number; limit?: number } = {},
): Promise<LedgerFault[]> {
  const { rows } = await db.query<{ through: number }>(
    // Materialized: otherwise PostgreSQL computes the digest of every block.
    `with chosen as materialized (
       select first, through, digest,
         (select digest from checked_blocks b where b.through < c.through order by b.through desc limit 1) as before
         from checked_blocks c where through > $1 order by through limit $2)
     select through from chosen where digest <> ledger_digest(first, through, before) order by through`,
    [after, limit ?? null],
  );
  const none = { card: null, last_four: null, expected: null, found: null };
  return rows.map(({ through }) => ({ ...none, rule: "verified_is_unchanged", ledger_row: through }));
}
