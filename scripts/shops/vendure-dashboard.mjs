/** Builds Vendure's dashboard for production in a shop that has installed the packed plugin. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { installDashboard } from "../lib/install-vendure.mjs";
import { runNode } from "../lib/process.mjs";
import { packPackages } from "../packed/pack.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const scope = "@giftcard-pay";

const CONFIG = `import { GiftcardPlugin } from "@giftcard-pay/vendure";
import { DefaultSchedulerPlugin, type VendureConfig } from "@vendure/core";
import { DashboardPlugin } from "@vendure/dashboard/plugin";

export const config: VendureConfig = {
  apiOptions: { port: 3000, adminApiPath: "admin-api", shopApiPath: "shop-api" },
  authOptions: { tokenMethod: ["bearer", "cookie"] },
  dbConnectionOptions: { type: "postgres" },
  paymentOptions: { paymentMethodHandlers: [] },
  plugins: [
    DefaultSchedulerPlugin.init(),
    DashboardPlugin.init({ route: "dashboard", appDir: "./dashboard" }),
    GiftcardPlugin.init({
      environment: "sandbox",
      baseUrl: "https://cards.example",
      apiKey: "built-without-a-key",
      companyId: "7",
      sealingKeys: [{ id: "build", key: "${Buffer.alloc(32, 7).toString("base64")}" }],
    }),
  ],
};
`;

const VITE = `import { pathToFileURL } from "node:url";
import { vendureDashboardPlugin } from "@vendure/dashboard/vite";
import { defineConfig } from "vite";

export default defineConfig({
  base: "/dashboard/",
  logLevel: "warn",
  build: { outDir: new URL("dashboard", import.meta.url).pathname },
  plugins: [
    vendureDashboardPlugin({
      vendureConfigPath: pathToFileURL(new URL("vendure-config.ts", import.meta.url).pathname),
      pluginPackageScanner: { nodeModulesRoot: new URL("node_modules", import.meta.url).pathname },
    }),
  ],
});
`;

/**
 * Builds the dashboard in a temporary folder. Takes about a minute.
 * @param {AbortSignal} [signal]
 * @returns {Promise<{ appDir: string, remove: () => Promise<void> }>} the folder to serve
 * @throws with the build's last output if it fails
 */
export async function buildVendureDashboard(signal) {
  const home = await mkdtemp(path.join(os.tmpdir(), "giftcard-dashboard-"));
  const remove = () => rm(home, { recursive: true, force: true });
  try {
    await installShop(home, signal);
    await writeFile(path.join(home, "package.json"), JSON.stringify({ private: true, type: "module" }));
    await writeFile(path.join(home, "vendure-config.ts"), CONFIG);
    await writeFile(path.join(home, "vite.config.mjs"), VITE);
    await runNode({
      name: "The dashboard's build",
      args: [path.join(home, "node_modules", "vite", "bin", "vite.js"), "build"],
      cwd: home,
      env: { NODE_ENV: "production", VENDURE_DISABLE_TELEMETRY: "true" },
      ...(signal && { signal }),
    });
    return { appDir: path.join(home, "dashboard"), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Links Vendure's packages, and unpacks the plugin as npm installs it. @param {string} home @param {AbortSignal} [signal] */
async function installShop(home, signal) {
  const installed = await installDashboard({ say: () => {}, ...(signal && { signal }) });
  const modules = path.join(home, "node_modules");
  await mkdir(path.join(modules, scope), { recursive: true });
  for (const name of await readdir(installed))
    if (name !== scope && !name.startsWith(".")) await symlink(path.join(installed, name), path.join(modules, name));
  for (const name of ["checkout", "client"])
    await symlink(path.join(root, "packages", name), path.join(modules, scope, name));
  const packed = await packPackages(["vendure"], path.join(home, "packed"), signal);
  const plugin = path.join(modules, scope, "vendure");
  await mkdir(plugin);
  await promisify(execFile)("tar", ["-xzf", String(packed[`${scope}/vendure`]), "--strip-components=1", "-C", plugin]);
}
