import { randomInt } from "node:crypto";
import { Secret } from "@giftcard-pay/client/contract";
import type pg from "pg";
import { type Queryable, transaction } from "../database.js";
import { hashOf } from "../keyring.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { checkPassword, hashPassword } from "../passwords.js";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const API_KEY_LENGTH = 60;

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
): Promise<NewCompany> {
  const passwordHash = await hashPassword(company.password);
  return transaction(pool, async (db) => {
    const { rows } = await db.query<{ id: number }>("insert into companies (name) values ($1) returning id", [
      company.name,
    ]);
    const companyId = (rows[0] as { id: number }).id;
    const account = await db.query(
      "insert into accounts (company_id, email, password_hash) values ($1, $2, $3) on conflict do nothing returning id",
      [companyId, company.email, passwordHash],
    );
    if (account.rowCount === 0) {
      throw new OperatorError("An account with this email exists already. Use another.", exitCodes.conflict);
    }
    return { companyId, apiKey: await createApiKey(db, companyId) };
  });
}

/** Lists the companies, oldest first. */
export async function listCompanies(
  db: Queryable,
): Promise<{ id: number; name: string; emails: string[] }[]> {
  const { rows } = await db.query(
    `select c.id, c.name, array_agg(a.email order by a.id) filter (where a.id is not null) as emails
       from companies c left join accounts a on a.company_id = c.id group by c.id order by c.id`,
  );
  return rows.map((row) => ({ ...row, emails: row.emails ?? [] }));
}

/** Makes a new key for a company: 60 letters and digits, of which only the hash is kept. */
async function createApiKey(db: Queryable, companyId: number): Promise<Secret> {
  const letters = Array.from({ length: API_KEY_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]);
  const apiKey = new Secret(letters.join(""));
  await db.query("insert into api_keys (company_id, key_hash) values ($1, $2)", [companyId, hashOf(apiKey)]);
  return apiKey;
}

/** Exchanges email and password for a new key; undefined when they are wrong, after the same work as when right. */
export async function authenticate(
  db: Queryable,
  email: string,
  password: Secret,
): Promise<Secret | undefined> {
  const { rows } = await db.query<{ company_id: number; password_hash: string }>(
    "select company_id, password_hash from accounts where lower(email) = lower($1)",
    [email],
  );
  const correct = await checkPassword(password, rows[0]?.password_hash);
  return correct && rows[0] ? createApiKey(db, rows[0].company_id) : undefined;
}

/** Finds the company that a living key belongs to. */
export async function findCompany(db: Queryable, apiKey: Secret): Promise<number | undefined> {
  const { rows } = await db.query<{ company_id: number }>({
    name: "find-company",
    text: "select company_id from api_keys where key_hash = $1 and revoked_at is null",
    values: [hashOf(apiKey)],
  });
  return rows[0]?.company_id;
}
