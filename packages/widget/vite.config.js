import { readdirSync } from "node:fs";
import path from "node:path";
import { defineConfig, minify } from "vite";
import { innerNames } from "./standalone/inner-names.js";

const here = import.meta.dirname;

/** Makes the standalone file load languages from files next to it, with a new URL after a failure. */
const languagesBeside = {
  name: "languages-beside",
  transform(code, id) {
    if (!id.endsWith("dist/messages/index.js")) return undefined;
    return code.replace(
      /\(_query\) => \(await import\("\.\/(\w+)\.js"\)\)/g,
      "(query) => (await import(/* @vite-ignore */ `./giftcard-pay.$1.js${query}`))",
    );
  },
};

const languages = readdirSync(path.join(here, "dist", "messages"))
  .map((name) => /^(?!en)([a-z]{2})\.js$/.exec(name)?.[1])
  .filter(Boolean);

/** Shortens internal property names. Only the main file has any, so they need not match across files. */
const shortNames = {
  name: "short-names",
  renderChunk: (code, { fileName }) =>
    minify(fileName, code, { compress: false, mangle: false, mangleProps: { include: innerNames } }),
};

/** Bundles the compiled modules and Lit as published into one file for a script tag, and each language into a file of its own. */
export default defineConfig({
  logLevel: "warn",
  plugins: [languagesBeside, shortNames],
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
