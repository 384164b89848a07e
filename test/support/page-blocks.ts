import { readFile } from "node:fs/promises";
import path from "node:path";
import { readBlocks as readAll } from "../../scripts/check/markdown.mjs";

/** A fenced block of a page: its language, the file that it is, and its text. */
export interface Block {
  readonly language: string;
  readonly file: string | undefined;
  /** Nothing proves it. */
  readonly isShown: boolean;
  readonly text: string;
}

/** The fenced blocks of a page, by its path in the repository. A block names its file as in "```js file=shop.mjs". */
export async function readBlocks(page: string): Promise<Block[]> {
  const text = await readFile(path.resolve(import.meta.dirname, "../..", page), "utf8");
  return readAll(text).map(({ language, words, text: body }) => {
    const file = words.find((word) => word.startsWith("file="))?.slice("file=".length);
    return { language, file, isShown: words.includes("shown"), text: body };
  });
}

/**
 * The text of the page's block that is this file.
 *
 * @throws {Error} where the page has none
 */
export async function readBlock(page: string, file: string): Promise<string> {
  const block = (await readBlocks(page)).find((one) => one.file === file);
  if (!block) throw new Error(`${page} has no block "file=${file}".`);
  return block.text;
}
