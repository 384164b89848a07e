import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type pg from "pg";
import { checkConnection, openPool } from "../database/database.js";
import { checkMigrated, migrate } from "../database/migrations.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { openEmbeddedPostgres } from "../postgres/embedded.js";
import type { OwnerRole } from "../postgres/owner-lock.js";
import type { Keyring } from "../secrets/keyring.js";
import type { Act } from "../store/audit.js";
import { openKeyring } from "../store/secret-generations.js";
import { type Output, outputOf } from "./output.js";
import { closeStdin, readLine } from "./stdin.js";

export interface CommonOptions {
  readonly databaseUrl?: string;
  readonly dataDir: string;
  readonly dbUser?: string;
  readonly json: boolean;
  readonly as?: string;
  readonly reason?: string;
}

export interface Context {
  readonly pool: pg.Pool;
  readonly out: Output;
  /** The person who runs the command, and the reason, for the audit log. */
  readonly act: Act;
  /** The database's address. It holds the password: never print it. */
  readonly databaseUrl: string;
  /** Rejects if the built-in database that this process started ends unexpectedly. */
  readonly databaseLost: Promise<never>;
  /** @throws {OperatorError} if it is not set and has no default */
  secretsFile(): string;
  /** Opens the secrets, which only commands on cards need. */
  keyring(): Promise<Keyring>;
}

export interface ContextOptions {
  readonly role?: OwnerRole;
  /** Whether the tables must be up to date, or may be in any state. */
  readonly tables?: "require" | "any";
  /** Called if an idle connection breaks. Default: prints a warning. */
  readonly onBroken?: (error: Error) => void;
}

/** Opens the database for a piece of work, and closes it afterwards. */
export async function withContext(
  options: CommonOptions,
  work: (context: Context) => Promise<void>,
  { role = "command", tables = "require", onBroken }: ContextOptions = {},
): Promise<void> {
  const out = outputOf(options.json);
  const mustExist = role === "command" && tables === "require";
  const { url, ownsDatabase, lost, close } = await openDatabase(options, { role, mustExist }, out);
  try {
    let ending = false;
    const pool = openPool(url, (error) => {
      if (ending) return;
      if (onBroken) onBroken(error);
      else out.warn(`a database connection broke (${(error as { code?: string }).code})`);
    });
    try {
      await checkConnection(pool);
      if (tables === "require" && ownsDatabase) await migrate(pool);
      else if (tables === "require") await checkMigrated(pool);
      await work({
        pool,
        out,
        act: actOf(options),
        databaseUrl: url,
        databaseLost: lost,
        secretsFile: () => secretsFile(options),
        keyring: () => keyringOf(secretsFile(options), pool, out),
      });
    } finally {
      ending = true;
      await pool.end();
    }
  } finally {
    await close();
    closeStdin();
  }
}

async function openDatabase(
  options: CommonOptions,
  how: { readonly role: OwnerRole; readonly mustExist: boolean },
  out: Output,
) {
  if (options.databaseUrl !== undefined) {
    const url = options.databaseUrl === "-" ? await readLine("the database's address") : options.databaseUrl;
    return { url, ownsDatabase: false, lost: new Promise<never>(() => {}), close: async () => {} };
  }
  const { dataDir, dbUser } = options;
  const { url, owned, lost, close } = await openEmbeddedPostgres({ dataDir, ...how, dbUser, warn: out.warn });
  return { url, ownsDatabase: owned, lost, close };
}

async function keyringOf(file: string, pool: pg.Pool, out: Output): Promise<Keyring> {
  const existed = fs.existsSync(file);
  const keys = await openKeyring(file, pool);
  if (!existed)
    out.warn(
      `new secrets were created in ${file}. Back them up, but not beside the database: without them no card can be found`,
    );
  return keys;
}

/** Returns GIFTCARD_SECRETS_FILE, or for the built-in database the file in its data directory. */
function secretsFile(options: CommonOptions): string {
  const named = process.env.GIFTCARD_SECRETS_FILE;
  if (named) return path.resolve(named);
  if (options.databaseUrl !== undefined) {
    throw new OperatorError(
      "With --database-url, set GIFTCARD_SECRETS_FILE. The first start creates the file.",
      exitCodes.usage,
    );
  }
  return path.resolve(options.dataDir, "secrets.json");
}

function actOf({ as, reason }: CommonOptions): Act {
  const osUser = nameOfUser();
  return { operator: as ?? osUser, osUser, reason };
}

/** Returns the account's name. In a container, the account may have only a number. */
function nameOfUser(): string {
  try {
    return os.userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}
