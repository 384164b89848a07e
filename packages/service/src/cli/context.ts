import path from "node:path";
import { Command, Option } from "commander";
import type pg from "pg";
import { checkConnection, openPool } from "../database.js";
import type { Keyring } from "../keyring.js";
import { checkMigrated, migrate } from "../migrations.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { openEmbeddedPostgres } from "../postgres/embedded.js";
import type { OwnerRole } from "../postgres/owner-lock.js";
import { openKeyring } from "../secrets.js";
import { type Output, outputOf } from "./output.js";
import { closeStdin, readLine } from "./stdin.js";

/** What every command takes. */
export interface CommonOptions {
  readonly databaseUrl?: string;
  readonly dataDir: string;
  readonly dbUser?: string;
  readonly json: boolean;
}

/** What a command works with. */
export interface Context {
  readonly pool: pg.Pool;
  readonly out: Output;
  /** Holds the password: never print it. */
  readonly databaseUrl: string;
  /** Fails when the built-in database that this process brought up ends by itself. */
  readonly databaseLost: Promise<never>;
  /** @throws {OperatorError} when nobody named it and it has no default */
  secretsFile(): string;
  /** Opens the secrets; only commands that touch cards need them. */
  keyring(): Promise<Keyring>;
}

/** Makes a command with the options that all have. */
export function command(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .addOption(
      new Option("--database-url <url>", "work on this PostgreSQL; `-` reads it from standard input").env(
        "GIFTCARD_DATABASE_URL",
      ),
    )
    .addOption(
      new Option("--data-dir <folder>", "the built-in database and the secrets are here")
        .env("GIFTCARD_DATA_DIR")
        .default("./giftcard-data"),
    )
    .option("--db-user <account>", "as root: the account that runs the built-in database")
    .option("--json", "print the answer as one JSON value", false)
    .helpOption("-h, --help", "show this help");
}

/** How far the tables must be: made up to date, up to date already, or whatever they are. */
export type Tables = "migrate" | "require" | "any";

interface ContextOptions {
  readonly role?: OwnerRole;
  readonly tables?: Tables;
  /** Hears of idle connections that broke; else a warning says so. */
  readonly onBroken?: (error: Error) => void;
}

/** Opens the database for a piece of work, and closes it whatever happens. */
export async function withContext(
  options: CommonOptions,
  work: (context: Context) => Promise<void>,
  { role = "command", tables = "require", onBroken }: ContextOptions = {},
): Promise<void> {
  const out = outputOf(options.json);
  const { url, ownsTables, lost, close } = await openDatabase(options, role, out);
  try {
    let ending = false;
    const pool = openPool(url, (error) => {
      if (ending) return;
      if (onBroken) onBroken(error);
      else out.warn(`a database connection broke (${(error as { code?: string }).code})`);
    });
    try {
      await checkConnection(pool);
      if (tables === "require" && ownsTables) await migrate(pool);
      else if (tables === "require") await checkMigrated(pool);
      await work({
        pool,
        out,
        databaseUrl: url,
        databaseLost: lost,
        secretsFile: () => secretsFile(options),
        keyring: () => openKeyring(secretsFile(options), pool),
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

async function openDatabase(options: CommonOptions, role: OwnerRole, out: Output) {
  if (options.databaseUrl !== undefined) {
    const url = options.databaseUrl === "-" ? await readLine("the database's address") : options.databaseUrl;
    return { url, ownsTables: false, lost: new Promise<never>(() => {}), close: async () => {} };
  }
  const { dataDir, dbUser } = options;
  const { url, owned, lost, close } = await openEmbeddedPostgres({ dataDir, role, dbUser, warn: out.warn });
  return { url, ownsTables: owned, lost, close };
}

/** GIFTCARD_SECRETS_FILE, or the file in the data directory where the built-in database is. */
function secretsFile(options: CommonOptions): string {
  const named = process.env.GIFTCARD_SECRETS_FILE;
  if (named) return path.resolve(named);
  if (options.databaseUrl !== undefined) {
    throw new OperatorError(
      "With --database-url, name the secrets file with GIFTCARD_SECRETS_FILE; it is made at the first start.",
      exitCodes.usage,
    );
  }
  return path.resolve(options.dataDir, "secrets.json");
}
