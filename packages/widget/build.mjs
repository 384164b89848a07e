/** Compiles the widget, makes its published types self-contained, and bundles the standalone file. */
import { execFileSync } from "node:child_process";
import { copyFile, readdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { build } from "vite";
import { compile } from "./scripts/compile.mjs";
import { writeFrameworkTypes } from "./scripts/framework-types.mjs";
import { writeLoaders } from "./scripts/languages.mjs";

const here = import.meta.dirname;
const dist = path.join(here, "dist");
const require = createRequire(import.meta.url);

writeLoaders();
compile(here);

// Copy the storefront's types, so that a page compiles without the server package.
const shapes = "@giftcard-pay/checkout/storefront";
await copyFile(path.join(here, "../checkout/dist/src/storefront.d.ts"), path.join(dist, "storefront.d.ts"));
await writeFile(path.join(dist, "storefront.js"), "export {};\n");
await copyFile(path.join(here, "src", "giftcard-pay.css"), path.join(dist, "giftcard-pay.css"));
await writeFile(path.join(dist, "giftcard-pay.css.d.ts"), "export {};\n");
for (const name of await readdir(dist, { recursive: true })) {
  if (!name.endsWith(".d.ts")) continue;
  const file = path.join(dist, name);
  const text = await readFile(file, "utf8");
  if (!text.includes(`"${shapes}"`)) continue;
  const local = path.posix.join(path.dirname(name) === "." ? "." : "..", "storefront.js");
  await writeFile(file, text.replaceAll(`"${shapes}"`, `"${local.startsWith(".") ? local : `./${local}`}"`));
}

// Write the custom elements manifest, and from it the data for editors and the types for frameworks.
execFileSync(process.execPath, [require.resolve("@custom-elements-manifest/analyzer/cem.js"), "analyze"], {
  cwd: here,
  stdio: ["ignore", "ignore", "inherit"],
});
await writeFrameworkTypes();

await build({ root: here, configFile: path.join(here, "vite.config.js") });
