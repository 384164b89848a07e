/**
 * Measures the files that a shop serves. Run as a program, it records the size of the standalone file in
 * `test/sizes.json`. A test compares the two, so that no change makes the file larger unnoticed.
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
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

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const sizes = await standaloneSizes();
  await writeFile(recorded, `${JSON.stringify(sizes, null, 2)}\n`);
  console.log(sizes, await languageSizes());
}
