import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { createSealer, createSqlJournal, readSealingKeys, type Sealer, type Sql } from "@giftcard-pay/checkout/plugin";
import type { Journal } from "@giftcard-pay/checkout/store";
import { loadEnv, ModulesSdkUtils } from "@medusajs/framework/utils";
import { Command } from "commander";
import { type ConnectionPool, createStatementRunner } from "../context/statement-runner.js";
import { checkVersion, TablesError } from "../journal-tables/version.js";
import { PACKAGE } from "../names.js";
import type { GiftcardOptions } from "../options.js";
import type { ReportContext } from "../reports/journal-reports.js";
import { CommandFailure } from "./failure.js";

export interface ShopOptions {
  databaseUrl?: string;
  directory: string;
  json?: boolean;
}

export interface ShopContext {
  readonly sql: Sql;
  readonly journal: Journal;
  /** Opens and seals like the shop does. @throws {CommandFailure} if no sealing keys are set */
  sealer(): Sealer;
  /** The plugin's options as they are configured, not checked. */
  readonly configured: Partial<GiftcardOptions>;
}

export function shopCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option("--database-url <url>", "Medusa's database (or DATABASE_URL, or what medusa-config says)")
    .option("--directory <path>", "the shop's folder, with its medusa-config", ".")
    .option("--json", "one JSON value on standard output");
}

/**
 * Opens the shop's database while `job` runs. Medusa may be running, or be down.
 * @throws {CommandFailure} if the database isn't configured, can't be reached, or has no gift card tables
 */
export async function withShop<T>(options: ShopOptions, job: (shop: ShopContext) => Promise<T>): Promise<T> {
  const config = readConfig(options.directory);
  return withDatabase(options, config, async (sql) => {
    await checkTables(sql);
    const configured = config?.plugins?.find(({ resolve }) => resolve === PACKAGE)?.options ?? {};
    return job({ sql, journal: createSqlJournal(sql), sealer: () => openSealer(configured), configured });
  });
}

/** Connects to the shop's database while `job` runs. @throws {CommandFailure} if it isn't configured, or can't be reached */
export async function withDatabase<T>(
  { databaseUrl }: ShopOptions,
  config: ShopConfig | undefined,
  job: (sql: Sql) => Promise<T>,
): Promise<T> {
  const clientUrl = databaseUrl || process.env.DATABASE_URL || config?.projectConfig?.databaseUrl;
  if (!clientUrl) {
    const message = "No database: give --database-url or DATABASE_URL, or run it in the shop's folder.";
    throw new CommandFailure(message, 2);
  }
  const driverOptions = config?.projectConfig?.databaseDriverOptions;
  const pool = ModulesSdkUtils.createPgConnection({
    clientUrl,
    pool: { min: 0, max: 2, propagateCreateError: true }, // fails at once if the database is down
    ...(driverOptions && { driverOptions }),
  } as never);
  const sql = createStatementRunner(pool as unknown as ConnectionPool);
  try {
    await sql("select 1", []).catch((error: { code?: string }) => {
      // The driver's message may contain the address with its password.
      throw new CommandFailure(`The database can't be reached (${error.code ?? "no answer"}).`);
    });
    return await job(sql);
  } finally {
    await pool.destroy();
  }
}

async function checkTables(sql: Sql): Promise<void> {
  await checkVersion(sql).catch((error: unknown) => {
    if (!(error instanceof TablesError)) throw error;
    const isGone = error.code === "not_migrated" ? " If the plugin was uninstalled, nothing is left to check." : "";
    throw new CommandFailure(`${error.message}${isGone}`);
  });
}

function openSealer({ sealingKeys = [] }: Partial<GiftcardOptions>): Sealer {
  const text = process.env.GIFTCARD_SEALING_KEYS;
  const keys = text ? readSealingKeys(text) : sealingKeys;
  try {
    return createSealer({ keys });
  } catch (error) {
    const how =
      'Set GIFTCARD_SEALING_KEYS to the keys of the configuration, with their ids: "id:key,id:key", the newest first.';
    throw new CommandFailure(keys.length > 0 && error instanceof Error ? `${error.message} ${how}` : how, 2);
  }
}

export interface ReportOptions extends ShopOptions {
  environment?: string;
  company?: string;
}

export function reportCommand(name: string, description: string): Command {
  return shopCommand(name, description)
    .option("--environment <name>", "live or sandbox (or what medusa-config says)")
    .option("--company <id>", "the service's number for the company (or what medusa-config says)");
}

/** Determines which charges a report covers, by the options or the configuration. @throws {CommandFailure} if neither says */
export async function openReports(shop: ShopContext, options: ReportOptions): Promise<ReportContext> {
  const { sql, journal, configured } = shop;
  const environment = options.environment ?? configured.environment;
  const company = options.company ?? configured.companyId;
  if ((environment !== "live" && environment !== "sandbox") || !/^[1-9]\d*$/.test(String(company))) {
    const how = "Give --environment (live or sandbox) and --company (a number), or run it in the shop's folder.";
    throw new CommandFailure(how, 2);
  }
  return { sql, journal, environment, companyId: Number(company) };
}

/** The parts of Medusa's configuration that the commands use. */
export interface ShopConfig {
  modules?: Record<string, unknown>;
  projectConfig?: { databaseUrl?: string; databaseDriverOptions?: object };
  plugins?: { resolve?: string; options?: Partial<GiftcardOptions> }[];
}

const BUILD = path.join(".medusa", "server", "medusa-config.js");

/** In Medusa's own order of preference. A build can be older than its source, with sealing keys of that time. */
const FILES = ["medusa-config.js", "medusa-config.ts", BUILD];

const NO_TS_NODE =
  "ts-node isn't installed, with which Medusa reads it too. Install the shop's devDependencies, or run the command in " +
  ".medusa/server, which `medusa build` creates.";

/**
 * Reads the shop's environment and configuration, and prints on standard error which file it is.
 * @param folder the shop's
 * @returns undefined if the folder has no configuration
 * @throws {CommandFailure} if the file can't be read
 */
export function readConfig(folder: string): ShopConfig | undefined {
  const directory = path.resolve(folder);
  loadEnv(process.env.NODE_ENV ?? "development", directory);
  const found = FILES.filter((name) => existsSync(path.join(directory, name)));
  const [name] = found;
  if (name === undefined) return undefined;
  const isBuildIgnored = name !== BUILD && found.includes(BUILD);
  process.stderr.write(
    `configuration: ${path.join(directory, name)}${isBuildIgnored ? ", not the build in .medusa/server" : ""}\n`,
  );
  if (name.endsWith(".ts")) registerTsNode(directory);
  try {
    const read = require(path.join(directory, name)) as ShopConfig & { default?: ShopConfig };
    return read.default ?? read;
  } catch (error) {
    // The message may contain a secret of the configuration.
    const code = (error as { code?: string }).code ?? (error as Error).name;
    throw new CommandFailure(`${name} can't be read (${code}).`, 2);
  }
}

/** Makes `require` compile TypeScript as Medusa does: by the shop's own ts-node. */
function registerTsNode(directory: string): void {
  const requireFromShop = createRequire(path.join(directory, "package.json"));
  let tsNode: { register(options: { cwd: string; transpileOnly: boolean }): void };
  try {
    tsNode = requireFromShop("ts-node");
  } catch {
    throw new CommandFailure(`medusa-config.ts can't be read: ${NO_TS_NODE}`, 2);
  }
  tsNode.register({ cwd: directory, transpileOnly: true });
}
