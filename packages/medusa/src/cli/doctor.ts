import type { Sql } from "@giftcard-pay/checkout/plugin";
import { GiftcardError } from "@giftcard-pay/client";
import type { Command } from "commander";
import { checkMedusa } from "../config.js";
import { checkVersion, TablesError } from "../journal-tables/version.js";
import { PACKAGE, PROVIDER_ID } from "../names.js";
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

interface Finding {
  readonly about: string;
  readonly state: "ok" | "look" | "fix";
  readonly text: string;
}

export function doctorCommand(): Command {
  return shopCommand("doctor", "Check a shop before its first start, and say what to do")
    .addHelpText("after", HELP)
    .action(async (options: ShopOptions) => {
      const findings: Finding[] = [];
      for await (const finding of examine(options)) {
        findings.push(finding);
        const { state, about, text } = finding;
        if (!options.json) process.stdout.write(`${state.padEnd(5)} ${about}: ${text}\n`);
      }
      const isReady = findings.every(({ state }) => state !== "fix");
      if (options.json) process.stdout.write(`${JSON.stringify({ isReady, findings })}\n`);
      if (!isReady) process.exitCode = 1;
    });
}

/** Examines what the later checks need first. No text contains a secret. */
async function* examine(options: ShopOptions): AsyncGenerator<Finding> {
  yield* told("medusa", async () => checkMedusa(), "its release is supported");
  const config = readConfig(options.directory);
  const plugin = config?.plugins?.find(({ resolve }) => resolve === PACKAGE);
  if (!config || !plugin) {
    const what = config ? "it has no gift cards" : `${options.directory} has no medusa-config.ts or .js`;
    const text = `${what}. Export withGiftcard(config, { … }) of ${PACKAGE}/config, in the folder of your Medusa.`;
    return yield { about: "configuration", state: "fix", text };
  }
  yield* examineOptions(plugin.options ?? {});
  yield* await withDatabase(options, config, examineDatabase).catch((error: unknown): Finding[] => {
    if (!(error instanceof CommandFailure || error instanceof TablesError)) throw error;
    return [{ about: "database", state: "fix", text: error.message }];
  });
  yield examineLock(config);
  yield plugin.options?.addressHeader
    ? { about: "proxy", state: "ok", text: `it writes the shopper's address into ${plugin.options.addressHeader}` }
    : {
        about: "proxy",
        state: "look",
        text: "behind a proxy or a storefront's server, set addressHeader to the header with the shopper's address",
      };
}

/** Examines the options, and calls the card issuer with them. */
async function* examineOptions(options: Partial<GiftcardOptions>): AsyncGenerator<Finding> {
  let setup: ReturnType<typeof readSetup>;
  try {
    setup = readSetup(options);
  } catch (error) {
    return yield { about: "options", state: "fix", text: (error as Error).message };
  }
  const { client, settings } = setup;
  yield { about: "options", state: "ok", text: `company ${client.companyId}, ${settings.environment}` };
  const access = async () => {
    await client.checkAccess({ timeoutMs: CALL_TIMEOUT_MS }).catch((error: unknown) => {
      if (!(error instanceof GiftcardError)) throw error;
      throw new Error(`${error.message} Compare baseUrl, apiKey and companyId with what the card issuer gave you.`);
    });
  };
  yield* told("card issuer", access, `${client.baseUrl} answers, and accepts the key`);
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
  const without = regions.flatMap(({ name, takes }) => (takes ? [] : [name]));
  const how = `start Medusa, then add Giftcard (${PROVIDER_ID}) in its admin under Settings, Regions, Edit`;
  const text = regions.length === 0 ? `create one in euro; ${how}` : `${without.join(", ")}: ${how}`;
  const providers = await readRows<{ id: string }>(
    sql,
    "select id from payment_provider where is_enabled and id not in ($1, 'pp_system_default') order by id",
    [PROVIDER_ID],
  );
  const taking = regions.flatMap(({ name, takes }) => (takes ? [name] : []));
  return [
    { about: "database", state: "ok", text: "it can be reached, and has the gift card tables" },
    ...(taking.length > 0
      ? [{ about: "regions", state: "ok", text: `${taking.join(", ")} take gift cards` } as const]
      : []),
    ...(without.length > 0 || taking.length === 0
      ? [{ about: "regions", state: taking.length > 0 ? "look" : "fix", text } as const]
      : []),
    ...providers.map(
      ({ id }): Finding => ({
        about: "webhook",
        state: "look",
        text: `${id}: if the method sends webhooks, let it call /hooks/payment/${id.replace(/^pp_/, "")} of your Medusa`,
      }),
    ),
  ];
}

function examineLock({ modules = {} }: ShopConfig): Finding {
  const { options } = (modules.locking ?? {}) as { options?: { providers?: { resolve?: unknown }[] } };
  const [first] = options?.providers ?? [];
  if (first) return { about: "lock", state: "ok", text: String(first.resolve).replace("@medusajs/medusa/", "") };
  const text = "in memory, for one Medusa process. Before you run several, configure locking-postgres or locking-redis";
  return { about: "lock", state: "look", text };
}

/** Yields whether a check passes, with the message of its error if it doesn't. */
async function* told(about: string, check: () => Promise<unknown>, passed: string): AsyncGenerator<Finding> {
  try {
    await check();
    yield { about, state: "ok", text: passed };
  } catch (error) {
    yield { about, state: "fix", text: (error as Error).message };
  }
}
