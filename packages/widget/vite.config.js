import path from "node:path";
import { defineConfig } from "vite";

/** Takes the indentation out of the templates, which a minifier leaves alone since it could be text. */
const flatTemplates = {
  name: "flat-templates",
  transform(code, id) {
    if (!id.startsWith(path.join(import.meta.dirname, "dist"))) return undefined;
    if (id.endsWith(".styles.js")) {
      return code
        .replace(/\s*\n\s*/g, "\n")
        .replace(/([{};,])\n/g, "$1")
        .replace(/([a-z-]): /g, "$1:");
    }
    return /\bhtml ?`/.test(code) ? code.replace(/>\n\s+/g, ">").replace(/\n\s+/g, "\n") : undefined;
  },
};

/** One file for a script tag: the compiled modules with Lit in them. Other languages lie beside it, by name. */
export default defineConfig({
  logLevel: "warn",
  plugins: [flatTemplates],
  build: {
    target: "es2022",
    outDir: "dist",
    emptyOutDir: false,
    modulePreload: false,
    lib: { entry: "dist/define.js", formats: ["es"], fileName: () => "giftcard-pay.standalone.js" },
    rolldownOptions: {
      output: {
        minify: true,
        comments: false,
        postBanner: "/*! giftcard-pay, MIT. Lit, BSD-3-Clause, (c) Google LLC */",
        chunkFileNames: "giftcard-pay.[name].js",
      },
    },
  },
});
