import { randomInt } from "node:crypto";
import { Secret } from "@giftcard-pay/client/contract";
import type pg from "pg";
import { type Queryable, transaction } from "../database.js";
import { hashOf } from "../keyring.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { checkPassword, hashPassword, isOutdated } from "../passwords.js";
import { type Act, writeAudit } from "./audit.js";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const API_KEY_LENGTH = 60;
const NEWEST_GENERATION = "coalesce((select max(id) from secret_generations), 1)";

/** A company, with the first key of its account. The key is shown this once. */
export interface NewCompany {
  readonly companyId: number;
  readonly apiKey: Secret;
}

/**
 * Makes a company with one account and an API key.
 *
 * @throws {OperatorError} when an account has this email already
 */
export async function createCompany(
  pool: pg.Pool,
  company: { name: string; email: string; password: Secret },
  act: Act,
): Promise<NewCompany> {
  const passwordHash = await hashPassword(company.password);
  return transaction(pool, async (db) => {
    const { rows } = await db.query<{ id: number }>("insert into companies (name) values ($1) returning id", [
      company.name,
    ]);
    const companyId = (rows[0] as { id: number }).id;
    const account = await db.query(
      `insert into accounts (company_id, email, password_hash, password_generation)
         values ($1, $2, $3, ${NEWEST_GENERATION}) on conflict do nothing returning id`,
      [companyId, company.email, passwordHash],
    );
    if (account.rowCount === 0) {
      throw new OperatorError("An account with this email exists already. Use another.", exitCodes.conflict);
    }
    const { name, email } = company;
    await writeAudit(db, act, { action: "company create", companyId, details: { name, email } });
    return { companyId, apiKey: (await createApiKey(db, companyId)) as Secret };
  });
}

/** Lists the companies, oldest first. */
export async function listCompanies(
  db: Queryable,
): Promise<{ id: number; name: string; emails: string[]; closedAt: Date | null }[]> {
  const { rows } = await db.query(
    `select c.id, c.name, c.closed_at as "closedAt", array_agg(a.email order by a.id) filter (where a.id is not null) as emails
       from companies c left join accounts a on a.company_id = c.id group by c.id order by c.id`,
  );
  return rows.map((row) => ({ ...row, emails: row.emails ?? [] }));
}

/** Makes a new key for a company: 60 letters and digits, of which only the hash is kept. None for a closed one. */
async function createApiKey(db: Queryable, companyId: number): Promise<Secret | undefined> {
  const letters = Array.from({ length: API_KEY_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]);
  const apiKey = new Secret(letters.join(""));
  // The lock keeps the company from being closed in between.
  const { rowCount } = await db.query(
    `insert into api_keys (company_id, key_hash)
       select id, $2 from companies where id = $1 and closed_at is null for share`,
    [companyId, hashOf(apiKey)],
  );
  return rowCount === 1 ? apiKey : undefined;
}

/** An account as a login needs it. */
export interface Account {
  readonly id: number;
  readonly companyId: number;
  readonly passwordHash: string;
  /** The hash was made before the newest secrets, or at another cost. */
  readonly outdated: boolean;
}

/** Finds the account of an email address. */
export async function findAccount(db: Queryable, email: string): Promise<Account | undefined> {
  const { rows } = await db.query<Account>(
    `select id, company_id as "companyId", password_hash as "passwordHash",
       password_generation < ${NEWEST_GENERATION} as outdated from accounts where lower(email) = lower($1)`,
    [email],
  );
  const account = rows[0];
  return account && { ...account, outdated: account.outdated || isOutdated(account.passwordHash) };
}

/**
 * Exchanges a password for a new key; undefined when it is wrong, or there is no such account, after the same work as
 * when it is right. A right one is hashed anew where its hash is outdated.
 */
export async function authenticate(
  db: Queryable,
  account: Account | undefined,
  password: Secret,
): Promise<Secret | undefined> {
  const correct = await checkPassword(password, account?.passwordHash);
  if (!correct || !account) return undefined;
  const apiKey = await createApiKey(db, account.companyId);
  if (apiKey && account.outdated) {
    await db.query(
      `update accounts set password_hash = $3, password_generation = ${NEWEST_GENERATION}
         where id = $1 and password_hash = $2`,
      [account.id, account.passwordHash, await hashPassword(password)],
    );
  }
  return apiKey;
}

/** A key as the operator sees it: its secret is not kept. */
export interface ApiKey {
  readonly id: number;
  readonly companyId: number;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}

const KEY_COLUMNS = `id, company_id as "companyId", created_at as "createdAt", revoked_at as "revokedAt"`;

/** Lists the keys of a company, or of all, oldest first. */
export async function listApiKeys(db: Queryable, companyId?: number): Promise<ApiKey[]> {
  const { rows } = await db.query<ApiKey>(
    `select ${KEY_COLUMNS} from api_keys where $1::int is null or company_id = $1 order by id`,
    [companyId ?? null],
  );
  return rows;
}

/** Revokes a key, for good; undefined when there is none. Doing it twice is no fault. */
export function revokeApiKey(pool: pg.Pool, id: number, act: Act): Promise<ApiKey | undefined> {
  return transaction(pool, async (db) => {
    const { rows: revoked } = await db.query<{ companyId: number }>(
      `update api_keys set revoked_at = now() where id = $1 and revoked_at is null returning company_id as "companyId"`,
      [id],
    );
    if (revoked[0]) {
      const { companyId } = revoked[0];
      await writeAudit(db, act, { action: "key revoke", companyId, details: { key: id } });
    }
    const { rows } = await db.query<ApiKey>(`select ${KEY_COLUMNS} from api_keys where id = $1`, [id]);
    return rows[0];
  });
}

/** Closes a company, for good: its keys are revoked, and its account can't log in. Doing it twice is no fault. */
export function closeCompany(
  pool: pg.Pool,
  id: number,
  act: Act,
): Promise<{ name: string; closedAt: Date; revokedKeys: number } | undefined> {
  return transaction(pool, async (db) => {
    const { rows } = await db.query<{ name: string; closedAt: Date; isNew: boolean }>(
      `update companies set closed_at = coalesce(closed_at, now()) where id = $1
         returning name, closed_at as "closedAt", closed_at = now() as "isNew"`,
      [id],
    );
    if (!rows[0]) return undefined;
    const { name, closedAt, isNew } = rows[0];
    const revoked = await db.query(
      "update api_keys set revoked_at = now() where company_id = $1 and revoked_at is null",
      [id],
    );
    const revokedKeys = revoked.rowCount ?? 0;
    if (isNew) {
      await writeAudit(db, act, {
        action: "company close",
        companyId: id,
        details: { revoked_keys: revokedKeys },
      });
    }
    return { name, closedAt, revokedKeys };
  });
}
