/** Finds functions and files of the packages' sources that are longer than CONTRIBUTING.md allows. */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import ts from "typescript";

const MAX_FILE_LINES = 300;
const MAX_FUNCTION_LINES = 70;

/**
 * Lists functions and files that are too long. A function's lines don't include those of nested functions, because a
 * factory that returns ten methods is read method by method.
 * @param {string} root the repository
 * @returns {Promise<string[]>} with file, line and length
 */
export async function tooLong(root) {
  const found = [];
  for (const file of await listSources(root)) {
    const text = await readFile(path.join(root, file), "utf8");
    const count = text.trimEnd().split("\n").length;
    if (count > MAX_FILE_LINES) found.push(`${file}: ${count} lines, ${MAX_FILE_LINES} allowed`);
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    for (const { name, line, own } of functionsOf(source))
      if (own > MAX_FUNCTION_LINES) found.push(`${file}:${line} ${name}: ${own} lines of its own`);
  }
  return found;
}

/** @param {string} root */
async function listSources(root) {
  const packages = await readdir(path.join(root, "packages"));
  const lists = await Promise.all(
    packages.map(async (name) => {
      const folder = `packages/${name}/src`;
      const files = await readdir(path.join(root, folder), { recursive: true });
      return files.filter((file) => /\.tsx?$/.test(file)).map((file) => `${folder}/${file.replaceAll(path.sep, "/")}`);
    }),
  );
  return lists.flat().sort();
}

/** @param {ts.SourceFile} source */
function functionsOf(source) {
  /** @type {{ name: string, line: number, own: number }[]} */
  const found = [];
  const lineOf = (/** @type {number} */ at) => source.getLineAndCharacterOfPosition(at).line;
  /**
   * @param {ts.Node} node
   * @param {Set<number>} taken collects the lines of the functions inside the one around this node
   * @returns {void}
   */
  const visit = (node, taken) => {
    if (!isFunction(node)) {
      ts.forEachChild(node, (child) => visit(child, taken));
      return;
    }
    const [first, last] = [lineOf(node.getStart(source)), lineOf(node.end)];
    const lines = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    /** @type {Set<number>} */
    const inner = new Set();
    ts.forEachChild(node, (child) => visit(child, inner));
    found.push({
      name: nameOf(node, source),
      line: first + 1,
      own: lines.filter((line) => !inner.has(line)).length,
    });
    for (const line of lines) taken.add(line);
  };
  visit(source, new Set());
  return found;
}

/** @param {ts.Node} node @returns {node is ts.FunctionLikeDeclaration} */
const isFunction = (node) => ts.isFunctionLike(node) && "body" in node && node.body !== undefined;

/** @param {ts.FunctionLikeDeclaration} node @param {ts.SourceFile} source */
function nameOf(node, source) {
  if (node.name) return node.name.getText(source);
  const { parent } = node;
  const isNamed = ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent);
  return isNamed ? parent.name.getText(source) : "a function";
}
