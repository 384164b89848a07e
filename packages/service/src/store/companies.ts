import type pg from "pg";
import { type Queryable, transaction } from "../database/database.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { type Act, writeAudit } from "./audit.js";
import { noCompany } from "./filters.js";

/** A company that is not closed. */
export interface OpenCompany {
  readonly id: number;
  readonly name: string;
  readonly suspendedAt: Date | null;
}

const COLUMNS = `id, name, suspended_at as "suspendedAt"`;

/**
 * Suspends a company, or resumes it. While a company is suspended, its logins and its keys are refused, but its keys can
 * cancel devalues. A repetition changes nothing.
 *
 * @throws {OperatorError} if there is no such company, or it is closed
 */
export function setSuspended(pool: pg.Pool, companyId: number, isSuspended: boolean, act: Act): Promise<OpenCompany> {
  return transaction(pool, async (db) => {
    const before = await lockOpenCompany(db, companyId, "for no key update");
    if ((before.suspendedAt !== null) === isSuspended) return before;
    await writeAudit(db, act, { action: isSuspended ? "company suspend" : "company resume", companyId });
    const text = `update companies set suspended_at = case when $2 then now() end where id = $1 returning ${COLUMNS}`;
    const { rows } = await db.query<OpenCompany>(text, [companyId, isSuspended]);
    return rows[0] as OpenCompany;
  });
}

/**
 * Renames a company, also in reports about the past. A repetition changes nothing.
 *
 * @throws {OperatorError} if there is no such company, or it is closed
 */
export function renameCompany(
  pool: pg.Pool,
  companyId: number,
  name: string,
  act: Act,
): Promise<OpenCompany & { readonly before: string }> {
  return transaction(pool, async (db) => {
    const company = await lockOpenCompany(db, companyId, "for no key update");
    const before = company.name;
    if (name !== before) {
      await db.query("update companies set name = $2 where id = $1", [companyId, name]);
      await writeAudit(db, act, { action: "company rename", companyId, details: { from: before, to: name } });
    }
    return { ...company, name, before };
  });
}

/**
 * Locks a company until the transaction ends.
 *
 * @param locking `for share` only prevents that it is closed
 * @throws {OperatorError} if there is no such company, or it is closed
 */
export async function lockOpenCompany(
  db: Queryable,
  companyId: number,
  locking: "for share" | "for no key update" = "for share",
): Promise<OpenCompany> {
  const { rows } = await db.query<OpenCompany & { isClosed: boolean }>(
    `select ${COLUMNS}, closed_at is not null as "isClosed" from companies where id = $1 ${locking}`,
    [companyId],
  );
  if (!rows[0]) throw noCompany();
  const { isClosed, ...company } = rows[0];
  if (isClosed) throw new OperatorError("The company is closed for good.", exitCodes.conflict);
  return company;
}
