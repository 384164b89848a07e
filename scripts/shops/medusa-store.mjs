/** Starts the example shop, once built, for the demo and for tests. */
import { createHash, randomBytes } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { freePort, runNode, startNode } from "../lib/process.mjs";

/**
 * The shop's access to the gift card service.
 * @typedef {object} GiftcardSettings
 * @property {string} baseUrl
 * @property {string} apiKey
 * @property {number} companyId
 */

/**
 * A running shop.
 * @typedef {object} MedusaStore
 * @property {string} url
 * @property {string} publishableKey
 * @property {{ email: string, password: string, token: string }} admin
 * @property {number} pid
 * @property {() => string} logs
 * @property {() => Promise<number | null>} stop
 * @property {() => Promise<number | null>} kill
 * @property {Promise<number | null>} exited
 */

const storeDir = fileURLToPath(new URL("../../examples/medusa-store/", import.meta.url));
const serverDir = path.join(storeDir, ".medusa", "server");
const adminPage = path.join(serverDir, "public", "admin", "index.html");
/** The output of \`medusa build --admin-only\`. */
const adminOnlyDir = path.join(storeDir, ".medusa", "admin");
/** Held by the process that builds them. */
const adminLock = fileURLToPath(new URL("../../node_modules/.cache/giftcard-pay/admin.lock", import.meta.url));
const pluginAdmins = ["medusa", "medusa-events"].map((name) =>
  fileURLToPath(new URL(`../../packages/${name}/.medusa/server/src/admin/index.mjs`, import.meta.url)),
);
/** Returns the path of the application's own Medusa command line. @param {string} appDir */
const cliOf = (appDir) => createRequire(path.join(appDir, "package.json")).resolve("@medusajs/cli/cli.js");

const admin = { email: "admin@example.com", password: "demo-admin-password" };
const TEMPLATE_LOCK = 7_498_2498;

/** The environment of every command of the shop. It runs the build, so it needs neither SWC nor ts-node. */
const baseEnv = {
  NODE_ENV: "production",
  MEDUSA_DISABLE_TELEMETRY: "true",
  JWT_SECRET: "demo-jwt-secret",
  COOKIE_SECRET: "demo-cookie-secret",
  COOKIE_SECURE: "false",
  GIFTCARD_SEALING_KEYS: `demo:${randomBytes(32).toString("base64")}`,
  ADMIN_EMAIL: admin.email,
  ADMIN_PASSWORD: admin.password,
};

/**
 * Adds the admin pages to the built shop, unless they are newer than the plugins' pages. Building them takes half a
 * minute. A shop may run from the same folder meanwhile. If several processes call this, one builds.
 * @param {{ progress?: (text: string) => void, signal?: AbortSignal }} [options]
 */
export async function buildAdmin({ progress = () => {}, signal } = {}) {
  const builtAt = (/** @type {string} */ file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  while (builtAt(adminPage) <= Math.max(...pluginAdmins.map(builtAt))) {
    if (!takeAdminLock()) {
      await sleep(500, undefined, { ...(signal && { signal }) });
      continue;
    }
    try {
      progress("building Medusa's admin pages, for half a minute");
      await runNode({
        name: "The build of the admin pages",
        args: ["medusa.cjs", "build", "--admin-only"],
        cwd: storeDir,
        env: { ...baseEnv, DISABLE_ADMIN: "true" },
        ...(signal && { signal }),
      });
      rmSync(path.dirname(adminPage), { recursive: true, force: true });
      cpSync(adminOnlyDir, path.dirname(adminPage), { recursive: true });
    } finally {
      rmSync(adminLock, { force: true });
    }
  }
}

/** @returns {boolean} false while another process builds the admin pages; the lock of a dead process doesn't count */
function takeAdminLock() {
  try {
    mkdirSync(path.dirname(adminLock), { recursive: true });
    writeFileSync(adminLock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST") throw error;
  }
  try {
    process.kill(Number(readFileSync(adminLock, "utf8")), 0);
  } catch {
    rmSync(adminLock, { force: true });
  }
  return false;
}

/**
 * Makes a database with the shop's tables and goods. The first call on a server takes ten seconds and keeps
 * the result as a template; each further one, from any process, copies it.
 *
 * @param {string} serverUrl a PostgreSQL server's address, with the right to create databases
 * @param {{ name?: string, signal?: AbortSignal }} [options]
 * @returns {Promise<string>} the new database's address
 */
export async function createStoreDatabase(
  serverUrl,
  { name = `store_${randomBytes(6).toString("hex")}`, signal } = {},
) {
  const template = `medusa_store_${createHash("sha256").update(serverDir).digest("hex").slice(0, 8)}`;
  const client = new pg.Client({ connectionString: serverUrl });
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query("select pg_advisory_lock($1)", [TEMPLATE_LOCK]);
    const found = await client.query("select 1 from pg_database where datname = $1", [template]);
    if (found.rowCount === 0) await createTemplate(client, serverUrl, { template, ...(signal && { signal }) });
    await client.query(`create database ${client.escapeIdentifier(name)} template ${template}`);
  } finally {
    await client.end();
  }
  return databaseAt(serverUrl, name);
}

/** @param {pg.Client} client @param {string} serverUrl @param {{ template: string, signal?: AbortSignal }} options */
async function createTemplate(client, serverUrl, { template, signal }) {
  const unfinished = `${template}_unfinished`;
  await client.query(`drop database if exists ${unfinished} with (force)`);
  await client.query(`create database ${unfinished}`);
  const databaseUrl = databaseAt(serverUrl, unfinished);
  await migrateStore({ databaseUrl, appDir: serverDir, ...(signal && { signal }) });
  await client.query(`alter database ${unfinished} rename to ${template}`);
}

/**
 * Creates the shop's tables in an empty database, and fills them with goods.
 * @param {{ databaseUrl: string, appDir: string, env?: Record<string, string>, signal?: AbortSignal }} options
 */
export async function migrateStore({ databaseUrl, appDir, env, signal }) {
  const args = ["db:migrate", "--execute-safe-links", "--skip-search"];
  await runMedusa(args, { databaseUrl, appDir, ...(env && { env }), ...(signal && { signal }) });
}

/**
 * Adds the tables of a module that the environment switches on, such as those of Medusa's lock, to a shop's database.
 * @param {{ databaseUrl: string, appDir: string, env: Record<string, string> }} options
 */
export const addTables = (options) =>
  runMedusa(["db:migrate", "--skip-scripts", "--skip-links", "--skip-search"], options);

/**
 * Runs a command of Medusa's own command line on a shop's database.
 * @param {string[]} args
 * @param {{ databaseUrl: string, appDir: string, env?: Record<string, string>, signal?: AbortSignal }} options
 * @throws with its last output when it fails
 */
export async function runMedusa(args, { databaseUrl, appDir, env, signal }) {
  await runNode({
    name: `medusa ${args[0]}`,
    args: [cliOf(appDir), ...args],
    cwd: appDir,
    env: {
      ...baseEnv,
      ...giftcardEnv(noService),
      DATABASE_URL: databaseUrl,
      DISABLE_ADMIN: "true",
      ...env,
    },
    ...(signal && { signal }),
  });
}

/**
 * Makes an empty database.
 * @param {string} serverUrl a PostgreSQL server's address
 * @returns {Promise<string>} the database's address
 */
export async function createDatabase(serverUrl) {
  const name = `demo_${randomBytes(6).toString("hex")}`;
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`create database ${name}`).finally(() => client.end());
  return databaseAt(serverUrl, name);
}

/** @param {string} serverUrl @param {string} name */
function databaseAt(serverUrl, name) {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/**
 * Starts the built shop on 127.0.0.1 and waits until it takes orders.
 *
 * @param {object} options
 * @param {string} options.databaseUrl made by `createStoreDatabase`
 * @param {GiftcardSettings} [options.giftcard] without it, the shop starts but can't reach a service
 * @param {number} [options.port] a free one when left out
 * @param {string} [options.storefrontUrl] the origin whose pages may call the shop, and where its products have pages
 * @param {boolean} [options.withAdmin] serves the admin pages, if they were built
 * @param {string} [options.appDir] another application's folder, in place of the built example's
 * @param {Record<string, string | undefined>} [options.env] further settings, or other values for these
 * @param {AbortSignal} [options.signal]
 * @returns {Promise<MedusaStore>}
 */
export async function startMedusaStore(options) {
  const { child, url } = await startMedusa(options);
  try {
    const token = await adminToken(url);
    const publishableKey = await readPublishableKey(url, token);
    const { pid, logs, stop, kill, exited } = child;
    return { url, publishableKey, admin: { ...admin, token }, pid, logs, stop, kill, exited };
  } catch (error) {
    await child.kill();
    throw error;
  }
}

/**
 * Starts the built shop as a worker, which runs jobs and subscribers, and answers no page.
 * @param {Parameters<typeof startMedusaStore>[0]} options
 */
export const startMedusaWorker = async (options) => (await startMedusa(options)).child;

/** @param {Parameters<typeof startMedusaStore>[0]} options */
async function startMedusa({
  databaseUrl,
  giftcard = noService,
  port,
  storefrontUrl,
  withAdmin = false,
  appDir = serverDir,
  env,
  signal,
}) {
  if (!existsSync(appDir)) throw new Error("The shop isn't built. Run: npm run build");
  const atPort = port ?? (await freePort());
  const url = `http://127.0.0.1:${atPort}`;
  const child = await startNode({
    name: "The Medusa store",
    args: [cliOf(appDir), "start", "--host", "127.0.0.1", "--port", String(atPort)],
    cwd: appDir,
    env: {
      ...baseEnv,
      ...giftcardEnv(giftcard),
      DATABASE_URL: databaseUrl,
      DISABLE_ADMIN: String(!withAdmin),
      ...(storefrontUrl && { STOREFRONT_URL: storefrontUrl }),
      STORE_CORS: storefrontUrl ?? url,
      ADMIN_CORS: url,
      AUTH_CORS: `${url},${storefrontUrl ?? url}`,
      ...env,
    },
    ready: /Server is ready on port/,
    ...(signal && { signal }),
  });
  return { child, url };
}

/** Valid settings for a service that doesn't exist: the plugin validates them when it starts. */
const noService = { baseUrl: "http://127.0.0.1:1", apiKey: "none", companyId: 1 };

/** @param {GiftcardSettings} giftcard */
function giftcardEnv(giftcard) {
  return {
    GIFTCARD_ENVIRONMENT: "sandbox",
    GIFTCARD_BASE_URL: giftcard.baseUrl,
    GIFTCARD_API_KEY: giftcard.apiKey,
    GIFTCARD_COMPANY_ID: String(giftcard.companyId),
  };
}

/** @param {string} url @returns {Promise<string>} */
async function adminToken(url) {
  const { token } = await json(`${url}/auth/user/emailpass`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(admin),
  });
  return token;
}

/** @param {string} url @param {string} token @returns {Promise<string>} */
async function readPublishableKey(url, token) {
  const { api_keys } = await json(`${url}/admin/api-keys?type=publishable&limit=1`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return api_keys[0].token;
}

/** @param {string} url @param {RequestInit} init */
async function json(url, init) {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${new URL(url).pathname} answered ${response.status}: ${await response.text()}`);
  return response.json();
}
