import { createSecretKey, randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import type pg from "pg";
import { type Queryable, transaction } from "./database.js";
import { checkOf, Keyring, type SecretGeneration } from "./keyring.js";
import { exitCodes, OperatorError } from "./operator-error.js";
import { type Act, writeAudit } from "./store/audit.js";

const PURPOSES = ["cardNumber", "pin", "cancelToken", "idempotency"] as const;
const KEY_BYTES = 32;

/** The keys of one generation as the file spells them. */
type Spelled = Record<(typeof PURPOSES)[number], string>;

/** The file: the newest generation, and those before it, oldest first. */
interface SecretsFile extends Spelled {
  readonly previous?: readonly Spelled[];
}

/**
 * Reads the service's secrets and checks that they are those of this database. The file is made where neither
 * it nor a database that needs one exists yet.
 *
 * @throws {OperatorError} when the file is missing, readable by others, damaged, or another database's
 */
export async function openKeyring(file: string, db: Queryable): Promise<Keyring> {
  const reload = () => readActive(file, db);
  return new Keyring(await reload(), reload);
}

/**
 * Makes a new generation of secrets: the file gets it first, then the database calls for it.
 *
 * @param prepareOnly stops after the file, so that it can be carried to other hosts before anything is hashed under it
 * @returns the number of the generation, and whether the database calls for it now
 */
export async function rotateSecrets(
  file: string,
  pool: pg.Pool,
  { prepareOnly, act }: { prepareOnly: boolean; act: Act },
): Promise<{ generation: number; active: boolean }> {
  const active = (await readActive(file, pool)).length;
  let generations = readFile(file);
  // One that was prepared, or that an interrupted rotation left, is used before another is made.
  if (generations.length === active) {
    const { previous = [], ...current } = parse(file);
    replaceFile(file, { ...newKeys(), previous: [...previous, current] });
    generations = readFile(file);
  }
  const generation = active + 1;
  if (prepareOnly) return { generation, active: false };
  const isFirst = await transaction(pool, async (db) => {
    const { rowCount } = await db.query(
      "insert into secret_generations (id, key_check) values ($1, $2) on conflict do nothing",
      [generation, checkOf(generations[active] as SecretGeneration)],
    );
    if (rowCount === 1) await writeAudit(db, act, { action: "secrets rotate", details: { generation } });
    return rowCount === 1;
  });
  if (!isFirst) {
    throw new OperatorError(
      "The secrets are being rotated elsewhere. Look at `secrets status`.",
      exitCodes.conflict,
    );
  }
  return { generation, active: true };
}

/** How many generations the file holds beyond what the database calls for. */
export async function countPrepared(file: string, db: Queryable): Promise<number> {
  return readFile(file).length - (await readActive(file, db)).length;
}

/** The generations that this database calls for. */
async function readActive(file: string, db: Queryable): Promise<readonly SecretGeneration[]> {
  const known = await readChecks(db);
  if (known.length === 0) makeFile(file);
  const generations = readFile(file);
  if (known.length === 0) {
    // Whoever comes first decides; of several processes, one made the file and all read it.
    for (const [index, generation] of generations.entries()) {
      const values = [index + 1, checkOf(generation)];
      await db.query(
        "insert into secret_generations (id, key_check) values ($1, $2) on conflict do nothing",
        values,
      );
    }
  }
  const checks = known.length === 0 ? await readChecks(db) : known;
  if (checks.some((check, index) => !generations[index] || !checkOf(generations[index]).equals(check))) {
    throw new OperatorError(
      `The secrets file ${file} does not belong to this database, or lacks its newest generation. Restore the one ` +
        "that it was made with, or name that one with GIFTCARD_SECRETS_FILE.",
      exitCodes.secretsMismatch,
    );
  }
  return generations.slice(0, checks.length);
}

async function readChecks(db: Queryable): Promise<Buffer[]> {
  const { rows } = await db.query<{ key_check: Buffer }>(
    "select key_check from secret_generations order by id",
  );
  return rows.map((row) => row.key_check);
}

const newKeys = () =>
  Object.fromEntries(
    PURPOSES.map((name) => [name, randomBytes(KEY_BYTES).toString("base64url")]),
  ) as unknown as Spelled;

/** Writes a file beside the one that is meant, and hands it over whole. */
function writeWhole(file: string, secrets: SecretsFile, put: (draft: string) => void): void {
  const draft = `${file}.${process.pid}`;
  try {
    fs.writeFileSync(draft, `${JSON.stringify(secrets, null, 2)}\n`, {
      mode: 0o600,
      flag: "wx",
      flush: true,
    });
    put(draft);
  } finally {
    fs.rmSync(draft, { force: true });
  }
}

function makeFile(file: string): void {
  try {
    // Never over an older file.
    writeWhole(file, newKeys(), (draft) => fs.linkSync(draft, file));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    throw new OperatorError(
      `The secrets file ${file} cannot be made (${code}). Make its folder, and let this account write there.`,
      exitCodes.secretsMismatch,
    );
  }
}

function replaceFile(file: string, secrets: SecretsFile): void {
  try {
    const { uid, gid } = fs.statSync(file);
    writeWhole(file, secrets, (draft) => {
      // Rotated by root, it stays readable for the account that serves.
      if (process.getuid?.() === 0) fs.chownSync(draft, uid, gid);
      fs.renameSync(draft, file);
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new OperatorError(`The secrets file ${file} cannot be changed (${code}). Nothing was rotated.`);
  }
}

function parse(file: string): SecretsFile {
  let text: string;
  try {
    text = fs.readFileSync(file, "utf8");
    if (process.platform !== "win32" && (fs.statSync(file).mode & 0o077) !== 0) {
      throw new OperatorError(
        `Others can read the secrets file. Run: chmod 600 ${file}`,
        exitCodes.secretsMismatch,
      );
    }
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new OperatorError(
      `The secrets file ${path.resolve(file)} of this database cannot be read (${code}). Restore it: without it ` +
        "no card can be found. Name it with GIFTCARD_SECRETS_FILE.",
      exitCodes.secretsMismatch,
    );
  }
  try {
    return JSON.parse(text);
  } catch {
    throw damaged(file);
  }
}

const damaged = (file: string) =>
  new OperatorError(`The secrets file ${file} is damaged. Restore it.`, exitCodes.secretsMismatch);

/** All generations in the file, oldest first. */
function readFile(file: string): SecretGeneration[] {
  const { previous = [], ...newest } = parse(file);
  try {
    return [...previous, newest].map((spelled) => {
      const keys = PURPOSES.map((name) => [name, createSecretKey(spelled[name], "base64url")] as const);
      if (keys.some(([, key]) => key.symmetricKeySize !== KEY_BYTES)) throw damaged(file);
      return Object.fromEntries(keys) as unknown as SecretGeneration;
    });
  } catch {
    throw damaged(file);
  }
}
