/** Starts everything that a purchase needs, on free ports of 127.0.0.1 with databases that are thrown away. */
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startThrowawayPostgres } from "@giftcard-pay/service";
import { createDatabase, createStoreDatabase, startMedusaStore } from "./medusa-store.mjs";
import { runNode, startNode } from "./process.mjs";

/**
 * @typedef {{ cardnumber: string, pin: string, balance: number, expiry_date: string }} IssuedCard
 */

/**
 * A running gift card service and a company there.
 * @typedef {object} GiftcardService
 * @property {string} url
 * @property {string} apiKey
 * @property {number} companyId
 * @property {(balanceCents: number) => Promise<IssuedCard>} issueCard
 * @property {() => string} logs
 */

/**
 * @typedef {object} WholeShop
 * @property {GiftcardService} service
 * @property {import("./medusa-store.mjs").MedusaStore} store
 * @property {string | undefined} storefrontUrl
 * @property {() => Promise<void>} stop ends everything and removes its data; may be called more than once
 */

const root = fileURLToPath(new URL("../", import.meta.url));
const giftcardService = path.join(root, "packages", "service", "bin", "giftcard-service.js");

/**
 * Starts PostgreSQL, the gift card service in its sandbox environment, the Medusa store and, where wanted, its pages.
 *
 * @param {object} [options]
 * @param {boolean} [options.withStorefront]
 * @param {boolean} [options.withAdmin]
 * @param {string} [options.postgresUrl] a server to make the databases on; one of its own when left out
 * @param {(text: string) => void} [options.progress] told what comes next
 * @param {AbortSignal} [options.signal] ends the start early
 * @returns {Promise<WholeShop>}
 * @throws when a part doesn't start; nothing is left running then
 */
export async function startWholeShop({ postgresUrl, progress = () => {}, signal, ...parts } = {}) {
  const cleanUp = new CleanUp();
  const stop = () => cleanUp.run();
  const early = signal ? { signal } : {};
  try {
    const dataDir = await mkdtemp(path.join(os.tmpdir(), "giftcard-demo-"));
    cleanUp.add(() => rm(dataDir, { recursive: true, force: true }));
    let serverUrl = postgresUrl;
    if (!serverUrl) {
      progress("starting PostgreSQL");
      const postgres = await startThrowawayPostgres();
      cleanUp.add(() => postgres.close());
      serverUrl = postgres.url;
    }
    signal?.throwIfAborted();

    progress("starting the gift card service");
    const service = await startService({
      databaseUrl: await createDatabase(serverUrl),
      dataDir,
      cleanUp,
      ...early,
    });

    progress("setting up the shop's database");
    const databaseUrl = await createStoreDatabase(serverUrl, early);

    progress("starting the Medusa store");
    return { service, stop, ...(await startPages({ ...parts, databaseUrl, service, cleanUp, ...early })) };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Starts the store and its pages. The pages' address is known first, since the store lets only them call it.
 * @param {{ withStorefront?: boolean, withAdmin?: boolean, databaseUrl: string, service: GiftcardService, cleanUp: CleanUp, signal?: AbortSignal }} options
 */
async function startPages({
  withStorefront = false,
  withAdmin = false,
  databaseUrl,
  service,
  cleanUp,
  signal,
}) {
  /** @type {{ backendUrl: string, publishableKey: string } | undefined} */
  let settings;
  let storefrontUrl;
  if (withStorefront) {
    const { serveStorefront } = await import("../examples/medusa-store/storefront/serve.mjs");
    const storefront = await serveStorefront({ config: () => settings });
    cleanUp.add(() => storefront.close());
    storefrontUrl = storefront.url;
  }
  const store = await startMedusaStore({
    databaseUrl,
    giftcard: { baseUrl: service.url, apiKey: service.apiKey, companyId: service.companyId },
    withAdmin,
    ...(storefrontUrl && { storefrontUrl }),
    ...(signal && { signal }),
  });
  cleanUp.add(() => store.stop());
  settings = { backendUrl: store.url, publishableKey: store.publishableKey };
  return { store, storefrontUrl };
}

/**
 * @param {{ databaseUrl: string, dataDir: string, cleanUp: CleanUp, signal?: AbortSignal }} options
 * @returns {Promise<GiftcardService>}
 */
async function startService({ databaseUrl, dataDir, cleanUp, signal }) {
  const env = {
    GIFTCARD_DATABASE_URL: databaseUrl,
    GIFTCARD_SECRETS_FILE: path.join(dataDir, "secrets.json"),
    GIFTCARD_PASSWORD: "a demo password",
  };
  const early = signal ? { signal } : {};
  const command = async (/** @type {string[]} */ ...args) => {
    const name = `giftcard-service ${args.slice(0, 2).join(" ")}`;
    return JSON.parse(
      await runNode({ name, args: [giftcardService, ...args, "--json"], cwd: dataDir, env, ...early }),
    );
  };
  await command("migrate");
  const serving = await startNode({
    name: "The gift card service",
    args: [giftcardService, "serve", "--port", "0", "--environment", "sandbox", "--json"],
    cwd: dataDir,
    env,
    ready: /"url":"([^"]+)"/,
    ...early,
  });
  cleanUp.add(() => serving.stop());
  const company = await command(
    "company",
    "create",
    "--name",
    "Night Owl Tickets",
    "--email",
    "owl@example.com",
  );
  return {
    url: String(serving.match[1]),
    apiKey: company.apikey,
    companyId: company.company_id,
    issueCard: (balanceCents) => command("card", "issue", "--balance", String(balanceCents)),
    logs: serving.logs,
  };
}

/** What is to be undone, the latest first. */
class CleanUp {
  /** @type {(() => Promise<unknown>)[]} */
  #tasks = [];
  /** @type {Promise<void> | undefined} */
  #running;

  /** @param {() => Promise<unknown>} task */
  add(task) {
    this.#tasks.push(task);
  }

  /** Runs every task, also after one has failed. */
  run() {
    this.#running ??= this.#runAll();
    return this.#running;
  }

  async #runAll() {
    for (const task of this.#tasks.reverse()) {
      await task().catch((error) => process.stderr.write(`cleaning up: ${error.message}\n`));
    }
  }
}
