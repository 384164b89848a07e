/**
 * The sizes of what a shop serves. Run by itself it writes those of the standalone file down, for the test that
 * compares them: a change of size is decided, not noticed later.
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";

const dist = path.join(import.meta.dirname, "..", "dist");
const written = path.join(import.meta.dirname, "..", "test", "sizes.json");

/** Bytes of a text as it is, and as the two usual compressions make it. @param {Buffer} code */
export function sizesOf(code) {
  return {
    minified: code.length,
    gzip: gzipSync(code, { level: 9 }).length,
    brotli: brotliCompressSync(code).length,
  };
}

/** Of the standalone file. */
export async function standaloneSizes() {
  return sizesOf(await readFile(path.join(dist, "giftcard-pay.standalone.js")));
}

/** Of the languages that lie beside it, by file. */
export async function languageSizes() {
  const names = (await readdir(dist)).filter((name) => /^giftcard-pay\.[a-z]{2}\.js$/.test(name)).sort();
  const sizes = await Promise.all(names.map(async (name) => sizesOf(await readFile(path.join(dist, name)))));
  return Object.fromEntries(names.map((name, index) => [name, sizes[index]]));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const sizes = await standaloneSizes();
  await writeFile(written, `${JSON.stringify(sizes, null, 2)}\n`);
  console.log(sizes, await languageSizes());
}
