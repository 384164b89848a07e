import { defineConfig } from "vite";

/** One file for a script tag: the compiled modules with Lit in them. Other languages lie beside it, by name. */
export default defineConfig({
  logLevel: "warn",
  build: {
    target: "es2022",
    outDir: "dist",
    emptyOutDir: false,
    lib: { entry: "dist/define.js", formats: ["es"], fileName: () => "giftcard-pay.standalone.js" },
    rolldownOptions: { output: { minify: true, chunkFileNames: "giftcard-pay.[name].js" } },
  },
});
