// A minute of malformed input against the service: what its tests do for some seconds, for longer.
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "./build.mjs";
import { runNode } from "./process.mjs";

const require = createRequire(import.meta.url);
const vitest = path.join(path.dirname(require.resolve("vitest/package.json")), "vitest.mjs");
const seconds = process.argv[2] ?? "60";

await build(["service"], { progress: console.log });
const said = await runNode({
  name: "malformed input",
  args: [vitest, "run", "test/malformed.test.ts"],
  cwd: fileURLToPath(new URL("../packages/service", import.meta.url)),
  env: { MALFORMED_SECONDS: seconds },
});
console.log(said);
