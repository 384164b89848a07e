/** A user's Vendure shop with the packed packages: installed by npm, type-checked, and run. */
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { buyInSixWays } from "../demo/vendure-purchase.mjs";
import { openStage } from "../demo/vendure-stage.mjs";
import { runNpm } from "./pack.mjs";
import { checkTypes } from "./project.mjs";

const example = fileURLToPath(new URL("../../examples/vendure/", import.meta.url));

/** A configuration as in the plugin's README. */
const CONFIG = `import { GiftcardPlugin, outstandingByStripe } from "@giftcard-pay/vendure";
import { shopApiTransport } from "@giftcard-pay/vendure/storefront";
import type { VendureConfig } from "@vendure/core";
import { StripePlugin } from "@vendure/payments-plugin/package/stripe/index.js";

export const plugins: VendureConfig["plugins"] = [
  StripePlugin.init(outstandingByStripe({ paymentIntentCreateParams: () => ({ description: "tickets" }) })),
  GiftcardPlugin.init({
    environment: "sandbox",
    baseUrl: "https://cards.example",
    apiKey: "key",
    companyId: 7,
    sealingKeys: [{ id: "2026", key: "A".repeat(43) + "=" }],
  }),
];
export const transport = shopApiTransport({ url: "https://shop.example/shop-api" });
`;

const TSCONFIG = {
  compilerOptions: { strict: true, noEmit: true, skipLibCheck: true, target: "es2022", module: "nodenext", types: [] },
  files: ["config.ts"],
};

/**
 * Installs the plugin, Vendure and its payment plugins into a new folder with the example's files, checks the types there, and
 * buys in six ways.
 *
 * @param {object} options
 * @param {Record<string, string>} options.specs what npm installs, by the packages' names
 * @param {string} options.folder
 * @param {string} options.release of Vendure; "example" for that of the example
 * @param {import("./pack.mjs").Node} options.node
 * @param {{ progress: (text: string) => void, signal: AbortSignal }} watched
 */
export async function tryVendure({ specs, folder, release, node }, { progress, signal }) {
  await mkdir(folder, { recursive: true });
  const manifest = JSON.parse(await readFile(path.join(example, "package.json"), "utf8"));
  const { "@vendure/core": core, ...others } = { ...manifest.dependencies, ...manifest.devDependencies };
  const ours = ["client", "checkout", "vendure"].map((name) => `@giftcard-pay/${name}`);
  const dependencies = {
    ...{ "@vendure/core": release === "example" ? core : release, typescript: "^5.9.0", ...others },
    ...Object.fromEntries(
      ours.map((name) => [name, specs[name]?.startsWith("/") ? `file:${specs[name]}` : specs[name]]),
    ),
  };
  await writeFile(path.join(folder, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }));
  await writeFile(path.join(folder, "tsconfig.json"), JSON.stringify(TSCONFIG));
  await writeFile(path.join(folder, "config.ts"), CONFIG);
  for (const file of await readdir(example))
    if (file.endsWith(".js")) await copyFile(path.join(example, file), path.join(folder, file));
  progress("vendure: install by npm, for a minute");
  await runNpm(["install", "--no-audit", "--no-fund"], { cwd: folder, node: node.path, signal });
  const { version } = JSON.parse(await readFile(path.join(folder, "node_modules/@vendure/core/package.json"), "utf8"));
  progress(`vendure: types in Vendure ${version}`);
  await checkTypes({ folder, node: node.path, project: "tsconfig.json", noEmit: true, signal });
  const say = (/** @type {string} */ text) => progress(`vendure: ${text}`);
  const stage = await openStage({ say, signal, program: path.join(folder, "shop.js") });
  try {
    await buyInSixWays(stage, say);
  } finally {
    await stage.stop();
  }
}
