import type pg from "pg";
import { type Queryable, transaction } from "../database/database.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { checkOf, Keyring, type SecretGeneration } from "../secrets/keyring.js";
import { addGeneration, createSecretsFile, readSecretsFile } from "../secrets/secrets-file.js";
import { type Act, writeAudit } from "./audit.js";

/**
 * Reads the service's secrets and checks that they belong to this database. Creates the file if neither it nor a database
 * that needs one exists yet.
 *
 * @throws {OperatorError} if the file is missing, readable by others, damaged, or belongs to another database
 */
export async function openKeyring(file: string, db: Queryable): Promise<Keyring> {
  const reload = () => readActive(file, db);
  return new Keyring(await reload(), reload);
}

/**
 * Makes a new generation of secrets, first in the file, then in the database, which makes all processes use it.
 *
 * @param prepareOnly stops after the file, so that it can be copied to other hosts before anything is hashed under it
 * @returns the number of the generation, and whether it is in use now
 * @throws {OperatorError} if another process rotates the secrets at the same time, or the file cannot be used
 */
export async function rotateSecrets(
  file: string,
  pool: pg.Pool,
  { prepareOnly, act }: { prepareOnly: boolean; act: Act },
): Promise<{ generation: number; active: boolean }> {
  const active = (await readActive(file, pool)).length;
  // A generation that was prepared, or left by an interrupted rotation, is used first.
  if (readSecretsFile(file).length === active) addGeneration(file);
  const generation = active + 1;
  if (prepareOnly) return { generation, active: false };
  const check = checkOf(readSecretsFile(file)[active] as SecretGeneration);
  const isFirst = await transaction(pool, async (db) => {
    const isInserted = await insertGeneration(db, generation, check);
    if (isInserted) await writeAudit(db, act, { action: "secrets rotate", details: { generation } });
    return isInserted;
  });
  if (!isFirst) {
    throw new OperatorError("Another process is rotating the secrets. Run `secrets status`.", exitCodes.conflict);
  }
  return { generation, active: true };
}

/** Counts the generations that only the file has. */
export async function countPrepared(file: string, db: Queryable): Promise<number> {
  return readSecretsFile(file).length - (await readActive(file, db)).length;
}

/** Reads the generations that this database uses. */
async function readActive(file: string, db: Queryable): Promise<readonly SecretGeneration[]> {
  let checks = await readChecks(db);
  if (checks.length === 0) {
    createSecretsFile(file);
    // Of several processes, one created the file and all read it. The first inserts the generation.
    for (const [index, generation] of readSecretsFile(file).entries())
      await insertGeneration(db, index + 1, checkOf(generation));
    checks = await readChecks(db);
  }
  const generations = readSecretsFile(file);
  if (checks.some((check, index) => !generations[index] || !checkOf(generations[index]).equals(check))) {
    throw new OperatorError(
      `The secrets file ${file} does not belong to this database, or lacks its newest generation. Restore the file that ` +
        "belongs to it. If that is elsewhere, set GIFTCARD_SECRETS_FILE.",
      exitCodes.secretsMismatch,
    );
  }
  return generations.slice(0, checks.length);
}

/** @returns whether the generation is new */
async function insertGeneration(db: Queryable, generation: number, check: Buffer): Promise<boolean> {
  const { rowCount } = await db.query(
    "insert into secret_generations (id, key_check) values ($1, $2) on conflict do nothing",
    [generation, check],
  );
  return rowCount === 1;
}

async function readChecks(db: Queryable): Promise<Buffer[]> {
  const { rows } = await db.query<{ key_check: Buffer }>("select key_check from secret_generations order by id");
  return rows.map((row) => row.key_check);
}

/** Counts the cards under each generation, oldest first, and the cards and passwords that are not under the newest yet. */
export async function countByGeneration(db: Queryable) {
  const { rows: generations } = await db.query<{ generation: number; created_at: Date; cards: number }>(
    `select g.id as generation, g.created_at, coalesce(c.cards, 0) as cards
       from secret_generations g
       left join (select generation, count(*) as cards from cards group by generation) c on c.generation = g.id
       order by g.id`,
  );
  const { rows } = await db.query<{ count: number }>(
    "select count(*) from accounts where password_generation < (select max(id) from secret_generations)",
  );
  const oldCards = generations.slice(0, -1).reduce((sum, { cards }) => sum + cards, 0);
  return { generations, oldCards, oldPasswords: rows[0]?.count ?? 0 };
}

/** Prevents a rotation of the secrets during the transaction: existing cards are only found under known generations. */
export async function lockSecrets(db: Queryable, keys: Keyring): Promise<void> {
  await db.query("lock table secret_generations in share mode");
  const { rows } = await db.query<{ newest: number }>("select max(id) as newest from secret_generations");
  if (rows[0]?.newest !== keys.newest) await keys.refresh();
  if (rows[0]?.newest !== keys.newest) throw new Error("The secrets were rotated and could not be read again.");
}
