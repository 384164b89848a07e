/** Checks that changes to the packages since the main branch have a changeset. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { runNode } from "../lib/process.mjs";

const changeset = fileURLToPath(new URL("../../node_modules/@changesets/cli/bin.js", import.meta.url));

/**
 * Returns the reason why no changeset is required. Until the packages' version is tagged, changes belong to that
 * upcoming release.
 *
 * @param {string} folder the repository
 * @param {string} version the packages' version
 * @returns {Promise<string | undefined>} undefined if a changeset is required
 */
export async function whyNoChangesets(folder, version) {
  if ((await git(folder, "rev-parse", "--verify", `v${version}^{commit}`)) === undefined)
    return `${version} is not released yet`;
  return (await findBase(folder)) === undefined ? "there is no main branch to compare with" : undefined;
}

/**
 * Runs Changesets on all changes since the main branch, including uncommitted ones.
 *
 * @param {string} folder
 * @throws {Error} with the output of Changesets, if a package changed without a changeset
 */
export async function checkChangesets(folder) {
  const args = [changeset, "status", "--since", (await findBase(folder)) ?? "HEAD"];
  await runNode({ name: "changeset status", args, cwd: folder, env: { NO_COLOR: "1" } });
}

/** Returns the commit at which this branch left its target branch. @param {string} folder */
async function findBase(folder) {
  const { GITHUB_BASE_REF: target } = process.env;
  for (const branch of [...(target ? [`origin/${target}`] : []), "origin/main", "main"]) {
    const base = await git(folder, "merge-base", "HEAD", branch);
    if (base !== undefined) return base;
  }
  return undefined;
}

/** @param {string} folder @param {string[]} args @returns {Promise<string | undefined>} undefined if git fails */
function git(folder, ...args) {
  return promisify(execFile)("git", args, { cwd: folder }).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
}
