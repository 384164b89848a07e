/** Tests the packages as users get them: packed, installed by npm into fresh projects, type-checked, and run. */
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { build } from "./build.mjs";
import { command, UsageError } from "./lib/command.mjs";
import { publishHere, tryFromRegistry } from "./packed/from-registry.mjs";
import { tryMedusa } from "./packed/medusa.mjs";
import { installNode, packPackages, workspaces } from "./packed/pack.mjs";
import { tryProject } from "./packed/project.mjs";
import { tryRuntimes } from "./packed/runtimes.mjs";
import { tryVendure } from "./packed/vendure.mjs";

/** The bounds of the Node versions in each package.json's `engines`. */
const versions = { oldest: "20.19.0", oldest22: "22.12.0", newest: "26" };

const HELP = `Packs the packages, installs them by npm into fresh projects outside of this repository, type-checks them there
by node16 and, as ES modules, by bundler, and runs a purchase: in ES modules, in CommonJS, and in a Medusa store, where
refunds, the admin's pages, the command line and Jest are tried too.

  npm run packed                         on Node ${Object.values(versions).join(", ")}
  npm run packed -- --node oldest        on one of: ${Object.keys(versions).join(", ")}, current, or a version such as 24.1.0
  npm run packed -- --no-medusa          without the Medusa store, which takes minutes to install
  npm run packed -- --medusa 2.18.0      only the Medusa store, with this release of Medusa or "latest"
  npm run packed -- --medusa 2.18.0 --pnpm   with pnpm 10, in a workspace with a storefront, like Medusa's starter
  npm run packed -- --vendure 3.7.3      only a Vendure shop, with this release of Vendure or "example" (two minutes)
  npm run packed -- --registry           publishes to a registry on this machine, and installs from there, on this Node;
                                         also tests an upgrade, npx, the plain shop, and the tag in pages
  npm run packed -- --runtimes           only client and checkout, in Bun, Deno and workerd, against a real service (a minute)
  npm run packed -- --keep               keeps the projects for inspection
`;

/**
 * @param {{ nodes: string[], withMedusa: boolean, medusa?: string | undefined,
 *   vendure?: string | undefined, byPnpm: boolean, byRegistry: boolean,
 *   inRuntimes: boolean, keep: boolean }} options
 * @param {AbortSignal} signal
 */
async function runAll({ nodes, withMedusa, medusa, vendure, byPnpm, byRegistry, inRuntimes, keep }, signal) {
  const startedAt = performance.now();
  const progress = (/** @type {string} */ text) => {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0).padStart(4);
    process.stdout.write(`${seconds} s  ${text}\n`);
  };
  const scratch = await mkdtemp(path.join(os.tmpdir(), "giftcard-packed-"));
  /** @type {{ stop: () => Promise<unknown> } | undefined} */
  let registry;
  try {
    const names = inRuntimes
      ? ["client", "events", "checkout", "service"]
      : vendure === undefined
        ? workspaces
        : ["client", "checkout", "service", "vendure"];
    await build(names, { signal, progress: (text) => text.endsWith("up to date") || progress(text) });
    progress("packing");
    const tarballs = await packPackages(names, path.join(scratch, "tarballs"), signal);
    if (inRuntimes) {
      await tryRuntimes({ tarballs, folder: path.join(scratch, "runtimes") }, { progress, signal });
    }
    if (vendure !== undefined) {
      const node = { version: process.versions.node, path: process.execPath };
      const shop = { specs: tarballs, folder: path.join(scratch, "vendure"), release: vendure, node };
      await tryVendure(shop, { progress, signal });
    }
    const isOther = inRuntimes || vendure !== undefined;
    const here = byRegistry ? await publishHere({ tarballs, folder: scratch, say: progress, signal }) : undefined;
    registry = here?.registry;
    const specs = here?.specs ?? tarballs;
    for (const name of isOther ? [] : nodes) {
      const version = /** @type {Record<string, string>} */ (versions)[name] ?? name;
      const node =
        name === "current"
          ? { version: process.versions.node, path: process.execPath }
          : await installNode(version, scratch, signal);
      progress(`Node ${node.version}`);
      const report = (/** @type {string} */ text) => progress(`  ${text}`);
      const kinds = medusa === undefined ? /** @type {const} */ (["esm", "cjs"]) : [];
      for (const kind of kinds) {
        const folder = path.join(scratch, `${kind}-${node.version}`);
        const project = { kind, specs, nodes: [node], folder, withFrameworks: true };
        for (const said of await tryProject(project, { progress: report, signal })) report(`${kind}: ${said}`);
        if (!keep) await rm(folder, { recursive: true, force: true });
      }
      if (here && medusa === undefined) {
        const folder = path.join(scratch, `from-registry-${node.version}`);
        await tryFromRegistry({ version: here.version, node, folder }, { progress: report, signal });
        if (!keep) await rm(folder, { recursive: true, force: true });
      }
      if (!withMedusa) continue;
      const folder = path.join(scratch, `medusa-${node.version}`);
      const store = { specs, node, folder, byPnpm, ...(medusa && { medusa }) };
      await tryMedusa(store, { progress: report, signal });
      if (!keep) await rm(folder, { recursive: true, force: true });
    }
    progress("all passed");
  } finally {
    await registry?.stop();
    if (keep) progress(`kept in ${scratch}`);
    else await rm(scratch, { recursive: true, force: true });
  }
}

const options = /** @type {const} */ ({
  node: { type: "string", multiple: true },
  medusa: { type: "string" },
  vendure: { type: "string" },
  pnpm: { type: "boolean" },
  registry: { type: "boolean" },
  "no-medusa": { type: "boolean" },
  runtimes: { type: "boolean" },
  keep: { type: "boolean" },
});

await command({ help: HELP, options }, async ({ values, signal }) => {
  const { medusa, vendure, pnpm: byPnpm = false, registry: byRegistry = false, keep = false } = values;
  const { runtimes: inRuntimes = false } = values;
  const isOnAll = medusa === undefined && !byRegistry;
  const nodes = values.node ?? (isOnAll ? Object.keys(versions) : ["current"]);
  const wrong = nodes.find((one) => !(one in versions || /^(current|\d+(\.\d+){0,2})$/.test(one)));
  if (wrong !== undefined) throw new UsageError(`"${wrong}" is not a Node version.`);
  const withMedusa = !values["no-medusa"];
  await runAll({ nodes, withMedusa, medusa, vendure, byPnpm, byRegistry, inRuntimes, keep }, signal);
});
