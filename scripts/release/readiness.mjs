/** Checks that the sources are ready for a release. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { workspaces } from "../packed/pack.mjs";
import { waitingChangesets } from "./version-places.mjs";

/**
 * @param {string} root the repository
 * @param {string} version the packages' version
 * @throws {Error} if a changeset is pending, or a changelog lacks the version
 */
export async function checkReady(root, version) {
  const waiting = await waitingChangesets(root);
  if (waiting.length > 0)
    throw new Error(
      `Changesets wait: ${waiting.join(", ")}. Run npm run release -- version, and commit what it wrote.`,
    );
  for (const name of workspaces) {
    const file = `packages/${name}/CHANGELOG.md`;
    const log = await readFile(path.join(root, file), "utf8");
    if (!log.includes(`\n## ${version}\n`)) throw new Error(`${file} has no entry for ${version}.`);
  }
}

/**
 * @param {string} root
 * @param {string} version
 * @throws {Error} if changes are uncommitted, or the commit isn't tagged with the version
 */
export async function checkTagged(root, version) {
  const git = async (/** @type {string[]} */ ...args) =>
    (await promisify(execFile)("git", args, { cwd: root })).stdout.trim();
  const changed = await git("status", "--porcelain");
  if (changed !== "") throw new Error(`Commit this first, or put it away:\n${changed}`);
  const tags = await git("tag", "--points-at", "HEAD");
  if (tags.split("\n").includes(`v${version}`)) return;
  throw new Error(
    `This commit isn't tagged as v${version}. Run git tag v${version}, and push the tag: CI releases it.`,
  );
}
