/** Starts the gift card service for the demo and for tests, on a throwaway database. */
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startThrowawayPostgres } from "@giftcard-pay/service";
import { runNode, startNode } from "../lib/process.mjs";
import { createDatabase } from "./medusa-store.mjs";

/**
 * @typedef {{ cardnumber: string, pin: string, balance: number, expiry_date: string }} IssuedCard
 */

/**
 * A running gift card service and one of its companies.
 * @typedef {object} GiftcardService
 * @property {string} url
 * @property {string} metricsUrl
 * @property {string} apiKey
 * @property {number} companyId
 * @property {string} databaseUrl
 * @property {(...args: string[]) => Promise<any>} command runs a command of the issuer, with --json
 * @property {(balanceCents: number) => Promise<IssuedCard>} issueCard
 * @property {(balanceCents: number, count: number) => Promise<IssuedCard[]>} issueCards
 * @property {(name: string) => Promise<{ id: number, name: string }>} createProvider makes a ticketing provider
 * @property {() => string} logs
 * @property {() => Promise<unknown>} kill ends its process immediately, as a power failure would
 * @property {() => Promise<string>} restart starts it again on its database, and returns its new URL
 */

const root = fileURLToPath(new URL("../../", import.meta.url));
const giftcardService = path.join(root, "packages", "service", "bin", "giftcard-service.js");

/**
 * Starts PostgreSQL unless a server is given, and the gift card service in its sandbox environment with a company.
 *
 * @param {object} options
 * @param {CleanUp} options.cleanUp receives the tasks that stop everything, even if the start fails
 * @param {string} [options.postgresUrl] the server for the database; by default a new one
 * @param {(text: string) => void} [options.progress] receives the description of each step
 * @param {AbortSignal} [options.signal] ends the start early
 * @returns {Promise<{ service: GiftcardService, serverUrl: string, dataDir: string }>} with a folder that is deleted at the end
 */
export async function startCardService({ cleanUp, postgresUrl, progress = () => {}, signal }) {
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
  const databaseUrl = await createDatabase(serverUrl);
  const service = await startService({ databaseUrl, dataDir, cleanUp, ...(signal && { signal }) });
  return { service, serverUrl, dataDir };
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
    return JSON.parse(await runNode({ name, args: [giftcardService, ...args, "--json"], cwd: dataDir, env, ...early }));
  };
  await command("migrate");
  const serve = () =>
    startNode({
      name: "The gift card service",
      args: [giftcardService, "serve", "--port", "0", "--metrics-port", "0", "--environment", "sandbox", "--json"],
      cwd: dataDir,
      env,
      ready: /"url":"([^"]+)","metrics_url":"([^"]+)"/,
      ...early,
    });
  let serving = await serve();
  cleanUp.add(() => serving.stop());
  const company = await command("company", "create", "--name", "Night Owl Tickets", "--email", "owl@example.com");
  const issue = ["card", "issue", "--balance"];
  return {
    url: String(serving.match[1]),
    metricsUrl: String(serving.match[2]),
    apiKey: company.apikey,
    companyId: company.company_id,
    databaseUrl,
    command,
    issueCard: (balanceCents) => command(...issue, String(balanceCents)),
    issueCards: (balanceCents, count) => command(...issue, String(balanceCents), "--count", String(count)),
    createProvider: (name) => command("provider", "create", "--name", name),
    logs: () => serving.logs(),
    kill: () => serving.kill(),
    restart: async () => {
      serving = await serve();
      return String(serving.match[1]);
    },
  };
}

/** Clean-up tasks, run in reverse order. */
export class CleanUp {
  /** @type {(() => Promise<unknown>)[]} */
  #tasks = [];
  /** @type {Promise<void> | undefined} */
  #running;

  /** @param {() => Promise<unknown>} task */
  add(task) {
    this.#tasks.push(task);
  }

  /** Runs every task, even if one fails. */
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
