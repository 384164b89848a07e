/**
 * Medusa's command line, with TypeScript files (medusa-config.ts, src/) readable by SWC.
 * An application made by `create-medusa-app` has ts-node for this and runs `medusa` itself.
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
