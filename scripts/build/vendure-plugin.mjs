/** Builds `packages/vendure`, after it has installed Vendure on first use. */
import { createRequire } from "node:module";
import { installVendure } from "../lib/install-vendure.mjs";
import { runNode } from "../lib/process.mjs";

const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
const say = (/** @type {string} */ text) => process.stdout.write(`${text}\n`);

await installVendure({ say });
await runNode({ name: "tsc", args: [tsc, "--project", "tsconfig.json"], cwd: process.cwd() });
