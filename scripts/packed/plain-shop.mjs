/** Tests the example shop without a framework from a copy of its folder: installs it, starts it, and buys there. */
import { cp } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { buyInFourWays } from "../demo/plain-purchase.mjs";
import { newShopSecrets, startBank, startShop } from "../shops/plain-shop.mjs";
import { runNpm } from "./pack.mjs";
import { startPackedService } from "./project.mjs";

const example = fileURLToPath(new URL("../../examples/plain-shop/", import.meta.url));

/**
 * @param {object} options
 * @param {string} options.folder a new one
 * @param {string} options.serviceFolder a project with the service
 * @param {import("./pack.mjs").Node} options.node with SQLite
 * @param {import("./project.mjs").Watched} [watched]
 * @throws if a call fails or an amount is wrong
 */
export async function tryPlainShop({ folder, serviceFolder, node }, watched = {}) {
  const { progress = () => {}, signal } = watched;
  const early = signal ? { signal } : {};
  progress("plain shop: npm install");
  await cp(example, folder, {
    recursive: true,
    filter: (from) => path.basename(from) !== "node_modules",
  });
  await runNpm(["install"], { cwd: folder, node: node.path, ...early });
  progress("plain shop: four purchases");
  const stops = [];
  try {
    const service = await startPackedService({ folder: serviceFolder, node, ...early });
    stops.push(service.stop);
    const bank = await startBank(early);
    stops.push(bank.stop);
    const { url, operatorPassword, stop, ...running } = await startShop({
      service,
      bank,
      folder,
      secrets: newShopSecrets(),
      program: path.join(folder, "server.js"),
      env: { PENDING_REMAINDER_MS: "5000", RECOVER_EVERY_MS: "1000" },
      ...early,
    });
    stops.push(stop);
    const shop = {
      ...running,
      url,
      operatorPassword,
      bankUrl: bank.url,
      stop: async () => void (await stop()),
    };
    const issueCard = () => service.issueCard(7500);
    await buyInFourWays({ ...shop, service: /** @type {any} */ (service) }, issueCard, () => {});
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}
