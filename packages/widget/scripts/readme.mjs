/** Writes the tables of the README from the manifest, its languages and sizes. Run it after a change of the public API or of a size. */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { readElements, settable } from "./framework-types.mjs";
import { languages } from "./languages.mjs";

const readme = path.join(import.meta.dirname, "..", "README.md");
const recorded = path.join(import.meta.dirname, "..", "test", "sizes.json");
const marks = /(<!-- from the manifest: begin -->\n)[\s\S]*(<!-- from the manifest: end -->)/;
const sizes = /[\d.]+( kB with Brotli, of which Lit is )[\d.]+( kB; a bundler\s+produces )[\d.]+/;
const languageMarks = /(<!-- languages: begin -->\n)[\s\S]*(<!-- languages: end -->)/;

const code = (text) => `\`${text.replaceAll("|", "\\|")}\``;
const oneLine = (text = "") => text.replace(/\s+/g, " ").replaceAll("|", "\\|");

const line = (cells) => `| ${cells.join(" | ")} |`;

/** Returns a table, with only the names of rows that the text before has too. */
function table(before, title, head, rows) {
  if (rows.length === 0) return "";
  const [same, own] = [true, false].map((isSame) => rows.filter((row) => before.includes(line(row)) === isSame));
  const parts = [`**${title}**`];
  if (own.length > 0) parts.push([head, head.map(() => "---"), ...own].map(line).join("\n"));
  if (same.length > 0) parts.push(`As above: ${same.map(([name]) => name).join(", ")}.`);
  return `\n${parts.join("\n\n")}\n`;
}

function signature({ name, parameters = [], static: isStatic }, element) {
  const names = parameters.map((parameter) => (parameter.optional ? `${parameter.name}?` : parameter.name));
  return code(`${isStatic ? `${element}.` : ""}${name}(${names.join(", ")})`);
}

/** Returns the tables of an element. The text before has those of the others. */
function section(element, before) {
  const {
    tagName,
    description,
    members,
    events = [],
    slots = [],
    cssStates = [],
    cssParts = [],
    cssProperties = [],
  } = element;
  const named = (rows) => rows.map((row) => [code(row.name), oneLine(row.description)]);
  return [
    `### \`<${tagName}>\`\n\n${oneLine(description)}\n`,
    table(
      before,
      "Attributes and properties",
      ["Property", "Attribute", "Type", ""],
      settable(element).map(({ name, attribute, type, description: text }) => [
        code(name),
        attribute ? code(attribute) : "",
        code(type.text),
        oneLine(text),
      ]),
    ),
    table(
      before,
      "Read-only properties",
      ["Property", "Type", ""],
      members
        .filter(({ kind, readonly, static: isStatic }) => kind === "field" && readonly && !isStatic)
        .map(({ name, type, description: text }) => [code(name), code(type.text), oneLine(text)]),
    ),
    table(
      before,
      "Methods",
      ["Method", ""],
      members
        .filter(({ kind }) => kind === "method")
        .map((method) => [signature(method, element.name), oneLine(method.description)]),
    ),
    table(
      before,
      "Events",
      ["Event", "`detail`", ""],
      events.map(({ name, type, description: text }) => [
        code(name),
        code(type.text.replace(/^GiftcardEvent<(.*)>$/, "$1")),
        oneLine(text),
      ]),
    ),
    table(
      before,
      "CSS states",
      ["State", ""],
      cssStates.map((row) => [code(`:state(${row.name})`), oneLine(row.description)]),
    ),
    table(before, "Slots", ["Slot", ""], named(slots)),
    table(before, "Parts", ["Part", ""], named(cssParts)),
    table(
      before,
      "Custom properties",
      ["Custom property", "Default", ""],
      cssProperties.map((row) => [code(row.name), row.default ? code(row.default) : "", oneLine(row.description)]),
    ),
  ].join("");
}

function languageList() {
  const names = new Intl.DisplayNames("en", { type: "language" });
  const list = new Intl.ListFormat("en").format(languages.map((code) => `${names.of(code)} (\`${code}\`)`).sort());
  return `English is built in. These are loaded on demand: ${list}.`.replace(/(.{1,118})(?: |$)/g, "$1\n");
}

/** Returns the README as it is, and with the tables of the manifest, the languages and the sizes. */
export async function readmeFromManifest() {
  const before = await readFile(readme, "utf8");
  if (![marks, languageMarks, sizes].every((pattern) => pattern.test(before)))
    throw new Error("README.md misses the sizes, or the marks between which the tables or the languages go.");
  const { standalone, vite, parts } = JSON.parse(await readFile(recorded, "utf8"));
  const kB = (size) => (size / 1000).toFixed(1);
  let sections = "";
  for (const element of await readElements()) sections += `${sections && "\n"}${section(element, sections)}`;
  const after = before
    .replace(marks, (_, begin, end) => `${begin}\n${sections}\n${end}`)
    .replace(sizes, (_, lit, bundled) => `${kB(standalone)}${lit}${kB(parts.lit)}${bundled}${kB(vite)}`)
    .replace(languageMarks, (_, begin, end) => `${begin}\n${languageList()}\n${end}`);
  return { before, after };
}

/** Writes the tables and sizes into the README. */
export async function writeReadme() {
  await writeFile(readme, (await readmeFromManifest()).after);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await writeReadme();
