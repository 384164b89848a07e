/** Whether what changed in the packages since they left the main branch has a changeset. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { runNode } from "../process.mjs";

const changeset = fileURLToPath(new URL("../../node_modules/@changesets/cli/bin.js", import.meta.url));

/**
 * Why no changeset is asked for. Before the tag of the packages' version, what changes belongs to a release that isn't out.
 *
 * @param {string} folder the repository
 * @param {string} version the packages'
 * @returns {Promise<string | undefined>} undefined where one is asked for
 */
export async function whyNoChangesets(folder, version) {
  if ((await git(folder, "rev-parse", "--verify", `v${version}^{commit}`)) === undefined)
    return `${version} is not released yet`;
  return (await findBase(folder)) === undefined ? "there is no main branch to compare with" : undefined;
}

/**
 * Asks Changesets about all that changed since the main branch, also what isn't committed.
 *
 * @param {string} folder
 * @throws {Error} with what it says, where a package changed without a changeset
 */
export async function checkChangesets(folder) {
  const args = [changeset, "status", "--since", (await findBase(folder)) ?? "HEAD"];
  await runNode({ name: "changeset status", args, cwd: folder, env: { NO_COLOR: "1" } });
}

/** Where this branch left the one that it goes to. @param {string} folder */
async function findBase(folder) {
  const { GITHUB_BASE_REF: target } = process.env;
  for (const branch of [...(target ? [`origin/${target}`] : []), "origin/main", "main"]) {
    const base = await git(folder, "merge-base", "HEAD", branch);
    if (base !== undefined) return base;
  }
  return undefined;
}

/** @param {string} folder @param {string[]} args @returns {Promise<string | undefined>} undefined where git has no answer */
function git(folder, ...args) {
  return promisify(execFile)("git", args, { cwd: folder }).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
}
