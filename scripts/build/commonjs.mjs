/**
 * Writes the CommonJS files of a built package: those that the `require` condition of its `exports` names.
 *
 * - If the entry also has `module-sync`, Node loads the ES module for `import` and `require` alike. The CommonJS build is
 *   for Jest and for bundlers that don't know that condition.
 * - Otherwise the file requires the ES module.
 *
 * The types are those of the ES module, except for files with types of an SDK that has others for `require`. Source maps point to the TypeScript sources, and contain them.
 *
 *   node scripts/build/commonjs.mjs packages/client …
 */
import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import ts from "typescript";

/** @typedef {{ types: string, default: string }} Paths */

/** Dependencies that publish only ES modules, with their copyright notices. Our CommonJS contains a copy of them. */
const esModulesOnly = {
  jose: "jose, MIT, (c) Filip Skokan",
  "temporal-polyfill": "temporal-polyfill, MIT, (c) Adam Shaw",
  "temporal-utils": "temporal-utils, MIT, (c) Adam Shaw",
};

/** SDKs whose types differ for `import` and `require`. */
const sdks = ["stripe", "@mollie/api-client"];

/** @param {string} id */
const isOfEsModulesOnly = (id) => Object.keys(esModulesOnly).some((name) => id === name || id.startsWith(`${name}/`));

/** Loads the source maps of the compiled modules, which the bundler ignores. @type {import("rolldown").Plugin} */
const withMaps = {
  name: "with-maps",
  load: {
    filter: { id: /[\\/]dist[\\/].*\.js$/ },
    async handler(id) {
      const map = await readFile(`${id}.map`, "utf8").catch(() => undefined);
      return map === undefined ? undefined : { code: await readFile(id, "utf8"), map };
    },
  },
};

for (const folder of process.argv.slice(2)) {
  const { exports } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
  /** @type {{ [condition: string]: any }[]} */
  const entries = Object.values(exports);
  await writeCommonJs(
    folder,
    entries.filter((entry) => entry["module-sync"]).map((entry) => entry.import.default),
  );
  for (const entry of entries) {
    // The standalone widget is one script for both. Its types are another entry's.
    if (!entry.require || entry.require.default === entry.import.default) continue;
    const types = path.resolve(folder, entry.import.types);
    if (await copyTypes(types)) continue;
    await writeTypes(folder, entry.import, entry.require);
    if (entry["module-sync"]) continue;
    const source = `module.exports = require("./${path.basename(entry.import.default)}");\n`;
    await writeFile(path.resolve(folder, entry.require.default), source);
  }
}

/** Writes a `.cjs` beside each of these modules. Code that they share is written once. @param {string} folder @param {string[]} modules */
async function writeCommonJs(folder, modules) {
  if (modules.length === 0) return;
  const dist = path.resolve(folder, "dist");
  await rm(path.join(dist, "shared"), { recursive: true, force: true });
  const bundle = await rolldown({
    input: Object.fromEntries(
      modules.map((file) => {
        const inside = path.relative(dist, path.resolve(folder, file));
        return [inside.replace(/\.js$/, ""), path.join(dist, inside)];
      }),
    ),
    platform: "node",
    plugins: [withMaps],
    external: (id) => !/^[./]/.test(id) && !path.isAbsolute(id) && !isOfEsModulesOnly(id),
    onLog(level, { message }) {
      if (level === "warn") throw new Error(message);
    },
  });
  await bundle.write({
    dir: dist,
    format: "cjs",
    exports: "named",
    // Don't set `__esModule`: users would then expect a default export.
    esModule: false,
    keepNames: true,
    sourcemap: true,
    entryFileNames: "[name].cjs",
    chunkFileNames: "shared/[name].cjs",
    postBanner: ({ moduleIds }) => {
      const copied = Object.entries(esModulesOnly).filter(([name]) =>
        moduleIds.some((id) => id.includes(`${path.sep}node_modules${path.sep}${name}${path.sep}`)),
      );
      return copied.map(([, notice]) => `/*! ${notice} */`).join("\n");
    },
  });
  await bundle.close();
}

/**
 * Copies types for `require`, if they use those of an SDK: a client of its ES module isn't one of its CommonJS. Other files
 * stay types of the ES module.
 * @param {string} file
 * @returns {Promise<boolean>} whether the file uses an SDK
 */
async function copyTypes(file) {
  const text = await readFile(file, "utf8");
  const isOfSdk = sdks.some((name) => text.includes(`from "${name}"`));
  const imports = [...text.matchAll(/from "(\.[^"]+)\.js"/g)].map(([, name]) => /** @type {string} */ (name));
  /** @type {Set<string>} */
  const copied = new Set();
  for (const name of imports) if (await copyTypes(path.resolve(path.dirname(file), `${name}.d.ts`))) copied.add(name);
  if (!isOfSdk && copied.size === 0) return false;
  const result = text
    .replace(
      /^import \{ (type .*) \} from "\./gm,
      (_, names) => `import type { ${names.replaceAll("type ", "")} } from ".`,
    )
    .replace(/ from "(\.[^"]+)\.js"/g, (_, name) =>
      copied.has(name) ? ` from "${name}.cjs"` : ` from "${name}.js" with { "resolution-mode": "import" }`,
    )
    .replace(/^\/\/# sourceMappingURL=.*\n?/m, "");
  await writeFile(file.replace(/\.ts$/, ".cts"), result);
  return true;
}

/** Writes the types for `require`. @param {string} folder @param {Paths} from @param {Paths} to */
async function writeTypes(folder, from, to) {
  const code = path.resolve(folder, from.default);
  const types = typesOf(path.resolve(folder, from.types));
  const source = `"./${path.basename(code)}" with { "resolution-mode": "import" };`;
  const values = Object.keys(await import(pathToFileURL(code).href));
  const lines = values.flatMap((name) => {
    const parameters = types.get(name);
    // The constant hides the class of `export *`, which is also a type, so declare that type again.
    const type = parameters === undefined ? [] : [`export type ${name}${parameters} = esm.${name}${parameters};`];
    return [`export declare const ${name}: typeof esm.${name};`, ...type];
  });
  if (lines.length > 0) lines.unshift(`import type * as esm from ${source}`);
  await writeFile(path.resolve(folder, to.types), `${[...lines, `export type * from ${source}`].join("\n")}\n`);
}

/** Returns the exported types and their type parameters, such as `<Detail>`. @param {string} file */
function typesOf(file) {
  const program = ts.createProgram([file], { module: ts.ModuleKind.NodeNext, noLib: true, types: [] });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  /** @type {Map<string, string>} */
  const types = new Map();
  for (const exported of module ? checker.getExportsOfModule(module) : []) {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
    if (!(symbol.flags & ts.SymbolFlags.Type)) continue;
    const isValue = symbol.flags & ts.SymbolFlags.Value;
    types.set(exported.name, isValue ? parametersOf(symbol) : "");
  }
  return types;
}

/** @param {ts.Symbol} symbol */
function parametersOf(symbol) {
  const declaration = symbol.declarations?.find((one) => ts.isClassDeclaration(one));
  const names = (declaration?.typeParameters ?? []).map((parameter) => {
    if (!parameter.constraint && !parameter.default) return parameter.name.text;
    throw new Error(`${symbol.name} has a bounded type parameter. This script can't write that for CommonJS yet.`);
  });
  return names.length > 0 ? `<${names.join(", ")}>` : "";
}
