/** Compiles the Vendure dashboard's extension. The dashboard's types are its sources, which report errors of their own. */
import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { installDashboard, link } from "../lib/install-vendure.mjs";

const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");

/** @param {string} root the repository @throws with the errors in the extension's own files */
export async function checkDashboardTypes(root) {
  // The extension finds the dashboard there. The other checks read this folder, so the link is removed again.
  const modules = path.join(root, "packages", "vendure", "src", "dashboard", "node_modules");
  await link(modules, await installDashboard({ say: () => {} }));
  const project = "packages/vendure/src/dashboard";
  /** @type {string} */
  const output = await new Promise((resolve, reject) => {
    const options = { cwd: root, maxBuffer: 64 * 1024 * 1024 };
    execFile(process.execPath, [tsc, "--project", project, "--pretty", "false"], options, (error, stdout) =>
      // 1 and 2: it has reported errors of types.
      error && error.code !== 1 && error.code !== 2 ? reject(error) : resolve(stdout),
    );
  }).finally(() => rm(modules));
  const own = output
    .split("\n")
    .filter((line) => path.posix.normalize(line).startsWith(project) || /^error TS/.test(line));
  if (own.length > 0) throw new Error(own.join("\n"));
}
