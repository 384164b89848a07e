/** A user's Medusa store with the packed packages: its files, and its install by npm, or by pnpm in a workspace. */
import { execFile } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { readBlocks } from "../check/markdown.mjs";
import { OURS_FROM, outsideEnv, runNpm, withPnpm } from "./pack.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const exampleStore = path.join(root, "examples/medusa-store");

/** The options that `create-medusa-app` writes, except `strict`. It sets only `strictNullChecks`. */
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
 * Writes a store with the configuration and goods of the example store, and installs Medusa and all packages there.
 *
 * @param {object} options
 * @param {Record<string, string>} options.specs what npm installs, by the packages' names: tarballs, or names with versions
 * @param {string} options.node which Node runs npm and pnpm
 * @param {string} options.folder a new one
 * @param {string | undefined} options.release the release of Medusa; by default the example store's
 * @param {boolean} options.byPnpm as in Medusa's starter: pnpm, in a workspace beside a storefront with another React
 * @param {AbortSignal} [options.signal]
 * @returns {Promise<string>} the store's folder
 * @throws if the install fails, or warns about our packages' dependencies
 */
export async function installStore({ specs, node, folder, release, byPnpm, signal }) {
  const npm = (/** @type {string[]} */ ...args) => runNpm(args, { cwd: folder, node, ...(signal && { signal }) });
  const store = byPnpm ? path.join(folder, "apps/backend") : folder;
  await mkdir(store, { recursive: true });
  const medusa = await writeStore(store, release);
  if (!byPnpm) {
    checkWarnings(await npm("install", ...Object.values(specs)));
    return store;
  }
  const dashboard = await npm("view", `@medusajs/dashboard@${medusa}`, "dependencies", "--json", "--loglevel=error");
  const isPublished = !Object.values(specs).some((spec) => path.isAbsolute(spec));
  await writeWorkspace({ folder, store, specs, isPublished, medusa, ofDashboard: JSON.parse(dashboard) });
  // In CI, pnpm freezes the lockfile by default.
  const install = isPublished ? "pnpm install --no-frozen-lockfile" : await fromSource(folder, specs);
  const shell = { cwd: folder, env: outsideEnv(node), maxBuffer: 64 * 1024 * 1024, ...(signal && { signal }) };
  const { stdout, stderr } = await promisify(execFile)("sh", ["-euc", withPnpm(install)], shell);
  checkWarnings(stdout + stderr);
  return store;
}

/**
 * Puts the tarballs where docs/from-source.md has them, next to the workspace.
 * @param {string} folder @param {Record<string, string>} specs
 * @returns {Promise<string>} the commands of that page for pnpm
 */
async function fromSource(folder, specs) {
  const tarballs = path.join(folder, "../giftcard-packages");
  await mkdir(tarballs, { recursive: true });
  for (const tarball of Object.values(specs)) await cp(tarball, path.join(tarballs, path.basename(tarball)));
  const page = await readFile(path.join(root, "docs/from-source.md"), "utf8");
  const commands = readBlocks(page).find(({ text }) => text.includes("pnpm "));
  if (!commands) throw new Error("docs/from-source.md has no commands for pnpm.");
  return commands.text;
}

/** @param {string} said by npm or pnpm */
function checkWarnings(said) {
  const at = said.search(/ERESOLVE|peer dependenc/i);
  if (at < 0 || !said.slice(at).includes("@giftcard-pay/")) return;
  throw new Error(`The install warns about our packages' dependencies:\n${said.slice(-4000)}`);
}

/**
 * Writes the workspace around a store: the parts of Medusa's starter that affect packages.
 *
 * @param {object} options
 * @param {string} options.folder
 * @param {string} options.store
 * @param {Record<string, string>} options.specs
 * @param {boolean} options.isPublished whether the specs are names with versions, not tarballs
 * @param {string} options.medusa the release
 * @param {Record<string, string>} options.ofDashboard the versions in the dashboard, which the starter's pages also use
 */
async function writeWorkspace({ folder, store, specs, isPublished, medusa, ofDashboard }) {
  /** @param {[string, string]} entry */
  const wanted = ([name, spec]) => [name, isPublished ? spec.slice(name.length + 1) : `file:${spec}`];
  const ours = Object.fromEntries(Object.entries(specs).map(wanted));
  const backend = JSON.parse(await readFile(path.join(store, "package.json"), "utf8"));
  for (const name of ["@medusajs/admin-shared", "@medusajs/dashboard", "@medusajs/draft-order"])
    backend.dependencies[name] = medusa;
  for (const name of ["@medusajs/ui", "@tanstack/react-query", "react-i18next", "react-router-dom"])
    backend.dependencies[name] = ofDashboard[name];
  backend.name = "@dtc/backend";
  Object.assign(backend.dependencies, ours);
  const react = { react: ofDashboard.react, "react-dom": ofDashboard["react-dom"] };
  Object.assign(backend.devDependencies, react);
  await writeJson(store, "package.json", backend);
  const storefront = path.join(folder, "apps/storefront");
  await mkdir(storefront, { recursive: true });
  await writeJson(storefront, "package.json", {
    name: "@dtc/storefront",
    private: true,
    dependencies: {
      "@medusajs/js-sdk": medusa,
      "@medusajs/icons": medusa,
      react: "19.0.5",
      "react-dom": "19.0.5",
    },
  });
  // The service's PostgreSQL unpacks itself.
  const { allowScripts } = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));
  const onlyBuiltDependencies = Object.keys(allowScripts).filter((name) => allowScripts[name]);
  await writeJson(folder, "package.json", { name: "a-workspace", private: true, pnpm: { onlyBuiltDependencies } });
  const registry = process.env[OURS_FROM];
  if (registry !== undefined) await writeFile(path.join(folder, ".npmrc"), `@giftcard-pay:registry=${registry}\n`);
  await writeFile(
    path.join(folder, "pnpm-workspace.yaml"),
    'packages:\n  - "apps/**"\n  - "!apps/backend/.medusa/**"\n',
  );
}

/** @param {string} folder @param {string} name @param {object} value */
const writeJson = (folder, name, value) =>
  writeFile(path.join(folder, name), `${JSON.stringify(value, undefined, 2)}\n`);

/** @param {string} folder @param {string | undefined} release @returns {Promise<string>} the release of Medusa */
async function writeStore(folder, release) {
  await cp(path.join(exampleStore, "src"), path.join(folder, "src"), { recursive: true });
  await cp(path.join(root, "test/packed/medusa"), path.join(folder, "own"), { recursive: true });
  for (const name of ["medusa-config.ts", "medusa-config.mts"])
    await cp(path.join(exampleStore, "medusa-config.ts"), path.join(folder, name));
  const example = JSON.parse(await readFile(path.join(exampleStore, "package.json"), "utf8"));
  const dependencies = Object.fromEntries(
    Object.entries(example.dependencies).filter(([name]) => !name.startsWith("@giftcard-pay/")),
  );
  if (release !== undefined) for (const name of Object.keys(dependencies)) dependencies[name] = release;
  const medusa = dependencies["@medusajs/medusa"];
  await writeJson(folder, "package.json", {
    name: "a-medusa-store",
    private: true,
    dependencies,
    // As in a store by create-medusa-app.
    devDependencies: {
      "@swc/core": "^1.7.28",
      "@medusajs/test-utils": medusa,
      // The test runner of 2.16 and 2.17 requires this, but doesn't depend on it.
      ...(/^2\.1[67]\./.test(medusa) && { "pg-god": "^1.0.12" }),
      "@swc/jest": "^0.2.36",
      "@types/node": "^20.12.11",
      jest: "^29.7.0",
      "ts-node": "^10.9.2",
      typescript: "^5.6.2",
    },
  });
  const byBundler = { module: "esnext", moduleResolution: "bundler", target: "ES2022" };
  const commonJs = ["medusa-config.ts", "src", "own"];
  await writeJson(folder, "tsconfig.json", {
    "ts-node": { swc: true },
    compilerOptions: medusaOptions,
    include: commonJs,
    exclude: ["node_modules", ".medusa"],
  });
  await writeJson(folder, "tsconfig.esm.json", {
    compilerOptions: { ...medusaOptions, outDir: "esm" },
    files: ["medusa-config.mts"],
  });
  await writeJson(folder, "tsconfig.bundler.json", {
    compilerOptions: { ...medusaOptions, ...byBundler },
    include: [...commonJs, "medusa-config.mts"],
  });
  return medusa;
}
