/**
 * Measures the bytes that a page loads, after Brotli, and writes them to `test/sizes.json` and `docs/performance.md`. A
 * test compares them, so that no change makes the widget larger unnoticed.
 */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { build as buildByEsbuild } from "esbuild";
import ts from "typescript";
import { build } from "vite";
import { rewriteTemplates } from "./compile.mjs";
import { languages } from "./languages.mjs";

const here = path.join(import.meta.dirname, "..");
const dist = path.join(here, "dist");
const recorded = path.join(here, "test", "sizes.json");
const page = path.join(here, "..", "..", "docs", "performance.md");
const marks = /(<!-- sizes: begin -->\n)[\s\S]*(<!-- sizes: end -->)/;

/** Languages are files of their own in every bundle. */
const languageModules = languages.map((code) => `./${code}.js`);

const brotli = (code) => brotliCompressSync(code).length;

/**
 * Bundles a module in memory by Vite.
 * @param {string} entry a file
 * @param {object[]} [plugins]
 * @param {string[]} [external]
 * @returns {Promise<string>}
 */
export async function bundle(entry, plugins = [], external = languageModules) {
  const [{ output }] = await build({
    configFile: false,
    logLevel: "warn",
    plugins,
    // A test runner would choose Lit's development build.
    resolve: { conditions: ["module", "browser", "production"] },
    build: {
      write: false,
      target: "es2022",
      modulePreload: false,
      lib: { entry, formats: ["es"], fileName: "bundle" },
      rolldownOptions: { external, output: { minify: true, comments: false } },
    },
  });
  return output[0].code;
}

/** Makes a plugin whose entry `virtual.js` has this text. */
const virtual = (text) => ({
  name: "virtual",
  resolveId: (source) => (source.endsWith("virtual.js") ? path.join(dist, "virtual.js") : undefined),
  load: (id) => (id.endsWith("virtual.js") ? text : undefined),
});

const bundleText = (text, plugins = []) => bundle(path.join(dist, "virtual.js"), [virtual(text), ...plugins]);

const onlyGaps = (text) => text.replace(/[^\0]/g, "");

/** Empties the texts, styles or templates of the compiled modules. */
const without = {
  texts: (code, id) => (id.endsWith("messages/en.js") ? code.replace(/"(?:[^"\\]|\\.)*"/g, '""') : code),
  styles: (code) => emptyTemplates(code, "css"),
  templates: (code) => emptyTemplates(code, "html"),
};

function emptyTemplates(code, tag) {
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
  const transformers = { before: [rewriteTemplates({ [tag]: onlyGaps })] };
  return ts.transpileModule(code, { compilerOptions, transformers }).outputText;
}

/** Returns where the bytes of both elements are: what each part adds to those below it. */
async function sizesOfParts() {
  const parts = {};
  const removed = [];
  let before = brotli(await bundle(path.join(dist, "define.js")));
  for (const [part, remove] of Object.entries(without)) {
    const transform = (code, id) => (id.startsWith(dist) ? remove(code, id) : undefined);
    removed.push({ name: `without-${part}`, transform });
    const after = brotli(await bundle(path.join(dist, "define.js"), removed));
    parts[part] = before - after;
    before = after;
  }
  const lit = brotli(await bundleText('export { css, html, LitElement, nothing } from "lit";'));
  return { ...parts, logic: before - lit, lit };
}

/** Features, each with the compiled module that it is in, and what of it is left without the feature. */
const features = {
  "Number and PIN found in one text, such as an e-mail": [
    "entry-parser.js",
    (code) => `${code.split("export function parseEntry")[0]}export function parseEntry() {}`,
  ],
  "Digits in groups of four, with undo": [
    "digit-groups.js",
    () => "export const showGroups = () => {}; export const skipGap = () => {};",
  ],
  "Part of the page's form: validity, reset, disabled": [
    "form-associated-element.js",
    () => `import { GiftcardElement } from "./giftcard-element.js";
      export class FormAssociatedElement extends GiftcardElement { reflect() {} }`,
  ],
  "Languages on demand": ["messages/loaders.js", () => "export const loaders = {};"],
  "Figures that changed by themselves are explained": [
    "cart-view.js",
    (code) => `${code.split("export function changeText")[0]}export const changeText = () => "";`,
  ],
  "The cart is loaded again after a return, and until a payment is finished": [
    "cart-watch.js",
    () => "export class CartWatch {}",
  ],
  "Right amounts on pages whose texts are replaced (translators)": [
    "own-texts.js",
    () => "export const renderOwn = (own, _, render) => (render(), own);",
  ],
  "Refusals with advice and a retry": [
    "error-alert.js",
    () => "export const errorAlert = (words, error) => error.code;",
  ],
  "Messages for the page's developer": ["hint.js", () => "export const hint = () => {};"],
};

/** Returns what each feature costs: the bytes that the bundle would save without it. */
async function sizesOfFeatures() {
  const entry = path.join(dist, "define.js");
  const whole = brotli(await bundle(entry));
  const sizes = {};
  for (const [feature, [file, rest]] of Object.entries(features)) {
    const transform = (code, id) => (id === path.join(dist, file) ? rest(code) : undefined);
    sizes[feature] = whole - brotli(await bundle(entry, [{ name: "without-feature", transform }]));
  }
  return sizes;
}

async function sizeByEsbuild() {
  const { outputFiles } = await buildByEsbuild({
    entryPoints: [path.join(dist, "define.js")],
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: "es2022",
    legalComments: "none",
    external: languageModules,
  });
  return brotli(outputFiles[0].contents);
}

/** Returns all sizes in bytes after Brotli. The package must be built. */
export async function widgetSizes() {
  const alone = (name) => bundleText(`import { ${name} } from "./index.js"; ${name}.define();`);
  const files = languages.map((code) => `giftcard-pay.${code}.js`);
  const languageSizes = await Promise.all(
    files.map(async (name) => [name, brotli(await readFile(path.join(dist, name)))]),
  );
  const standalone = await readFile(path.join(dist, "giftcard-pay.standalone.js"));
  return {
    standalone: brotli(standalone),
    standaloneGzip: gzipSync(standalone, { level: 9 }).length,
    vite: brotli(await bundle(path.join(dist, "define.js"))),
    esbuild: await sizeByEsbuild(),
    pay: brotli(await alone("GiftcardPay")),
    balance: brotli(await alone("GiftcardBalance")),
    parts: await sizesOfParts(),
    features: await sizesOfFeatures(),
    languages: Object.fromEntries(languageSizes),
  };
}

const bytes = (size) => size.toLocaleString("en");

function table({ parts, features: costs, languages: files, ...sizes }) {
  const rows = (head, entries) =>
    `| ${head} | Bytes |\n|---|---|\n${entries.map(([name, size]) => `| ${name} | ${bytes(size)} |`).join("\n")}\n`;
  const elements = "`<giftcard-pay>` and `<giftcard-balance>`";
  return `
${rows("Loaded by a page", [
  [`Standalone file: ${elements}, with English and Lit`, sizes.standalone],
  ["The same with gzip", sizes.standaloneGzip],
  ["By Vite from `@giftcard-pay/widget/define`, with Lit", sizes.vite],
  ["The same by esbuild", sizes.esbuild],
  ["By Vite, `<giftcard-pay>` alone", sizes.pay],
  ["By Vite, `<giftcard-balance>` alone", sizes.balance],
  ...Object.entries(files).map(([name, size]) => [`\`${name}\`, on demand`, size]),
])}
Where the bytes of Vite's bundle are. Each row is what its part adds to the rows below it:

${rows("Part", [
  ["English texts", parts.texts],
  ["Styles", parts.styles],
  ["Templates", parts.templates],
  ["Logic", parts.logic],
  ["Lit", parts.lit],
])}
What the bundle would save without a feature:

${rows("Feature", [
  ["`<giftcard-balance>`", sizes.vite - sizes.pay],
  ...Object.entries(costs).toSorted(([, one], [, other]) => other - one),
])}`;
}

/** Records the sizes in `test/sizes.json` and `docs/performance.md`. */
export async function recordSizes() {
  const sizes = await widgetSizes();
  await writeFile(recorded, `${JSON.stringify(sizes, null, 2)}\n`);
  const text = await readFile(page, "utf8");
  if (!marks.test(text)) throw new Error("docs/performance.md misses the marks between which the sizes go.");
  await writeFile(
    page,
    text.replace(marks, (_, begin, end) => `${begin}${table(sizes)}${end}`),
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await recordSizes();
