/** Upgrades a user's shop and service from one release to the next, with their data. */
import { randomBytes } from "node:crypto";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { freePort, runNode } from "../lib/process.mjs";
import { outsideEnv, runNpm } from "./pack.mjs";
import { programOf, startPackedService } from "./project.mjs";

const shop = fileURLToPath(new URL("../../test/packed/upgrade/shop.mjs", import.meta.url));

/**
 * Installs one release of these packages, and pays an order with a card. Then installs the newest release over it, on the
 * same databases. There the order is still paid, it is canceled, and the service checks its ledger.
 *
 * @param {object} options
 * @param {string[]} options.names `client`, `checkout` and `service` among them
 * @param {string} options.from the version to begin with
 * @param {string} options.to the newest, which npm has to install
 * @param {import("./pack.mjs").Node} options.node with SQLite
 * @param {string} options.folder a new one
 * @param {import("./project.mjs").Watched} [watched]
 * @throws if a call fails or an amount is wrong
 */
export async function tryUpgrade({ names, from, to, node, folder }, watched = {}) {
  const { progress = () => {}, signal } = watched;
  const early = signal ? { signal } : {};
  const install = async (/** @type {string} */ wanted, /** @type {string} */ version) => {
    await runNpm(["install", ...names.map((name) => `${name}@${wanted}`)], {
      cwd: folder,
      node: node.path,
      ...early,
    });
    await checkInstalled(folder, names, version);
  };
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, "package.json"), '{ "name": "a-shop", "private": true }\n');
  await cp(shop, path.join(folder, "shop.mjs"));

  progress(`upgrade: ${from}, with an order that a card pays`);
  await install(from, from);
  // Keep the port: a charge is reversed at the address where it was made.
  const port = await freePort();
  const before = await startPackedService({ folder, node, port, ...early });
  const { companyId, apiKey, url } = before;
  /** @type {Record<string, string>} */
  const settings = {
    SEALING_KEY: randomBytes(32).toString("base64"),
    GIFTCARD_BASE_URL: url,
    GIFTCARD_API_KEY: apiKey,
    GIFTCARD_COMPANY_ID: String(companyId),
  };
  const run = (/** @type {string} */ what) =>
    runNode({
      name: `The shop that is to ${what}`,
      node: node.path,
      args: ["shop.mjs", what],
      cwd: folder,
      env: { ...outsideEnv(node.path), ...settings },
      ...early,
    });
  try {
    const { cardnumber: cardNumber, pin } = await before.issueCard(7500);
    settings.CARD = JSON.stringify({ cardNumber, pin });
    await run("pay");
  } finally {
    await before.stop();
  }

  progress(`upgrade: to ${to}, on the same databases`);
  await install("latest", to);
  const after = await startPackedService({ folder, node, port, company: { companyId, apiKey }, ...early });
  try {
    await run("reverse");
    await after.command("check");
  } finally {
    await after.stop();
  }
}

/**
 * Checks that each of our packages is installed once, at this version.
 * @param {string} folder @param {string[]} names @param {string} version
 */
async function checkInstalled(folder, names, version) {
  const { packages } = JSON.parse(await readFile(path.join(folder, "package-lock.json"), "utf8"));
  const ours = Object.keys(packages).filter((place) => place.includes("node_modules/@giftcard-pay/"));
  const wrong = ours.filter((place) => packages[place].version !== version);
  if (wrong.length > 0 || ours.length < names.length)
    throw new Error(`npm installed ${ours.map((place) => `${place}@${packages[place].version}`).join(", ")}.`);
  const program = await programOf(folder, "@giftcard-pay/service", "giftcard-service");
  const said = await runNode({
    name: "giftcard-service --version",
    args: [program, "--version"],
    cwd: folder,
  });
  if (said.trim() !== version) throw new Error(`giftcard-service reports the version ${said}, not ${version}.`);
}
