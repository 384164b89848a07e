/** Makes an older release of the same packages, to test upgrades. */
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { runNpm } from "./pack.mjs";

/**
 * Repacks packages under another version, including in their dependencies on each other and in their code.
 *
 * @param {Record<string, string>} tarballs as `packPackages` gives them
 * @param {string} version
 * @param {string} folder the working folder
 * @param {AbortSignal} [signal]
 * @returns {Promise<Record<string, string>>} each new tarball's path, by the package's name
 */
export async function packAs(tarballs, version, folder, signal) {
  /** @type {Record<string, string>} */
  const older = {};
  for (const [name, tarball] of Object.entries(tarballs)) {
    const cwd = path.join(folder, path.basename(tarball, ".tgz"));
    await mkdir(cwd, { recursive: true });
    await promisify(execFile)("tar", ["-xzf", tarball, "--strip-components=1", "-C", cwd]);
    const npm = (/** @type {string[]} */ ...args) => runNpm(args, { cwd, ...(signal && { signal }) });
    const before = JSON.parse(await readFile(path.join(cwd, "package.json"), "utf8"));
    await npm("version", version, "--no-git-tag-version", "--ignore-scripts");
    const ours = Object.keys(before.dependencies).filter((need) => need in tarballs);
    if (ours.length > 0) await npm("pkg", "set", ...ours.map((need) => `dependencies.${need}=${version}`));
    if (name === "@giftcard-pay/client") await renameInCode(path.join(cwd, "dist"), before.version, version);
    await npm("pack", "--ignore-scripts", "--pack-destination", folder);
    older[name] = path.join(folder, `${name.slice(1).replace("/", "-")}-${version}.tgz`);
  }
  return older;
}

/** Replaces the version in the code: the client sends it in each call, and the service in its answers. @param {string} folder @param {string} from @param {string} to */
async function renameInCode(folder, from, to) {
  let count = 0;
  for (const name of await readdir(folder)) {
    const file = path.join(folder, name);
    if (!/\.c?js$/.test(name)) continue;
    const text = await readFile(file, "utf8");
    const renamed = text.replace(`VERSION = "${from}"`, `VERSION = "${to}"`);
    if (renamed === text) continue;
    await writeFile(file, renamed);
    count++;
  }
  if (count === 0) throw new Error(`No file in ${folder} has the version ${from}.`);
}
