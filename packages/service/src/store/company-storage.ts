import type pg from "pg";
import { type Queryable, transaction } from "../database/database.js";
import { type Act, writeAudit } from "./audit.js";
import { isSince, isUntil } from "./days.js";
import { noCompany } from "./filters.js";

/** A company's events. */
export interface CompanyStorage {
  readonly events: number;
  /** The size of their content. */
  readonly eventBytes: number;
}

/** Reads the size of a company's events, including those of the caller's transaction. */
export async function readStorage(db: Queryable, companyId: number): Promise<CompanyStorage> {
  const { rows } = await db.query<CompanyStorage>({
    name: "read-storage",
    text: `select events, event_bytes as "eventBytes" from company_storage where company_id = $1`,
    values: [companyId],
  });
  return rows[0] ?? { events: 0, eventBytes: 0 };
}

/** Lists the storage of all companies that have created events. */
export async function listStorage(db: Queryable): Promise<(CompanyStorage & { readonly companyId: number })[]> {
  const { rows } = await db.query(
    `select company_id as "companyId", events, event_bytes as "eventBytes" from company_storage order by company_id`,
  );
  return rows;
}

/** Returns whether a company has this number of event concepts, or more. @param number 0 sets no limit */
export async function hasConcepts(db: Queryable, companyId: number, number: number): Promise<boolean> {
  if (number === 0) return false;
  const { rowCount } = await db.query("select from event_concepts where company_id = $1 offset $2 limit 1", [
    companyId,
    number - 1,
  ]);
  return rowCount === 1;
}

/** The data to remove. Days are inclusive, by the clock in Amsterdam. */
export interface Removal {
  readonly companyId: number;
  /** The days of creation. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly isDryRun: boolean;
}

/** The numbers of removed rows. */
export interface Removed {
  readonly events: number;
  readonly concepts: number;
}

/**
 * Deletes the events and concepts that a company created through the interface. Events of its feed stay: the next pull would
 * create them again.
 *
 * @throws {OperatorError} if there is no such company
 */
export function removeCreated(pool: pg.Pool, removal: Removal, act: Act): Promise<Removed> {
  const { companyId, from, to, isDryRun } = removal;
  return transaction(pool, async (db) => {
    await db.query("set local statement_timeout = 0");
    const company = await db.query("select from companies where id = $1", [companyId]);
    if (company.rowCount === 0) throw noCompany();
    const remove = async (table: string, condition: string) => {
      const matching = `from ${table} where company_id = $1 and ${condition}
        and ($2::date is null or ${isSince("created_at", "$2")}) and ($3::date is null or ${isUntil("created_at", "$3")})`;
      const text = isDryRun ? `select ${matching}` : `delete ${matching}`;
      return (await db.query(text, [companyId, from ?? null, to ?? null])).rowCount ?? 0;
    };
    const removed = {
      events: await remove("events", "not from_feed"),
      concepts: await remove("event_concepts", "true"),
    };
    const details = { ...removed, from: from ?? null, to: to ?? null };
    if (!isDryRun) await writeAudit(db, act, { action: "events remove", companyId, details });
    return removed;
  });
}
