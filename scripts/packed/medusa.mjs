/** A user's Medusa store with the packed packages: installed, type-checked with Medusa's own settings, built, and run. */
import { randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { runNode } from "../lib/process.mjs";
import { addJest, runJest } from "./jest.mjs";
import { installStore } from "./medusa-store.mjs";
import { outsideEnv } from "./pack.mjs";
import { checkTypes, programOf, startPackedService } from "./project.mjs";

/**
 * Installs all packages and Medusa into a new folder, with the configuration and goods of the example store. Type-checks
 * it as CommonJS and as ES modules, and builds it with its admin pages. Buys with cards there, cancels, and refunds in
 * each way. Has the command line read Medusa's tables, and runs Jest with a card on a cart.
 *
 * @param {object} options
 * @param {Record<string, string>} options.specs what npm installs, by the packages' names
 * @param {import("./pack.mjs").Node} options.node
 * @param {string} options.folder
 * @param {string} [options.medusa] the release of Medusa; by default the example store's
 * @param {boolean} [options.byPnpm] in a workspace, like Medusa's starter
 * @param {import("./project.mjs").Watched} [watched]
 */
export async function tryMedusa({ specs, node, folder: place, medusa: release, byPnpm = false }, watched = {}) {
  const { progress = () => {}, signal } = watched;
  const early = signal ? { signal } : {};
  progress(`medusa: install by ${byPnpm ? "pnpm" : "npm"}, for a minute or two`);
  const install = { specs, node: node.path, folder: place, release, byPnpm };
  const folder = await installStore({ ...install, ...early });
  const manifest = path.join(folder, "node_modules/@medusajs/medusa/package.json");
  progress(`medusa: version ${JSON.parse(await readFile(manifest, "utf8")).version}`);
  for (const project of ["tsconfig.json", "tsconfig.esm.json", "tsconfig.bundler.json"]) {
    progress(`medusa: types by ${project}`);
    const types = { folder, node: node.path, project, noEmit: project !== "tsconfig.esm.json" };
    await checkTypes({ ...types, ...early });
  }
  const outside = { node: node.path, cwd: folder, ...early };
  const env = { ...outsideEnv(node.path), DISABLE_ADMIN: "true", MEDUSA_DISABLE_TELEMETRY: "true" };
  const load = `const { default: config } = await import("./esm/medusa-config.mjs");
    if (!config.modules.payment.dependencies.includes("giftcard")) throw new Error("It has no gift card provider.");`;
  await runNode({ ...outside, name: "Its ES module", args: ["--input-type=module", "--eval", load], env });
  progress("medusa: build, with the admin's pages");
  const medusa = await programOf(folder, "@medusajs/cli", "medusa");
  const withAdmin = { ...env, DISABLE_ADMIN: "false" };
  await runNode({ ...outside, name: "medusa build", args: [medusa, "build"], env: withAdmin });
  await findPages(folder);
  progress(`medusa: service and store on Node ${node.version}`);
  const { stop, issueCard, command: _, ...service } = await startPackedService({ folder, node, ...early });
  try {
    const cards = [await issueCard(7500), await issueCard(3500), await issueCard(7500)];
    await addJest(folder);
    const stage = JSON.stringify({ service, cards, folder });
    // The same Node then starts Medusa.
    const args = [fileURLToPath(import.meta.url)];
    const said = await runNode({ ...outside, name: "The purchase", args, env: { ...env, STAGE: stage } });
    for (const line of said.trim().split("\n")) progress(`medusa: ${line}`);
  } finally {
    await stop();
  }
}

/** Checks that the build has the plugin's pages. Medusa omits an extension that it can't build, and exits with 0. @param {string} folder */
async function findPages(folder) {
  const assets = path.join(folder, ".medusa/server/public/admin/assets");
  const names = (await readdir(assets)).filter((name) => name.endsWith(".js"));
  const texts = await Promise.all(names.map((name) => readFile(path.join(assets, name), "utf8")));
  if (
    !["/admin/giftcard-pay/", "/admin/giftcard-pay/events", "Kartenzahlungen", "Veranstaltungsort"].every((path) =>
      texts.some((text) => text.includes(path)),
    )
  )
    throw new Error(
      `The admin pages in ${assets} don't call the gift card routes, or have no German texts: the plugin's pages are missing.`,
    );
}

/** @param {string} stage what `tryMedusa` has made */
async function buy(stage) {
  const { service, cards, folder } = JSON.parse(stage);
  const [card] = cards;
  const appDir = path.join(folder, ".medusa/server");
  const { startThrowawayPostgres } = await import("@giftcard-pay/service");
  const { createDatabase, migrateStore, startMedusaStore } = await import("../shops/medusa-store.mjs");
  const { buyAndCancel, returnOneOfTwo } = await import("../demo/purchase.mjs");
  const { coverAndRefund } = await import("./covered-orders.mjs");
  const postgres = await startThrowawayPostgres();
  try {
    const databaseUrl = await createDatabase(postgres.url);
    await migrateStore({ databaseUrl, appDir });
    const giftcard = { baseUrl: service.url, apiKey: service.apiKey, companyId: service.companyId };
    const store = await startMedusaStore({ databaseUrl, giftcard, appDir });
    try {
      const shop = /** @type {import("../shops/whole-shop.mjs").WholeShop} */ ({ store, service });
      const say = (/** @type {string} */ text) => void process.stdout.write(`${text}\n`);
      await buyAndCancel(shop, card, say);
      await returnOneOfTwo(shop, cards[1], say);
      await coverAndRefund(shop, cards[2], say);
    } finally {
      await store.stop();
    }
    await readTables({ folder, databaseUrl, companyId: service.companyId });
    process.stdout.write("the command line has looked through Medusa's tables\n");
    await testByJest({ folder, postgresUrl: postgres.url, giftcard, card });
    process.stdout.write("Jest has loaded the plugin, and put a card on a cart\n");
  } finally {
    await postgres.close();
  }
}

/**
 * Runs the commands that read Medusa's tables. They fail if a table differs from what they expect.
 * @param {{ folder: string, databaseUrl: string, companyId: number }} options
 */
async function readTables({ folder, databaseUrl, companyId }) {
  const program = await programOf(folder, "@giftcard-pay/medusa", "giftcard-medusa");
  const settings = { GIFTCARD_ENVIRONMENT: "sandbox", GIFTCARD_COMPANY_ID: String(companyId) };
  const env = { ...outsideEnv(process.execPath), ...settings };
  const today = new Date().toISOString().slice(0, 10);
  const commands = [["status"], ["reconcile", "--from", today, "--to", today]];
  for (const command of [...commands, ["statement", "--month", today.slice(0, 7)]]) {
    const args = [program, ...command, "--json", "--database-url", databaseUrl];
    await runNode({ name: `giftcard-medusa ${command.join(" ")}`, args, cwd: folder, env });
  }
}

/**
 * Runs Jest with Medusa's own test runner, which creates its own database.
 *
 * @param {object} options
 * @param {string} options.folder
 * @param {string} options.postgresUrl
 * @param {import("../shops/medusa-store.mjs").GiftcardSettings} options.giftcard
 * @param {import("../shops/whole-shop.mjs").IssuedCard} options.card
 */
async function testByJest({ folder, postgresUrl, giftcard, card }) {
  const { port, username, password } = new URL(postgresUrl);
  const env = {
    // With any other host name, Medusa's test runner uses TLS.
    DB_HOST: "localhost",
    DB_PORT: port,
    DB_USERNAME: decodeURIComponent(username),
    DB_PASSWORD: decodeURIComponent(password),
    GIFTCARD_BASE_URL: giftcard.baseUrl,
    GIFTCARD_API_KEY: giftcard.apiKey,
    GIFTCARD_COMPANY_ID: String(giftcard.companyId),
    GIFTCARD_SEALING_KEYS: `jest:${randomBytes(32).toString("base64")}`,
    JWT_SECRET: "jest",
    COOKIE_SECRET: "jest",
    CARD: JSON.stringify({ cardNumber: card.cardnumber, pin: card.pin }),
  };
  for (const type of /** @type {const} */ (["unit", "integration:http"])) await runJest({ folder, type, env });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await buy(process.env.STAGE ?? "{}");
