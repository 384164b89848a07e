/**
 * Runs Medusa's command line with SWC, which compiles the TypeScript files (medusa-config.ts, src/).
 * An application by `create-medusa-app` uses ts-node and runs `medusa` directly.
 */
const { readFileSync } = require("node:fs");
const { transformSync } = require("@swc/core");

require.extensions[".ts"] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, "utf8"), {
    filename,
    sourceMaps: "inline",
    jsc: { parser: { syntax: "typescript" }, target: "es2022" },
    module: { type: "commonjs" },
  });
  module._compile(code, filename);
};
require("@medusajs/cli/cli.js");
