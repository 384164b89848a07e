import type { Command } from "commander";
import type { MedusaBooks } from "../reports/books.js";
import { CommandFailure } from "./failure.js";
import { type ShopDesk, type ShopOptions, shopCommand } from "./shop.js";

/** What every command about the shop's books takes. */
export interface BookOptions extends ShopOptions {
  environment?: string;
  company?: string;
}

/** Makes a command about the books of one service. */
export function bookCommand(name: string, description: string): Command {
  return shopCommand(name, description)
    .option("--environment <name>", "live or sandbox (or what medusa-config or the journal says)")
    .option(
      "--company <id>",
      "the service's number for the company (or what medusa-config or the journal says)",
    );
}

/**
 * The books that the command is about: what the options, the configuration or the environment's variables name, or else
 * the one service that the journal knows.
 *
 * @throws {CommandFailure} where that leaves a choice
 */
export async function openBooks(desk: ShopDesk, options: BookOptions): Promise<MedusaBooks> {
  const { run, journal, configured } = desk;
  const { GIFTCARD_ENVIRONMENT, GIFTCARD_COMPANY_ID } = process.env;
  let environment = options.environment ?? configured.environment ?? GIFTCARD_ENVIRONMENT;
  let company = options.company ?? configured.companyId ?? GIFTCARD_COMPANY_ID;
  if (environment === undefined || company === undefined) {
    const known = await run("select distinct environment, company_id from giftcard_attempt limit 2", []);
    if (known.length !== 1) throw new CommandFailure("Give --environment and --company.", 2);
    environment ??= String(known[0]?.environment);
    company ??= String(known[0]?.company_id);
  }
  if (environment !== "live" && environment !== "sandbox")
    throw new CommandFailure("--environment is live or sandbox.", 2);
  if (!/^[1-9]\d*$/.test(String(company))) throw new CommandFailure("--company is a number.", 2);
  return { run, journal, environment, companyId: Number(company) };
}
