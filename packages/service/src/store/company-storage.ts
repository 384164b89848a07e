import type pg from "pg";
import { type Queryable, transaction } from "../database/database.js";
import { type Act, writeAudit } from "./audit.js";
import { isWithin } from "./days.js";
import { type ListFilter, noCompany } from "./filters.js";

export interface CompanyStorage {
  readonly events: number;
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

/** Lists the storage of all companies that have had events. */
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

/**
 * Deletes events and concepts of a company, by the days of their creation. Returns their numbers.
 *
 * @throws {OperatorError} if there is no such company
 */
export function removeEvents(
  pool: pg.Pool,
  { company: companyId, from, to, isDryRun }: ListFilter & { readonly company: number; readonly isDryRun: boolean },
  act: Act,
): Promise<{ events: number; concepts: number }> {
  return transaction(pool, async (db) => {
    await db.query("set local statement_timeout = 0");
    const company = await db.query("select from companies where id = $1", [companyId]);
    if (company.rowCount === 0) throw noCompany();
    const remove = async (table: string) => {
      const matching = `from ${table} where company_id = $1 and ${isWithin("created_at", "$2", "$3")}`;
      const text = isDryRun ? `select ${matching}` : `delete ${matching}`;
      return (await db.query(text, [companyId, from ?? null, to ?? null])).rowCount ?? 0;
    };
    const removed = { events: await remove("events"), concepts: await remove("event_concepts") };
    const details = { ...removed, from: from ?? null, to: to ?? null };
    if (!isDryRun) await writeAudit(db, act, { action: "events remove", companyId, details });
    return removed;
  });
}
