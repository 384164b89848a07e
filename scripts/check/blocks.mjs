/** Checks that each code block in the pages says how it is tested, and is tested that way. */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { runNode } from "../lib/process.mjs";
import { listPages, readBlocks } from "./markdown.mjs";

/**
 * The word after the language of a block:
 *
 * - `file=NAME`: a test writes it to this file and runs it.
 * - `run`: a test runs it, and finds it by its content.
 * - `typed`: `checkBlocks` compiles it as a module of its own.
 * - `shown`: it isn't tested, because it has gaps for the reader to fill or repeats another place.
 */
const WORD = /^(file=\S+|run|typed|shown)$/;

/** Declarations that blocks use from the reader's own code. */
const GIVEN = `
declare const sdk: import("@medusajs/js-sdk").default;
declare const cart: { id: string } & any;
declare const container: import("@medusajs/framework/types").MedusaContainer;
declare const orderId: string;
declare function showRemainder(cents: number): void;
`;

/**
 * Checks the blocks of all pages except the generated API reference. A block without a language is a diagram.
 *
 * @param {string} root the repository
 * @param {string} tsc TypeScript's command line
 * @throws {Error} with the blocks that have no such word, that no test reads, or that don't compile
 */
export async function checkBlocks(root, tsc) {
  const folders = [path.join(root, "test"), ...(await packageTests(root))];
  const tests = (await Promise.all(folders.map(readTests))).join("\n");
  const faults = [];
  const typed = [];
  for (const page of await listPages(root)) {
    for (const block of readBlocks(await readFile(path.join(root, page), "utf8"))) {
      const { language, words, line } = block;
      if (language === "") continue;
      const [word = ""] = words;
      if (words.length !== 1 || !WORD.test(word))
        faults.push(`${page}:${line}: say behind "${language}" whether it is file=NAME, run, typed or shown`);
      else if (word === "typed") typed.push({ page, ...block });
      else if (word !== "shown" && !tests.includes(`"${page}"`))
        faults.push(`${page}:${line}: no test names this page, so none runs the block`);
    }
  }
  faults.push(...(await compile(root, tsc, typed)));
  if (faults.length > 0) throw new Error(faults.join("\n"));
}

/** @param {string} root */
async function packageTests(root) {
  const names = await readdir(path.join(root, "packages"));
  return names.map((name) => path.join(root, "packages", name, "test"));
}

/** @param {string} folder @returns {Promise<string>} all tests' text */
async function readTests(folder) {
  const names = await readdir(folder, { recursive: true }).catch(() => /** @type {string[]} */ ([]));
  const files = names.filter((name) => name.endsWith(".test.ts"));
  return (await Promise.all(files.map((name) => readFile(path.join(folder, name), "utf8")))).join("\n");
}

/**
 * @param {string} root
 * @param {string} tsc
 * @param {({ page: string } & import("./markdown.mjs").Block)[]} blocks
 * @returns {Promise<string[]>} the compiler's errors, with the pages' lines
 */
async function compile(root, tsc, blocks) {
  // Inside the repository, so that the compiler can resolve the packages.
  const folder = path.join(root, "node_modules", ".cache", "giftcard-pay", "blocks");
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const files = blocks.map(({ language }, at) => `${at}.${language === "tsx" ? "tsx" : "mts"}`);
  for (const [at, file] of files.entries())
    await writeFile(path.join(folder, file), `${blocks[at]?.text}\nexport {};\n`);
  await writeFile(path.join(folder, "given.d.ts"), GIVEN);
  const compilerOptions = {
    ...{ target: "ES2023", lib: ["ES2024", "DOM", "DOM.Iterable"], types: ["node"], jsx: "react-jsx" },
    ...{ module: "ESNext", moduleResolution: "Bundler", strict: true, skipLibCheck: true, noEmit: true },
    typeRoots: [path.join(root, "node_modules", "@types")],
  };
  await writeFile(
    path.join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions, files: ["given.d.ts", ...files] }),
  );
  const args = [tsc, "--project", folder, "--pretty", "false"];
  try {
    await runNode({ name: "tsc", args, cwd: folder });
    return [];
  } catch (error) {
    const said = [...String(error).matchAll(/^(\d+)\.\w+\((\d+),\d+\): (.+)$/gm)];
    if (said.length === 0) throw error;
    return said.map(([, at, line, what]) => {
      const block = blocks[Number(at)];
      return `${block?.page}:${Number(block?.line) + Number(line)}: ${what}`;
    });
  }
}
