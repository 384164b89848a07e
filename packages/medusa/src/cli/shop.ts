import path from "node:path";
import { createSealer, createSqlJournal, readSealingKeys, type Sealer, type Sql } from "@giftcard-pay/checkout/plugin";
import type { Journal } from "@giftcard-pay/checkout/store";
import { loadEnv, ModulesSdkUtils } from "@medusajs/framework/utils";
import { Command } from "commander";
import { type ConnectionPool, createStatementRunner } from "../context/statement-runner.js";
import { readServices } from "../journal-tables/charges.js";
import { checkVersion, TablesError } from "../journal-tables/version.js";
import { PACKAGE } from "../names.js";
import type { GiftcardOptions } from "../options.js";
import type { ReportContext } from "../reports/journal-reports.js";
import { CommandFailure } from "./failure.js";
import { readConfig } from "./shop-config.js";

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

/** Creates a command with the options of every command. */
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
  const directory = path.resolve(options.directory);
  loadEnv(process.env.NODE_ENV ?? "development", directory);
  const config = readConfig(directory);
  const clientUrl = options.databaseUrl ?? process.env.DATABASE_URL ?? config?.projectConfig?.databaseUrl;
  if (!clientUrl) {
    const message = "No database: give --database-url or DATABASE_URL, or run it in the shop's folder.";
    throw new CommandFailure(message, 2);
  }
  const driverOptions = config?.projectConfig?.databaseDriverOptions;
  const pool = ModulesSdkUtils.createPgConnection({
    clientUrl,
    pool: { min: 0, max: 2 },
    ...(driverOptions && { driverOptions }),
  } as never);
  const sql = createStatementRunner(pool as unknown as ConnectionPool);
  try {
    await checkTables(sql);
    const configured = config?.plugins?.find(({ resolve }) => resolve === PACKAGE)?.options ?? {};
    return await job({
      sql,
      journal: createSqlJournal(sql),
      sealer: () => openSealer(configured),
      configured,
    });
  } finally {
    await pool.destroy();
  }
}

async function checkTables(sql: Sql): Promise<void> {
  await checkVersion(sql).catch((error: { code?: string }) => {
    if (error instanceof TablesError) {
      const isGone = error.code === "not_migrated" ? " If the plugin was uninstalled, nothing is left to check." : "";
      throw new CommandFailure(`${error.message}${isGone}`);
    }
    // The driver's message may contain the address with its password.
    throw new CommandFailure(`The database can't be reached (${error.code ?? "no answer"}).`);
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
    .option("--environment <name>", "live or sandbox (or what medusa-config or the journal says)")
    .option("--company <id>", "the service's number for the company (or what medusa-config or the journal says)");
}

/**
 * Determines which charges a report covers: those that the options, the configuration or environment variables name,
 * or else those of the only service in the journal.
 * @throws {CommandFailure} if that is ambiguous
 */
export async function openReports(shop: ShopContext, options: ReportOptions): Promise<ReportContext> {
  const { sql, journal, configured } = shop;
  const { GIFTCARD_ENVIRONMENT, GIFTCARD_COMPANY_ID } = process.env;
  let environment = options.environment ?? configured.environment ?? GIFTCARD_ENVIRONMENT;
  let company = options.company ?? configured.companyId ?? GIFTCARD_COMPANY_ID;
  if (environment === undefined || company === undefined) {
    const known = await readServices(sql);
    if (known.length !== 1) throw new CommandFailure("Give --environment and --company.", 2);
    environment ??= known[0]?.environment;
    company ??= known[0]?.companyId;
  }
  if (environment !== "live" && environment !== "sandbox")
    throw new CommandFailure("--environment is live or sandbox.", 2);
  if (!/^[1-9]\d*$/.test(String(company))) throw new CommandFailure("--company is a number.", 2);
  return { sql, journal, environment, companyId: Number(company) };
}
