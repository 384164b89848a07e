import { readFile } from "node:fs/promises";
import path from "node:path";
import { readBlocks as readAll } from "../../scripts/check/markdown.mjs";

/** A fenced block of a page: its language, the name of its file, if any, and its text. */
export interface Block {
  readonly language: string;
  readonly file: string | undefined;
  /** The block is marked `shown`: no test runs it. */
  readonly isShown: boolean;
  readonly text: string;
}

/** Reads the fenced blocks of a page, by its path in the repository. "```js file=shop.mjs" names a block's file. */
export async function readBlocks(page: string): Promise<Block[]> {
  const text = await readFile(path.resolve(import.meta.dirname, "../..", page), "utf8");
  return readAll(text).map(({ language, words, text: body }) => {
    const file = words.find((word) => word.startsWith("file="))?.slice("file=".length);
    return { language, file, isShown: words.includes("shown"), text: body };
  });
}

/**
 * Reads the block of a page that has this file name.
 *
 * @throws {Error} if the page has no such block
 */
export async function readBlock(page: string, file: string): Promise<string> {
  const block = (await readBlocks(page)).find((one) => one.file === file);
  if (!block) throw new Error(`${page} has no block "file=${file}".`);
  return block.text;
}
