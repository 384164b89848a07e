/**
 * Measures the files that a shop serves. A test compares the standalone file with its recorded sizes, so that no change
 * makes it larger unnoticed.
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";

const dist = path.join(import.meta.dirname, "..", "dist");
const recorded = path.join(import.meta.dirname, "..", "test", "sizes.json");

/** Returns the bytes of a file: uncompressed, by gzip and by Brotli. @param {Buffer} code */
export function sizesOf(code) {
  return {
    minified: code.length,
    gzip: gzipSync(code, { level: 9 }).length,
    brotli: brotliCompressSync(code).length,
  };
}

/** Returns the sizes of the standalone file. */
export async function standaloneSizes() {
  return sizesOf(await readFile(path.join(dist, "giftcard-pay.standalone.js")));
}

/** Returns the sizes of the language files, by file name. */
export async function languageSizes() {
  const names = (await readdir(dist)).filter((name) => /^giftcard-pay\.[a-z]{2}\.js$/.test(name)).sort();
  const sizes = await Promise.all(names.map(async (name) => sizesOf(await readFile(path.join(dist, name)))));
  return Object.fromEntries(names.map((name, index) => [name, sizes[index]]));
}

/** Records the sizes of the standalone file in `test/sizes.json`. */
export async function recordSizes() {
  await writeFile(recorded, `${JSON.stringify(await standaloneSizes(), null, 2)}\n`);
}
