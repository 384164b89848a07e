import type { Secret } from "@giftcard-pay/client/contract";
import type pg from "pg";
import { type Queryable, transaction } from "../database/database.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { hashOf } from "../secrets/keyring.js";
import { checkPassword, hashPassword, isOutdated } from "../secrets/passwords.js";
import { insertApiKey, makeApiKey, revokeActive } from "./api-keys.js";
import { type Act, writeAudit } from "./audit.js";
import { lockOpenCompany } from "./companies.js";
import { noCompany } from "./filters.js";

const NEWEST_GENERATION = "coalesce((select max(id) from secret_generations), 1)";

/**
 * Creates a company with one account and an API key, which is shown only once.
 *
 * @throws {OperatorError} if an account with this email exists
 */
export async function createCompany(
  pool: pg.Pool,
  company: { name: string; email: string; password: Secret },
  act: Act,
): Promise<{ companyId: number; apiKey: Secret }> {
  const { name, email } = company;
  const passwordHash = await hashPassword(company.password);
  return transaction(pool, async (db) => {
    const { rows } = await db.query<{ id: number }>("insert into companies (name) values ($1) returning id", [name]);
    const companyId = (rows[0] as { id: number }).id;
    const account = await insertAccount(db, { companyId, email, passwordHash });
    await writeAudit(db, act, { action: "company create", companyId, details: { name, account } });
    return { companyId, apiKey: (await insertApiKey(db, { companyId })).apiKey };
  });
}

async function insertAccount(
  db: Queryable,
  { companyId, email, passwordHash }: { companyId: number; email: string; passwordHash: string },
): Promise<number> {
  const { rows } = await db.query<{ id: number }>(
    `insert into accounts (company_id, email, password_hash, password_generation)
       values ($1, $2, $3, ${NEWEST_GENERATION}) on conflict do nothing returning id`,
    [companyId, email, passwordHash],
  );
  if (rows[0]) return rows[0].id;
  throw new OperatorError("An account with this email already exists. Use another.", exitCodes.conflict);
}

/**
 * Adds an account to a company.
 *
 * @throws {OperatorError} if there is no such company, it is closed, or an account with this email exists
 */
export async function addAccount(
  pool: pg.Pool,
  { companyId, email, password }: { companyId: number; email: string; password: Secret },
  act: Act,
): Promise<{ id: number }> {
  const passwordHash = await hashPassword(password);
  return transaction(pool, async (db) => {
    await lockOpenCompany(db, companyId);
    const id = await insertAccount(db, { companyId, email, passwordHash });
    await writeAudit(db, act, { action: "account add", companyId, details: { account: id } });
    return { id };
  });
}

/**
 * Changes an account's password. A login with the old password fails from then on, even one in progress.
 *
 * @param revokesKeys also revokes all keys of the company
 * @throws {OperatorError} if there is no such account
 */
export async function changePassword(
  pool: pg.Pool,
  { email, password, revokesKeys }: { email: string; password: Secret; revokesKeys: boolean },
  act: Act,
): Promise<{ id: number; companyId: number; revokedKeys: number }> {
  const passwordHash = await hashPassword(password);
  return transaction(pool, async (db) => {
    const { rows } = await db.query<{ id: number; companyId: number }>(
      `update accounts set password_hash = $2, password_generation = ${NEWEST_GENERATION}
         where lower(email) = lower($1) returning id, company_id as "companyId"`,
      [email, passwordHash],
    );
    const account = rows[0];
    if (!account) throw noAccount();
    const revokedKeys = revokesKeys ? (await revokeActive(db, account.companyId)).length : 0;
    const details = { account: account.id, revoked_keys: revokedKeys };
    await writeAudit(db, act, { action: "account password", companyId: account.companyId, details });
    return { ...account, revokedKeys };
  });
}

/**
 * Removes an account for good, and so erases its email address, which is stored nowhere else. The company's keys keep working.
 *
 * @throws {OperatorError} if there is no such account
 */
export function removeAccount(pool: pg.Pool, email: string, act: Act): Promise<{ id: number; companyId: number }> {
  return transaction(pool, async (db) => {
    const { rows } = await db.query<{ id: number; companyId: number }>(
      `delete from accounts where lower(email) = lower($1) returning id, company_id as "companyId"`,
      [email],
    );
    const account = rows[0];
    if (!account) throw noAccount();
    const { id, companyId } = account;
    await writeAudit(db, act, { action: "account remove", companyId, details: { account: id } });
    return account;
  });
}

const noAccount = () => new OperatorError("There is no account with this email.", exitCodes.notFound);

/** A company with the email addresses of its accounts, by printed names. */
export interface ListedCompany {
  readonly company_id: number;
  readonly name: string;
  readonly emails: readonly string[];
  /** In the order of `emails`. The audit log names accounts by their ids. */
  readonly account_ids: readonly number[];
  readonly events: number;
  readonly event_bytes: number;
  readonly suspended_at?: Date;
  readonly closed_at?: Date;
}

export async function listCompanies(db: Queryable): Promise<ListedCompany[]> {
  const { rows } = await db.query(
    `select c.id as company_id, c.name, coalesce(a.emails, '{}') as emails, coalesce(a.ids, '{}') as account_ids,
         coalesce(s.events, 0) as events, coalesce(s.event_bytes, 0) as event_bytes, c.suspended_at, c.closed_at
       from companies c left join company_storage s on s.company_id = c.id
         left join (select company_id, array_agg(email order by id) as emails, array_agg(id order by id) as ids
           from accounts group by company_id) a on a.company_id = c.id order by c.id`,
  );
  return rows.map(({ suspended_at, closed_at, ...company }) => ({
    ...company,
    ...(suspended_at && { suspended_at }),
    ...(closed_at && { closed_at }),
  }));
}

/** The data of an account that a login needs. */
export interface Account {
  readonly id: number;
  readonly companyId: number;
  readonly passwordHash: string;
  /** Whether the hash is older than the newest secrets, or has another cost. */
  readonly outdated: boolean;
}

export async function findAccount(db: Queryable, email: string): Promise<Account | undefined> {
  const { rows } = await db.query<Account>(
    `select id, company_id as "companyId", password_hash as "passwordHash",
       password_generation < ${NEWEST_GENERATION} as outdated from accounts where lower(email) = lower($1)`,
    [email],
  );
  const account = rows[0];
  return account && { ...account, outdated: account.outdated || isOutdated(account.passwordHash) };
}

/** The result of a login: a new key, or the reason why not. */
export type LoginOutcome = { outcome: "done"; apiKey: Secret } | { outcome: "refused" } | { outcome: "full" };

/**
 * Exchanges a password for a new API key. A wrong password and an unknown account are refused after the same work as for a
 * right password. Renews an outdated hash.
 *
 * @param keysPerCompany maximum number of active keys of the company; 0 sets no limit
 */
export async function authenticate(
  db: Queryable,
  account: Account | undefined,
  password: Secret,
  keysPerCompany: number,
): Promise<LoginOutcome> {
  const correct = await checkPassword(password, account?.passwordHash);
  if (!correct || !account) return { outcome: "refused" };
  const apiKey = makeApiKey();
  const { rows } = await db.query<{ outcome: LoginOutcome["outcome"] }>(
    "select make_login_key($1, $2, $3, $4) as outcome",
    [account.id, account.passwordHash, hashOf(apiKey), keysPerCompany],
  );
  const { outcome } = rows[0] as (typeof rows)[number];
  if (outcome !== "done") return { outcome };
  if (account.outdated) {
    await db.query(
      `update accounts set password_hash = $3, password_generation = ${NEWEST_GENERATION}
         where id = $1 and password_hash = $2`,
      [account.id, account.passwordHash, await hashPassword(password)],
    );
  }
  return { outcome, apiKey };
}

/**
 * Closes a company for good: revokes its keys, and rejects its logins. A repetition changes nothing.
 *
 * @throws {OperatorError} if there is no such company
 */
export function closeCompany(
  pool: pg.Pool,
  id: number,
  act: Act,
): Promise<{ name: string; closedAt: Date; revokedKeys: number }> {
  return transaction(pool, async (db) => {
    const { rows } = await db.query<{ name: string; closedAt: Date; isNew: boolean }>(
      `update companies set closed_at = coalesce(closed_at, now()) where id = $1
         returning name, closed_at as "closedAt", closed_at = now() as "isNew"`,
      [id],
    );
    if (!rows[0]) throw noCompany();
    const { name, closedAt, isNew } = rows[0];
    const revokedKeys = (await revokeActive(db, id)).length;
    const details = { revoked_keys: revokedKeys };
    if (isNew) await writeAudit(db, act, { action: "company close", companyId: id, details });
    return { name, closedAt, revokedKeys };
  });
}
