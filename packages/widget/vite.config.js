import { readdirSync } from "node:fs";
import path from "node:path";
import { defineConfig, minify } from "vite";
import { innerNames } from "./standalone/inner-names.js";
import { leanLit } from "./standalone/lean-lit.js";

const here = import.meta.dirname;

/** Takes the white space out of templates and styles, which a minifier leaves alone since it could be text. */
const flatTemplates = {
  name: "flat-templates",
  transform(code, id) {
    if (!id.startsWith(path.join(here, "dist"))) return undefined;
    if (id.endsWith(".styles.js")) {
      return code
        .replace(/\s*\n\s*/g, "")
        .replace(/ ?([{;,>]) /g, "$1")
        .replace(/ ([{>])/g, "$1")
        .replace(/([a-z-]): /g, "$1:")
        .replace(/([:, (-])0\./g, "$1.")
        .replace(/ ([+~/]) /g, "$1")
        .replaceAll("@media (", "@media(")
        .replace(/="(\w+)"/g, "=$1")
        .replaceAll(";}", "}")
        .replace(/--_(\w)\w+/g, "--_$1")
        .replaceAll(" !important", "!important");
    }
    if (!/\bhtml ?`/.test(code)) return undefined;
    return code
      .replace(/(>|\})\s*\n\s*(?=<|\$\{)/g, "$1")
      .replace(/>\n\s+/g, ">")
      .replace(/\n\s+(?=[<>])/g, "")
      .replace(/\n\s+/g, "\n");
  },
};

/** Puts a smaller file in the place of Lit's for old browsers. */
const withoutFallbacks = {
  name: "without-fallbacks",
  enforce: "pre",
  resolveId(source, importer) {
    const isLits = source.endsWith("/css-tag.js") && importer?.includes("@lit/reactive-element");
    return isLits ? path.join(here, "standalone", "css-tag.js") : undefined;
  },
};

/** The languages lie beside the standalone file by name, and a try after a failure has another address. */
const languagesBeside = {
  name: "languages-beside",
  transform(code, id) {
    if (!id.endsWith("dist/messages/index.js")) return undefined;
    return code.replace(
      /\(_again\) => \(await import\("\.\/(\w+)\.js"\)\)/g,
      "(again) => (await import(/* @vite-ignore */ `./giftcard-pay.$1.js${again}`))",
    );
  },
};

const languages = readdirSync(path.join(here, "dist", "messages"))
  .map((name) => /^(?!en)([a-z]{2})\.js$/.exec(name)?.[1])
  .filter(Boolean);

/** Shortens the names that nobody outside says. Only the main file holds any, so no two files have to agree. */
const shortNames = {
  name: "short-names",
  renderChunk: (code, { fileName }) =>
    minify(fileName, code, { compress: false, mangle: false, mangleProps: { include: innerNames } }),
};

/** One file for a script tag: the compiled modules with Lit in them. Other languages lie beside it, by name. */
export default defineConfig({
  logLevel: "warn",
  plugins: [leanLit, withoutFallbacks, flatTemplates, languagesBeside, shortNames],
  build: {
    target: "es2022",
    outDir: "dist",
    emptyOutDir: false,
    modulePreload: false,
    lib: {
      entry: {
        standalone: "dist/define.js",
        ...Object.fromEntries(languages.map((language) => [language, `dist/messages/${language}.js`])),
      },
      formats: ["es"],
      fileName: (_, name) => `giftcard-pay.${name}.js`,
    },
    rolldownOptions: {
      output: {
        minify: true,
        comments: false,
        postBanner: "/*! giftcard-pay, MIT. Lit, BSD-3-Clause, (c) Google LLC */",
      },
    },
  },
});
