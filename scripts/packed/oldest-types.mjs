/** The oldest TypeScript that the packages' types compile with. Their READMEs state it. */
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { runNpm } from "./pack.mjs";

/** The packages that each release is the oldest for. The types of `pg`, which the service's types import, need a newer one. */
export const oldestTypeScript = {
  5.4: ["client", "checkout", "events", "widget"],
  5.7: ["service"],
};

/** Entries whose types import those of a framework or a payment provider's SDK, and entries that are no modules. */
const skipped = /^\.\/(react|preact|solid|jsx|vue|svelte|stripe|mollie|.*\.(json|css))$/;

/** @type {Record<string, { module: string, extensions: string[] }>} */
const resolutions = {
  node16: { module: "node16", extensions: ["mts", "cts"] },
  bundler: { module: "esnext", extensions: ["mts"] },
  node10: { module: "commonjs", extensions: ["cts"] },
};

/**
 * Compiles a program that imports every entry of the packages, with each package's oldest TypeScript and without
 * `skipLibCheck`.
 *
 * @param {object} options
 * @param {string} options.folder a project in which the packages and `@types/node` are installed
 * @param {string} options.node runs npm and the compiler
 * @param {string[]} [options.by] the module resolutions; all by default
 * @param {AbortSignal} [options.signal]
 * @throws with the compiler's errors, those in dependencies' types included
 */
export async function checkOldestTypes({ folder, node, by = Object.keys(resolutions), signal }) {
  const early = signal ? { signal } : {};
  const aliases = Object.keys(oldestTypeScript).map((version) => `typescript-${version}@npm:typescript@${version}`);
  await runNpm(["install", "--save-dev", ...aliases], { cwd: folder, node, ...early });
  const sources = path.join(folder, "oldest-types");
  await mkdir(sources, { recursive: true });
  for (const [version, names] of Object.entries(oldestTypeScript)) {
    const program = (await Promise.all(names.map((name) => importAll(folder, name)))).join("");
    for (const extension of ["mts", "cts"]) await writeFile(path.join(sources, `all-${version}.${extension}`), program);
    for (const resolution of by) {
      const { module, extensions } = /** @type {{ module: string, extensions: string[] }} */ (resolutions[resolution]);
      const flags = ["--noEmit", "--strict", "--esModuleInterop", "--types", "node", "--pretty", "false"];
      const target = ["--target", "es2022", "--lib", "es2023,dom,dom.iterable"];
      const files = extensions.map((extension) => path.join(sources, `all-${version}.${extension}`));
      const tsc = path.join(folder, "node_modules", `typescript-${version}`, "bin", "tsc");
      const args = [tsc, ...flags, ...target, "--module", module, "--moduleResolution", resolution, ...files];
      await promisify(execFile)(node, args, { cwd: folder, ...early }).catch((error) => {
        throw new Error(`TypeScript ${version} by ${resolution}:\n${error.stdout || error}`);
      });
    }
  }
}

/** @param {string} folder @param {string} name */
async function importAll(folder, name) {
  const file = path.join(folder, "node_modules", "@giftcard-pay", name, "package.json");
  const { exports } = JSON.parse(await readFile(file, "utf8"));
  const entries = Object.keys(exports).filter((entry) => !skipped.test(entry));
  const lines = entries.map((entry, index) => {
    const id = `${name}${index}`;
    return `import * as ${id} from "@giftcard-pay/${name}${entry.slice(1)}";\nexport type All_${id} = typeof ${id};\n`;
  });
  return lines.join("");
}
