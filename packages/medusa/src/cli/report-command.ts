import type { Command } from "commander";
import { readServices } from "../journal-tables/charges.js";
import type { ReportContext } from "../reports/journal-reports.js";
import { CommandFailure } from "./failure.js";
import { type ShopContext, type ShopOptions, shopCommand } from "./shop.js";

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
