/** Writes the table of a plugin's options from their declaration. */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import ts from "typescript";
import { loadTypeScript, root } from "../lib/command.mjs";

/** The pages with a table of options, by the plugin's folder. */
const pages = {
  medusa: "docs/medusa-options.md",
  "medusa-events": "packages/medusa-events/README.md",
  vendure: "packages/vendure/README.md",
};

/** The plugins with options, by their packages' folders. */
export const pluginsWithOptions = /** @type {(keyof typeof pages)[]} */ (Object.keys(pages));
const TABLE = /^\| Option \| Meaning \| Default \|\n(?:\|.*\n)+/m;

/**
 * An option as its declaration describes it.
 * @typedef {object} Option
 * @property {string[]} path its name, after the names of the objects that hold it
 * @property {string} comment
 */

/**
 * Returns the plugin's page with the table from the declaration, and the declaration's faults.
 *
 * @param {keyof typeof pages} plugin its package's folder
 * @returns {Promise<{ file: string, text: string, faults: string[] }>}
 */
export async function pageWithOptions(plugin) {
  const file = pages[plugin];
  const declared = `packages/${plugin}/src/options.ts`;
  const options = optionsOf(await readFile(path.join(root, declared), "utf8"));
  const { declaration } = await loadTypeScript(declared);
  const read = await namesRead(`packages/${plugin}/src`);
  // The plugin passes objects of options on to checkout.
  const readInside = await namesRead("packages/checkout/src");
  const rows = [];
  const faults = [];
  for (const { path: names, comment } of options) {
    const name = names.join(".");
    const fault = (/** @type {string} */ text) => faults.push(`${declared}: the option ${name} ${text}`);
    const value = defaultOf(declaration, names);
    const [meaning = "", stated] = comment.split(/ ?Default: (.*)\.$/);
    const expected = value === REQUIRED || value === undefined ? undefined : textOf(name, value);
    const last = String(names.at(-1));
    if (!read.has(last) && !(names.length > 1 && readInside.has(last))) fault("isn't used. Use it, or remove it.");
    if (meaning === "") fault("has no comment. Give it one.");
    if (expected === undefined && stated !== undefined)
      fault(`has no default, but its comment states one: ${stated}. Remove it from the comment.`);
    else if (stated !== expected) fault(`has a default: its comment must end with "Default: ${expected}."`);
    rows.push(`| \`${name}\` | ${meaning} | ${value === REQUIRED ? "required" : (expected ?? "")} |`);
  }
  const page = await readFile(path.join(root, file), "utf8");
  if (!TABLE.test(page)) faults.push(`${file} has no table with Option, Meaning and Default.`);
  const table = `| Option | Meaning | Default |\n|---|---|---|\n${rows.join("\n")}\n`;
  return { file, text: page.replace(TABLE, () => table), faults };
}

/** Returns the names of all properties that a folder's code reads. @param {string} folder @returns {Promise<Set<string>>} */
async function namesRead(folder) {
  const names = new Set();
  const visit = (/** @type {ts.Node} */ node) => {
    if (ts.isPropertyAccessExpression(node)) names.add(node.name.text);
    else if (ts.isBindingElement(node)) names.add((node.propertyName ?? node.name).getText());
    ts.forEachChild(node, visit);
  };
  for (const file of await readdir(path.join(root, folder), { recursive: true }))
    if (/\.tsx?$/.test(file)) visit(parse(file, await readFile(path.join(root, folder, file), "utf8")));
  return names;
}

/** @param {string} file @param {string} source */
const parse = (file, source) => ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);

/** Returns the options in the order of their declaration. @param {string} source @returns {Option[]} */
function optionsOf(source) {
  const declaration = parse("options.ts", source)
    .statements.filter(ts.isVariableStatement)
    .flatMap((statement) => [...statement.declarationList.declarations])
    .find((one) => one.name.getText() === "declaration");
  if (!declaration?.initializer) throw new Error("A plugin's options.ts has no declaration.");
  return membersOf(declaration.initializer, []);
}

/** @param {ts.Node} node an object's schema, such as `z.strictObject({ … }).optional()` @param {string[]} parents @returns {Option[]} */
function membersOf(node, parents) {
  if (ts.isObjectLiteralExpression(node))
    return node.properties.filter(ts.isPropertyAssignment).flatMap((property) => {
      const names = [...parents, property.name.getText()];
      const [doc] = ts.getJSDocCommentsAndTags(property);
      const comment = (ts.getTextOfJSDocComment(doc?.comment) ?? "").replaceAll(/\s+/g, " ");
      const members = membersOf(property.initializer, names);
      // If an object's members have no comments, list only the object.
      const described = members.filter((member) => member.comment !== "");
      return [{ path: names, comment }, ...described];
    });
  return ts.isCallExpression(node)
    ? [node.expression, ...node.arguments].flatMap((child) => membersOf(child, parents))
    : ts.isPropertyAccessExpression(node)
      ? membersOf(node.expression, parents)
      : [];
}

const REQUIRED = Symbol("required");

/** Returns an option's default. @param {any} schema @param {string[]} names @returns {unknown} */
function defaultOf(schema, [name = "", ...names]) {
  const { success, data } = schema.shape[name].safeParse(undefined);
  if (!success) return REQUIRED;
  const value = names.reduce((parent, member) => parent?.[member], data);
  // Its members have defaults of their own.
  return typeof value === "object" ? undefined : value;
}

const units = /** @type {const} */ ([
  [86_400_000, "day"],
  [3_600_000, "hour"],
  [60_000, "minute"],
  [1000, "second"],
]);

/** @param {string} name @param {unknown} value */
function textOf(name, value) {
  if (typeof value !== "number") return `\`${value}\``;
  if (!name.endsWith("Ms")) return value.toLocaleString("en");
  const [ms, unit] = units.find(([length]) => value % length === 0) ?? [1, "millisecond"];
  return value === ms ? `1 ${unit}` : `${value / ms} ${unit}s`;
}
