/**
 * Makes a built package reachable from CommonJS, without a second copy of anything. An entry of its `exports` says how:
 *
 * - `node`: its CommonJS is made from the ES modules, and Node's `import` gets the same by a file that names it.
 * - `require`: a file that requires the ES module.
 *
 * The types of both are the ES module's own. Its source map leads to the TypeScript, with the sources in it.
 *
 *   node scripts/build/commonjs.mjs packages/client …
 */
import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import ts from "typescript";

/** @typedef {{ types: string, default: string }} Paths */
/** @typedef {{ import: Paths, require: Paths }} Ways */

/** What ships ES modules only, with the notice that a copy of it carries: it goes into our CommonJS. */
const esModulesOnly = {
  jose: "jose, MIT, (c) Filip Skokan",
  "temporal-polyfill": "temporal-polyfill, MIT, (c) Adam Shaw",
  "temporal-utils": "temporal-utils, MIT, (c) Adam Shaw",
};

/** @param {string} id */
const isOfEsModulesOnly = (id) =>
  Object.keys(esModulesOnly).some((name) => id === name || id.startsWith(`${name}/`));

/** The compiled modules' own source maps, which the bundler doesn't look for. @type {import("rolldown").Plugin} */
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
  const inNode = entries.filter((entry) => entry.node);
  await writeCommonJs(
    folder,
    inNode.map((entry) => entry.default.default),
  );
  for (const entry of inNode) {
    const names = await writeTypes(folder, entry.default, entry.node.require);
    const all = `import all from "./${path.basename(entry.node.require.default)}";\n`;
    const source = names.length > 0 ? `${all}export const { ${names.join(", ")} } = all;\n` : "export {};\n";
    await writeFile(path.resolve(folder, entry.node.import.default), source);
  }
  for (const entry of entries) {
    // One file for both is a script for pages, which has another entry's types.
    if (!entry.require || entry.require.default === entry.import.default) continue;
    await writeTypes(folder, entry.import, entry.require);
    const source = `module.exports = require("./${path.basename(entry.import.default)}");\n`;
    await writeFile(path.resolve(folder, entry.require.default), source);
  }
}

/** Beside each of these modules a `.cjs`; what several of them share is there once. @param {string} folder @param {string[]} modules */
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
    // Nobody takes it for an ES module with a default export.
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

/** Writes the types for `require`. @param {string} folder @param {Paths} from @param {Paths} to @returns the names of the values */
async function writeTypes(folder, from, to) {
  const code = path.resolve(folder, from.default);
  const types = typesOf(path.resolve(folder, from.types));
  const source = `"./${path.basename(code)}" with { "resolution-mode": "import" };`;
  const values = Object.keys(await import(pathToFileURL(code).href));
  const lines = values.flatMap((name) => {
    const parameters = types.get(name);
    // A name that is given here hides all that `export *` brings under it, so a class is given as a type too.
    const type =
      parameters === undefined ? [] : [`export type ${name}${parameters} = esm.${name}${parameters};`];
    return [`export declare const ${name}: typeof esm.${name};`, ...type];
  });
  if (lines.length > 0) lines.unshift(`import type * as esm from ${source}`);
  await writeFile(
    path.resolve(folder, to.types),
    `${[...lines, `export type * from ${source}`].join("\n")}\n`,
  );
  return values;
}

/** The exported names that stand for a type, with their parameters, such as `<Detail>`. @param {string} file */
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
    throw new Error(`The bounds of ${symbol.name}'s type parameters can't be written for CommonJS yet.`);
  });
  return names.length > 0 ? `<${names.join(", ")}>` : "";
}
