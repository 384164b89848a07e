import { defineConfig, minify } from "vite";
import { languages, standaloneLoaders } from "./scripts/languages.mjs";
import { innerNames } from "./standalone/inner-names.js";

const languagesBeside = {
  name: "languages-beside",
  load: (id) => (id.endsWith("dist/messages/loaders.js") ? standaloneLoaders : undefined),
};

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
