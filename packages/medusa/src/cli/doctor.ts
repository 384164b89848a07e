import type { Sql } from "@giftcard-pay/checkout/plugin";
import { GiftcardError } from "@giftcard-pay/client";
import type { Command } from "commander";
import { checkMedusa } from "../config.js";
import { checkVersion, TablesError } from "../journal-tables/version.js";
import { MANUAL_PROVIDER_ID, PACKAGE, PROVIDER_ID } from "../names.js";
import { type GiftcardOptions, readSetup } from "../options.js";
import { readRows } from "../rows.js";
import { CommandFailure } from "./failure.js";
import { readConfig, type ShopConfig, type ShopOptions, shopCommand, withDatabase } from "./shop.js";

const HELP = `
Reads the shop's configuration and database, and calls the card issuer once. Changes nothing. Medusa may be down.

  ok    it works
  look  it may need something that this command can't see
  fix   gift cards don't work yet: the line says what to do

Exits with 1 if something is to fix.`;

const CALL_TIMEOUT_MS = 5_000;

type Finding = readonly [state: "ok" | "look" | "fix", about: string, text: string];

export function doctorCommand(): Command {
  return shopCommand("doctor", "Check a shop before its first start, and say what to do")
    .addHelpText("after", HELP)
    .action(async (options: ShopOptions) => {
      const findings: object[] = [];
      let isReady = true;
      for await (const [state, about, text] of examine(options)) {
        findings.push({ about, state, text });
        isReady &&= state !== "fix";
        if (!options.json) process.stdout.write(`${state.padEnd(5)} ${about}: ${text}\n`);
      }
      if (options.json) process.stdout.write(`${JSON.stringify({ isReady, findings })}\n`);
      if (!isReady) process.exitCode = 1;
    });
}

/** Examines the shop, beginning with what the later checks need. No text contains a secret. */
async function* examine(options: ShopOptions): AsyncGenerator<Finding> {
  try {
    checkMedusa();
  } catch (error) {
    return yield ["fix", "medusa", (error as Error).message];
  }
  const config = readConfig(options.directory);
  const plugin = config?.plugins?.find(({ resolve }) => resolve === PACKAGE);
  if (!config || !plugin) {
    const what = config ? "it has no gift cards" : `${options.directory} has no medusa-config.ts or .js`;
    const how = `Export withGiftcard(config, { … }) of ${PACKAGE}/config, in the folder of your Medusa.`;
    return yield ["fix", "configuration", `${what}. ${how}`];
  }
  const { addressHeader } = plugin.options ?? {};
  yield* examineOptions(plugin.options ?? {});
  yield* await withDatabase(options, config, examineDatabase).catch((error: unknown): Finding[] => {
    if (!(error instanceof CommandFailure || error instanceof TablesError)) throw error;
    return [["fix", "database", error.message]];
  });
  yield examineLock(config);
  yield addressHeader
    ? ["ok", "proxy", `it writes the shopper's address into ${addressHeader}`]
    : [
        "look",
        "proxy",
        "behind one, or with a storefront's server, set addressHeader to the header with the shopper's address",
      ];
}

/** Examines the options, and calls the card issuer with them. */
async function* examineOptions(options: Partial<GiftcardOptions>): AsyncGenerator<Finding> {
  let setup: ReturnType<typeof readSetup>;
  try {
    setup = readSetup(options);
  } catch (error) {
    return yield ["fix", "options", (error as Error).message];
  }
  const { client, settings } = setup;
  yield ["ok", "options", `company ${client.companyId}, ${settings.environment}`];
  try {
    await client.checkAccess({ timeoutMs: CALL_TIMEOUT_MS });
    yield ["ok", "card issuer", `${client.baseUrl} answers, and accepts the key`];
  } catch (error) {
    if (!(error instanceof GiftcardError)) throw error;
    const how = "Compare baseUrl, apiKey and companyId with what the card issuer gave you.";
    yield ["fix", "card issuer", `${error.message} ${how}`];
  }
}

/** Examines the tables, the regions in euro, and the other payment methods' webhooks. */
async function examineDatabase(sql: Sql): Promise<Finding[]> {
  await checkVersion(sql);
  const regions = await readRows<{ name: string; takes: boolean }>(
    sql,
    `select name, exists (select from region_payment_provider p where p.region_id = r.id and p.payment_provider_id = $1
       and p.deleted_at is null) as takes
     from region r where currency_code = 'eur' and deleted_at is null order by name`,
    [PROVIDER_ID],
  );
  const providers = await readRows<{ id: string }>(
    sql,
    "select id from payment_provider where is_enabled and id not in ($1, $2) order by id",
    [PROVIDER_ID, MANUAL_PROVIDER_ID],
  );
  const namesOf = (isTaking: boolean) => regions.flatMap(({ name, takes }) => (takes === isTaking ? [name] : []));
  const [taking, others] = [namesOf(true).join(", "), namesOf(false).join(", ")];
  const how = `start Medusa, then add Giftcard (${PROVIDER_ID}) in its admin under Settings, Regions, Edit`;
  const findings: Finding[] = [["ok", "database", "it can be reached, and has the gift card tables"]];
  if (taking) findings.push(["ok", "regions", `${taking} take gift cards`]);
  if (others || !taking)
    findings.push([taking ? "look" : "fix", "regions", `${others || "create one in euro"}: ${how}`]);
  for (const { id } of providers) {
    const route = `/hooks/payment/${id.replace(/^pp_/, "")}`;
    findings.push(["look", "webhook", `${id}: if the method sends webhooks, let it call ${route} of your Medusa`]);
  }
  return findings;
}

function examineLock({ modules = {} }: ShopConfig): Finding {
  const { options } = (modules.locking ?? {}) as { options?: { providers?: { resolve?: unknown }[] } };
  const [first] = options?.providers ?? [];
  return first
    ? ["ok", "lock", String(first.resolve).replace("@medusajs/medusa/", "")]
    : ["look", "lock", "in memory, for one Medusa process. For several, configure locking-postgres or locking-redis"];
}
