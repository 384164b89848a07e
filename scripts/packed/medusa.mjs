/** A stranger's Medusa store with the packed packages: installed, type-checked by Medusa's own settings, built, and run. */
import { randomBytes } from "node:crypto";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { runNode } from "../process.mjs";
import { addJest, runJest } from "./jest.mjs";
import { outsideEnv, runNpm } from "./pack.mjs";
import { checkTypes, startPackedService } from "./project.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const exampleStore = path.join(root, "examples/medusa-store");

/** What `create-medusa-app` writes, but for `strict`, which it leaves at `strictNullChecks`. */
const medusaOptions = {
  target: "ES2021",
  esModuleInterop: true,
  module: "Node16",
  moduleResolution: "Node16",
  emitDecoratorMetadata: true,
  experimentalDecorators: true,
  skipLibCheck: true,
  skipDefaultLibCheck: true,
  declaration: false,
  sourceMap: false,
  inlineSourceMap: true,
  outDir: "./.medusa/server",
  rootDir: "./",
  jsx: "react-jsx",
  forceConsistentCasingInFileNames: true,
  resolveJsonModule: true,
  checkJs: false,
  strict: true,
};

/**
 * Installs all tarballs and Medusa into a new folder, with the configuration and goods of the example store; type-checks
 * it as CommonJS and as ES modules; builds it; buys with a card there, and cancels; asks what recovery would do; runs
 * Jest, with the card on a cart.
 *
 * @param {object} options
 * @param {Record<string, string>} options.tarballs
 * @param {import("./pack.mjs").Node} options.node
 * @param {string} options.folder
 * @param {string} [options.medusa] the release of Medusa; that of the example store when left out
 * @param {import("./project.mjs").Watched} [watched]
 */
export async function tryMedusa({ tarballs, node, folder, medusa: release }, watched = {}) {
  const { progress = () => {}, signal } = watched;
  const early = signal ? { signal } : {};
  await writeStore(folder, release);
  progress("medusa: npm install, for a minute or two");
  await runNpm(["install", ...Object.values(tarballs)], { cwd: folder, node: node.path, ...early });
  for (const project of ["tsconfig.json", "tsconfig.esm.json", "tsconfig.bundler.json"]) {
    progress(`medusa: types by ${project}`);
    const types = { folder, node: node.path, project, noEmit: project !== "tsconfig.esm.json" };
    await checkTypes({ ...types, ...early });
  }
  const outside = { node: node.path, cwd: folder, ...early };
  const env = { ...outsideEnv(node.path), DISABLE_ADMIN: "true", MEDUSA_DISABLE_TELEMETRY: "true" };
  const load = `const { default: config } = await import("./esm/medusa-config.mjs");
    if (!config.modules.payment.dependencies.includes("giftcard")) throw new Error("There are no gift cards in it.");`;
  await runNode({ ...outside, name: "Its ES module", args: ["--input-type=module", "--eval", load], env });
  progress("medusa: build");
  const medusa = path.join(folder, "node_modules", ".bin", "medusa");
  await runNode({ ...outside, name: "medusa build", args: [medusa, "build"], env });
  progress(`medusa: service and store on Node ${node.version}`);
  const { stop, issueCard, ...service } = await startPackedService({ folder, node, ...early });
  try {
    const card = await issueCard(7500);
    await addJest(folder);
    const stage = JSON.stringify({ service, card, folder });
    // Under that Node too, which then starts Medusa's.
    const args = [fileURLToPath(import.meta.url)];
    const said = await runNode({ ...outside, name: "The purchase", args, env: { ...env, STAGE: stage } });
    for (const line of said.trim().split("\n")) progress(`medusa: ${line}`);
  } finally {
    await stop();
  }
}

/** @param {string} folder @param {string | undefined} release */
async function writeStore(folder, release) {
  await mkdir(folder, { recursive: true });
  await cp(path.join(exampleStore, "src"), path.join(folder, "src"), { recursive: true });
  await cp(path.join(root, "test/packed-medusa"), path.join(folder, "own"), { recursive: true });
  for (const name of ["medusa-config.ts", "medusa-config.mts"])
    await cp(path.join(exampleStore, "medusa-config.ts"), path.join(folder, name));
  const example = JSON.parse(await readFile(path.join(exampleStore, "package.json"), "utf8"));
  const { "@giftcard-pay/medusa": _, ...dependencies } = example.dependencies;
  if (release !== undefined) for (const name of Object.keys(dependencies)) dependencies[name] = release;
  const write = (/** @type {string} */ name, /** @type {object} */ value) =>
    writeFile(path.join(folder, name), `${JSON.stringify(value, undefined, 2)}\n`);
  await write("package.json", {
    name: "a-medusa-store",
    private: true,
    dependencies,
    // As in a store that create-medusa-app made.
    devDependencies: {
      "@swc/core": "^1.7.28",
      "@medusajs/test-utils": dependencies["@medusajs/medusa"],
      "@swc/jest": "^0.2.36",
      "@types/node": "^20.12.11",
      jest: "^29.7.0",
      "ts-node": "^10.9.2",
      typescript: "^5.6.2",
    },
  });
  const byBundler = { module: "esnext", moduleResolution: "bundler", target: "ES2022" };
  const commonJs = ["medusa-config.ts", "src", "own"];
  await write("tsconfig.json", {
    "ts-node": { swc: true },
    compilerOptions: medusaOptions,
    include: commonJs,
    exclude: ["node_modules", ".medusa"],
  });
  await write("tsconfig.esm.json", {
    compilerOptions: { ...medusaOptions, outDir: "esm" },
    files: ["medusa-config.mts"],
  });
  await write("tsconfig.bundler.json", {
    compilerOptions: { ...medusaOptions, ...byBundler },
    include: [...commonJs, "medusa-config.mts"],
  });
}

/** @param {string} stage what `tryMedusa` has made */
async function buy(stage) {
  const { service, card, folder } = JSON.parse(stage);
  const appDir = path.join(folder, ".medusa/server");
  const { startThrowawayPostgres } = await import("@giftcard-pay/service");
  const { createDatabase, migrateStore, startMedusaStore } = await import("../shops/medusa-store.mjs");
  const { buyAndCancel } = await import("../demo/purchase.mjs");
  const postgres = await startThrowawayPostgres();
  try {
    const databaseUrl = await createDatabase(postgres.url);
    await migrateStore({ databaseUrl, appDir });
    const giftcard = { baseUrl: service.url, apiKey: service.apiKey, companyId: service.companyId };
    const store = await startMedusaStore({ databaseUrl, giftcard, appDir });
    try {
      const shop = /** @type {import("../shops/whole-shop.mjs").WholeShop} */ ({ store, service });
      await buyAndCancel(shop, card, (text) => void process.stdout.write(`${text}\n`));
    } finally {
      await store.stop();
    }
    await planRecovery({ folder, databaseUrl });
    process.stdout.write("recovery has looked through Medusa's tables\n");
    await testByJest({ folder, postgresUrl: postgres.url, giftcard, card });
    process.stdout.write("Jest has loaded the plugin, and put a card on a cart\n");
  } finally {
    await postgres.close();
  }
}

/**
 * Asks what recovery would do: it looks through Medusa's tables, so it fails where one of them is other.
 * @param {{ folder: string, databaseUrl: string }} options
 */
async function planRecovery({ folder, databaseUrl }) {
  const command = path.join(folder, "node_modules", ".bin", "giftcard-medusa");
  const args = [command, "recover", "--dry-run", "--json", "--database-url", databaseUrl];
  const env = outsideEnv(process.execPath);
  await runNode({ name: "giftcard-medusa recover --dry-run", args, cwd: folder, env });
}

/**
 * Runs Jest with Medusa's own test runner, which makes its database by itself.
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
    // By any other name than this, Medusa's test runner speaks TLS.
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
  for (const type of /** @type {const} */ (["unit", "integration:http"]))
    await runJest({ folder, type, env });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await buy(process.env.STAGE ?? "{}");
