import { createSecretKey, randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { exitCodes, OperatorError } from "../operator-error.js";
import type { SecretGeneration } from "./keyring.js";

const PURPOSES = ["cardNumber", "pin", "cancelToken", "idempotency"] as const;
const KEY_BYTES = 32;

/** One generation of keys in the file: base64url by purpose. */
type EncodedKeys = Record<(typeof PURPOSES)[number], string>;

/** The file's content: the newest generation, and the older ones, oldest first. */
interface SecretsFile extends EncodedKeys {
  readonly previous?: readonly EncodedKeys[];
}

const newKeys = () =>
  Object.fromEntries(
    PURPOSES.map((name) => [name, randomBytes(KEY_BYTES).toString("base64url")]),
  ) as unknown as EncodedKeys;

/**
 * Creates the secrets file with a first generation. Does nothing if the file exists.
 *
 * @throws {OperatorError} if the file cannot be written
 */
export function createSecretsFile(file: string): void {
  try {
    // Unlike a rename, a link never replaces a file.
    writeAtomically(file, newKeys(), (draft) => fs.linkSync(draft, file));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    throw new OperatorError(
      `The secrets file ${file} cannot be created (${code}). Create its folder, and let this account write to it.`,
      exitCodes.secretsMismatch,
    );
  }
}

/**
 * Adds a generation to the secrets file, as its newest.
 *
 * @throws {OperatorError} if the file cannot be read or replaced
 */
export function addGeneration(file: string): void {
  const { previous = [], ...current } = parse(file);
  try {
    const { uid, gid } = fs.statSync(file);
    writeAtomically(file, { ...newKeys(), previous: [...previous, current] }, (draft) => {
      // The serving account must still be able to read the file after root rotated it.
      if (process.getuid?.() === 0) fs.chownSync(draft, uid, gid);
      fs.renameSync(draft, file);
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new OperatorError(`The secrets file ${file} cannot be changed (${code}). Nothing was rotated.`);
  }
}

/**
 * Reads all generations of the secrets file, oldest first.
 *
 * @throws {OperatorError} if the file is missing, readable by others, or damaged
 */
export function readSecretsFile(file: string): SecretGeneration[] {
  const { previous = [], ...newest } = parse(file);
  try {
    return [...previous, newest].map((encoded) => {
      const keys = PURPOSES.map((name) => [name, createSecretKey(encoded[name], "base64url")] as const);
      if (keys.some(([, key]) => key.symmetricKeySize !== KEY_BYTES)) throw damaged(file);
      return Object.fromEntries(keys) as unknown as SecretGeneration;
    });
  } catch {
    throw damaged(file);
  }
}

/** Writes a draft beside the file, and lets `publish` put it in place. */
function writeAtomically(file: string, secrets: SecretsFile, publish: (draft: string) => void): void {
  const draft = `${file}.${process.pid}`;
  try {
    fs.writeFileSync(draft, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600, flag: "wx", flush: true });
    publish(draft);
  } finally {
    fs.rmSync(draft, { force: true });
  }
}

function parse(file: string): SecretsFile {
  let text: string;
  try {
    text = fs.readFileSync(file, "utf8");
    if (process.platform !== "win32" && (fs.statSync(file).mode & 0o077) !== 0) {
      throw new OperatorError(`Others can read the secrets file. Run: chmod 600 ${file}`, exitCodes.secretsMismatch);
    }
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new OperatorError(
      `The secrets file ${path.resolve(file)} of this database cannot be read (${code}). Restore it: without it ` +
        "no card can be found. If it is elsewhere, set GIFTCARD_SECRETS_FILE.",
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
