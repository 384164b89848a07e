import { randomInt } from "node:crypto";
import { Secret } from "@giftcard-pay/client/contract";
import type pg from "pg";
import { type Queryable, transaction } from "../database/database.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { hashOf } from "../secrets/keyring.js";
import { type Act, writeAudit } from "./audit.js";
import { lockOpenCompany } from "./companies.js";
import { noCompany } from "./filters.js";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const API_KEY_LENGTH = 60;

/** Creates a key of 60 letters and digits. Only its hash is stored. */
export const makeApiKey = () =>
  new Secret(Array.from({ length: API_KEY_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join(""));

/** An API key as an operator sees it, without the secret, by its printed names. */
export interface ApiKey {
  readonly key_id: number;
  readonly company_id: number;
  readonly label: string | null;
  /** Whether a login made it, not the operator. */
  readonly by_login: boolean;
  readonly created_at: Date;
  /** Rounded to the minute. */
  readonly last_used_at: Date | null;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
}

const COLUMNS = "id as key_id, company_id, label, by_login, created_at, last_used_at, expires_at, revoked_at";

export interface NewApiKey {
  readonly companyId: number;
  readonly label?: string | undefined;
  /** The last day of validity, by the clock in Amsterdam. Without it, the key is valid until it is revoked. */
  readonly lastDay?: string | undefined;
}

/** Inserts a new key. The key itself is shown only once. */
export async function insertApiKey(
  db: Queryable,
  { companyId, label, lastDay }: NewApiKey,
): Promise<{ key: ApiKey; apiKey: Secret }> {
  const apiKey = makeApiKey();
  const { rows } = await db.query<ApiKey>(
    `insert into api_keys (company_id, key_hash, label, expires_at)
       values ($1, $2, $3, ($4::date + 1)::timestamp at time zone 'Europe/Amsterdam') returning ${COLUMNS}`,
    [companyId, hashOf(apiKey), label, lastDay],
  );
  return { key: rows[0] as ApiKey, apiKey };
}

/**
 * Creates a key for a company, in addition to those of its logins.
 *
 * @throws {OperatorError} if there is no such company, or it is closed
 */
export function createApiKey(pool: pg.Pool, order: NewApiKey, act: Act): Promise<{ key: ApiKey; apiKey: Secret }> {
  return transaction(pool, async (db) => {
    const { companyId, label = null, lastDay = null } = order;
    await lockOpenCompany(db, companyId);
    const made = await insertApiKey(db, order);
    const details = { key: made.key.key_id, label, last_day: lastDay };
    await writeAudit(db, act, { action: "key create", companyId, details });
    return made;
  });
}

/** Creates the statement that lists the keys of one company or all, oldest first. */
export const keysStatement = (companyId: number | undefined) => ({
  text: `select ${COLUMNS} from api_keys where $1::int is null or company_id = $1 order by id`,
  values: [companyId ?? null],
});

/**
 * Revokes a key for good. A repetition changes nothing.
 *
 * @throws {OperatorError} if there is no such key
 */
export function revokeApiKey(pool: pg.Pool, id: number, act: Act): Promise<ApiKey> {
  return transaction(pool, async (db) => {
    const { rows: revoked } = await db.query<{ companyId: number }>(
      `update api_keys set revoked_at = now() where id = $1 and revoked_at is null returning company_id as "companyId"`,
      [id],
    );
    if (revoked[0]) {
      const { companyId } = revoked[0];
      await writeAudit(db, act, { action: "key revoke", companyId, details: { key: id } });
    }
    const { rows } = await db.query<ApiKey>(`select ${COLUMNS} from api_keys where id = $1`, [id]);
    if (rows[0]) return rows[0];
    throw new OperatorError("There is no key with this id. `key list` lists the keys.", exitCodes.notFound);
  });
}

/**
 * Revokes all active keys of a company for good. New ones can be created.
 *
 * @returns the keys that were revoked now
 * @throws {OperatorError} if there is no such company
 */
export function revokeCompanyKeys(pool: pg.Pool, companyId: number, act: Act): Promise<ApiKey[]> {
  return transaction(pool, async (db) => {
    // A concurrent login either waits for this lock, or its key is already visible.
    const { rowCount } = await db.query("select from companies where id = $1 for no key update", [companyId]);
    if (rowCount === 0) throw noCompany();
    const revoked = await revokeActive(db, companyId);
    const details = { revoked_keys: revoked.length };
    if (revoked.length > 0) await writeAudit(db, act, { action: "key revoke", companyId, details });
    return revoked;
  });
}

/** Revokes all active keys of a company, within the transaction. */
export async function revokeActive(db: Queryable, companyId: number): Promise<ApiKey[]> {
  const { rows } = await db.query<ApiKey>(
    `update api_keys set revoked_at = now() where company_id = $1 and revoked_at is null returning ${COLUMNS}`,
    [companyId],
  );
  return rows.sort((one, other) => one.key_id - other.key_id);
}
