/**
 * Makes a built package reachable from CommonJS, without a second copy of anything: for each entry of its `exports` with
 * a `require` condition, a file that requires the ES module, and types that are the ES module's own.
 *
 *   node scripts/commonjs.mjs packages/client …
 */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";

/** @typedef {{ types: string, default: string }} Paths */

for (const folder of process.argv.slice(2)) {
  const { exports } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
  for (const entry of Object.values(exports)) {
    // One file for both is a script for pages, which has another entry's types.
    if (entry.require && entry.require.default !== entry.import.default) await writeEntry(folder, entry);
  }
}

/** @param {string} folder @param {{ import: Paths, require: Paths }} entry */
async function writeEntry(folder, { import: from, require: to }) {
  const code = path.resolve(folder, from.default);
  const types = typesOf(path.resolve(folder, from.types));
  const module = `"./${path.basename(code)}"`;
  const source = `${module} with { "resolution-mode": "import" };`;
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
  await writeFile(path.resolve(folder, to.default), `module.exports = require(${module});\n`);
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
