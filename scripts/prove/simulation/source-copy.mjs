/** Copies of the checkout's sources as JavaScript, which may have a defect. */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";
import { root } from "../../lib/command.mjs";

/** A small change of the source. @typedef {{ name: string, changes: readonly Change[] }} Defect */
/** @typedef {{ find: string, put: string }} Change */

const FOLDER = path.join(root, ".cache/simulation");
const source = path.join(root, "packages/checkout");
const parts = ["src", "testing", "test/simulation"];
const compilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.ESNext,
  verbatimModuleSyntax: true,
};
/** @param {string} text */
const toJavaScript = (text) => ts.transpileModule(text, { compilerOptions }).outputText;

/** Reads the list of defects. @returns {Promise<Defect[]>} */
export async function readDefects() {
  const [, ...entries] = (await readFile(new URL("defects.diff", import.meta.url), "utf8")).split(/^# /m);
  return entries.map((entry) => {
    const [name = "", ...lines] = entry.trimEnd().split("\n");
    const changes = lines.join("\n").match(/(?:^- .*\n?)+(?:^\+ .*\n?)*/gm) ?? [];
    const textOf = (/** @type {string} */ change, /** @type {string} */ sign) =>
      change.split("\n").flatMap((line) => (line.startsWith(sign) ? [line.slice(2)] : []));
    return {
      name,
      changes: changes.map((change) => ({ find: textOf(change, "-").join("\n"), put: textOf(change, "+").join("\n") })),
    };
  });
}

/** Reads the sources, by their paths in the package. */
export async function readSources() {
  /** @type {Map<string, string>} */
  const sources = new Map();
  for (const part of parts)
    for (const file of await readdir(path.join(source, part), { recursive: true }))
      if (/(?<!\.test)\.ts$/.test(file)) {
        const name = `${part}/${file.replaceAll(path.sep, "/")}`;
        sources.set(name, await readFile(path.join(source, name), "utf8"));
      }
  return sources;
}

/**
 * Makes a defect in the sources.
 *
 * @param {ReadonlyMap<string, string>} sources
 * @param {Defect} defect
 * @returns {Map<string, string>} the changed files
 * @throws {Error} unless each place occurs exactly once
 */
export function changedBy(sources, { name, changes }) {
  /** @type {Map<string, string>} */
  const changed = new Map();
  for (const { find, put } of changes) {
    const found = [...sources].filter(([file, text]) => file.startsWith("src/") && text.includes(find));
    const [file, text] = found[0] ?? [];
    if (file === undefined || text === undefined || found.length > 1 || text.split(find).length > 2)
      throw new Error(`The defect "${name}" has to change exactly one place of the source: ${find}`);
    changed.set(
      file,
      (changed.get(file) ?? text).replace(find, () => put),
    );
  }
  return changed;
}

/** Compiled files, by their text. @type {Map<string, string>} */
const compiled = new Map();

/**
 * Writes a copy of the sources.
 *
 * @param {ReadonlyMap<string, string>} sources
 * @param {string} name of its folder
 * @returns {Promise<{ run: URL, worker: URL, remove(): Promise<void> }>} its programs
 */
export async function writeCopy(sources, name) {
  const folder = path.join(FOLDER, name);
  for (const [file, text] of sources) {
    const target = path.join(folder, file.replace(/\.ts$/, ".js"));
    const script = compiled.get(text) ?? toJavaScript(text);
    compiled.set(text, script);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, script);
  }
  const at = (/** @type {string} */ file) => pathToFileURL(path.join(folder, "test/simulation", file));
  return { run: at("run.js"), worker: at("worker.js"), remove: () => rm(folder, { recursive: true, force: true }) };
}
