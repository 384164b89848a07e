/** Finds comments that begin with a relative clause, which hides the subject. */
import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";

const FILES = "{packages,examples,scripts,site,test}/**/*.{ts,tsx,mts,js,mjs,cjs}";
const FOLDERS = /^(node_modules|dist|\.\w+)$/;
/** A block comment, or the first line of several. */
const CLAUSE = /(?:\/\*\*?\s*(?:\*\s*)?|(?<!\/\/[^\n]*\n\s*)\/\/ )(What|Where|Whoever|Whatever|Which)\b[^\n]*/g;

/** @param {string} root the repository @returns {Promise<string[]>} each as `file: comment` */
export async function hiddenSubjects(root) {
  const files = globSync(FILES, { cwd: root, exclude: (name) => FOLDERS.test(path.basename(name)) });
  const found = await Promise.all(
    files.sort().map(async (file) => {
      const text = await readFile(path.join(root, file), "utf8");
      return [...text.matchAll(CLAUSE)].map(([comment]) => `${file}: ${comment.trim()}`);
    }),
  );
  return found.flat();
}
