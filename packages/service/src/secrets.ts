import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import type { Queryable } from "./database.js";
import { Keyring } from "./keyring.js";
import { exitCodes, OperatorError } from "./operator-error.js";

const PURPOSES = ["cardNumber", "pin", "cancelToken", "idempotency"] as const;
const KEY_BYTES = 32;

/**
 * Reads the service's secrets and checks that they are those of this database. The file is made where neither
 * it nor a database that needs one exists yet.
 *
 * @throws {OperatorError} when the file is missing, readable by others, damaged, or another database's
 */
export async function openKeyring(file: string, db: Queryable): Promise<Keyring> {
  const { rows } = await db.query("select key_check from settings");
  if (rows.length === 0) makeFile(file);
  const keyring = readFile(file);
  await db.query("insert into settings (key_check) values ($1) on conflict do nothing", [keyring.check()]);
  const kept = await db.query<{ key_check: Buffer }>("select key_check from settings");
  if (!kept.rows[0]?.key_check.equals(keyring.check())) {
    throw new OperatorError(
      `The secrets file ${file} does not belong to this database. Restore the one that it was made with, ` +
        "or name that one with GIFTCARD_SECRETS_FILE.",
      exitCodes.secretsMismatch,
    );
  }
  return keyring;
}

function makeFile(file: string): void {
  const keys = Object.fromEntries(
    PURPOSES.map((name) => [name, randomBytes(KEY_BYTES).toString("base64url")]),
  );
  const draft = `${file}.${process.pid}`;
  try {
    fs.writeFileSync(draft, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600, flag: "wx", flush: true });
    // Whole or not there at all, and never over an older file.
    fs.linkSync(draft, file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EEXIST") throw new OperatorError(`The secrets file ${file} cannot be made (${code}).`);
  } finally {
    fs.rmSync(draft, { force: true });
  }
}

function readFile(file: string): Keyring {
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
    const parsed = JSON.parse(text);
    const keys = PURPOSES.map((name) => [name, Buffer.from(parsed[name], "base64url")] as const);
    if (keys.some(([, key]) => key.length !== KEY_BYTES)) throw new Error();
    return new Keyring(Object.fromEntries(keys) as Record<(typeof PURPOSES)[number], Buffer>);
  } catch {
    throw new OperatorError(`The secrets file ${file} is damaged. Restore it.`, exitCodes.secretsMismatch);
  }
}
