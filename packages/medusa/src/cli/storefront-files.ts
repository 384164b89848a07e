import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, unlinkSync, writeFileSync } from "node:fs";
import path from "node:path";

/** A plugin's changes of a storefront's source. Paths are relative to the storefront's folder. */
export interface StorefrontChange {
  /** The plugin's own files. */
  readonly files: readonly { readonly file: string; readonly text: string }[];
  /** Lines of the storefront, each of which imports a module, and the plugin's lines in their place. */
  readonly imports: readonly { readonly file: string; readonly before: string; readonly after: string }[];
  /** The packages that the files import. */
  readonly packages: readonly string[];
}

/** How a storefront is changed. */
export interface StorefrontOptions {
  /** Undoes the change. */
  readonly remove: boolean;
  /** Changes nothing. */
  readonly dryRun: boolean;
}

/** The result for one file of the storefront. */
export interface StorefrontStep {
  readonly file: string;
  /** `kept`: a file of this name exists with other text. `by_hand`: the line isn't as expected. */
  readonly done: "written" | "removed" | "edited" | "already" | "kept" | "by_hand";
  /** The existing line, and the one to replace it with. */
  readonly line?: { readonly from: string; readonly to: string };
}

const OTHER_FILE = "There is a file of this name with other text. Move it away and run this again.";
const CHANGED = "This file was changed since it was added. Delete it yourself.";

/**
 * Adds a plugin's files to a storefront and points imports to them, or undoes that. Files that differ from what is expected are
 * left as they are. It is safe to repeat.
 *
 * @param folder the storefront's folder, with its package.json
 * @returns the result as text and for JSON, and whether nothing is left to do by hand
 */
export function changeStorefront(folder: string, change: StorefrontChange, options: StorefrontOptions) {
  const root = path.resolve(folder);
  const steps = [
    ...(options.remove ? removeFiles : addFiles)(root, change, options),
    ...replaceImports(root, change, options),
  ];
  const command = packagesLine(root, change, options);
  return {
    text: textOf(steps, command, options),
    result: { steps, ...(options.remove ? { uninstall: command } : { install: command }) },
    isDone: !steps.some(({ done }) => done === "kept" || done === "by_hand"),
  };
}

function addFiles(root: string, { files }: StorefrontChange, { dryRun }: StorefrontOptions): StorefrontStep[] {
  return files.map(({ file, text }): StorefrontStep => {
    const target = path.join(root, file);
    if (existsSync(target)) return { file, done: readFileSync(target, "utf8") === text ? "already" : "kept" };
    if (!dryRun) {
      mkdirSync(path.dirname(target), { recursive: true });
      writeFileSync(target, text);
    }
    return { file, done: "written" };
  });
}

function removeFiles(root: string, { files }: StorefrontChange, { dryRun }: StorefrontOptions): StorefrontStep[] {
  const steps = files.map(({ file, text }): StorefrontStep => {
    const target = path.join(root, file);
    if (!existsSync(target)) return { file, done: "already" };
    if (readFileSync(target, "utf8") !== text) return { file, done: "kept" };
    if (!dryRun) unlinkSync(target);
    return { file, done: "removed" };
  });
  // The deepest folder first.
  const folders = [...new Set(files.map(({ file }) => path.dirname(path.join(root, file))))];
  for (const folder of folders.sort((a, b) => b.length - a.length))
    if (!dryRun && existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder);
  return steps;
}

/** Returns the module that a line imports, with its quotes. */
const moduleOf = (line: string): string => /(["']).*\1/.exec(line)?.[0] ?? line;

/** Points the storefront's imports to the plugin's files, or back to its own. */
function replaceImports(root: string, { imports }: StorefrontChange, options: StorefrontOptions): StorefrontStep[] {
  return imports.map(({ file, before, after }): StorefrontStep => {
    const target = path.join(root, file);
    const line = options.remove ? { from: after, to: before } : { from: before, to: after };
    const text = existsSync(target) ? readFileSync(target, "utf8") : "";
    const isOurs = text.includes(moduleOf(after));
    if (isOurs !== options.remove) return { file, done: "already" };
    if (text.split(line.from).length !== 2) return { file, done: "by_hand", line };
    if (!options.dryRun) {
      const changed = text.replace(line.from, () => line.to);
      writeFileSync(target, changed);
    }
    return { file, done: "edited", line };
  });
}

/**
 * Returns the command that installs the missing packages, or uninstalls the present ones, by the lockfile in the folder or
 * above it.
 */
function packagesLine(root: string, { packages }: StorefrontChange, { remove }: StorefrontOptions): string | undefined {
  const { dependencies = {} } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  const names = packages.filter((name) => name in dependencies === remove).join(" ");
  if (!names) return undefined;
  for (let folder = root; ; folder = path.dirname(folder)) {
    const has = (file: string) => existsSync(path.join(folder, file));
    if (has("pnpm-lock.yaml")) return `pnpm ${remove ? "remove" : "add"} ${names}`;
    if (has("yarn.lock")) return `yarn ${remove ? "remove" : "add"} ${names}`;
    if (has("package-lock.json") || folder === path.dirname(folder))
      return `npm ${remove ? "uninstall" : "install"} ${names}`;
  }
}

function textOf(
  steps: readonly StorefrontStep[],
  command: string | undefined,
  { dryRun, remove }: StorefrontOptions,
): string {
  const words = {
    written: dryRun ? "would write  " : "written      ",
    removed: dryRun ? "would remove " : "removed      ",
    edited: dryRun ? "would edit   " : "edited       ",
    already: "already so   ",
    kept: "LEFT AS IT IS",
    by_hand: "BY HAND      ",
  };
  const lines = steps.flatMap(({ file, done, line }) => [
    `${words[done]}  ${file}`,
    ...(done === "kept" ? [`    ${remove ? CHANGED : OTHER_FILE}`] : []),
    ...(done === "by_hand" && line ? ["    In place of", `      ${line.from}`, "    write", `      ${line.to}`] : []),
  ]);
  if (command) lines.push("", "Then, in the storefront's folder:", `  ${command}`);
  return `${lines.join("\n")}\n`;
}
