/**
 * Installs Vendure for `packages/vendure` and `examples/vendure`, apart from the workspaces. Vendure keeps its entities and
 * services in its own modules, so the plugin and the shop must load the same copy: their `node_modules` are one folder.
 */
import { lstat, mkdir, readlink, rm, symlink } from "node:fs/promises";
import path from "node:path";
import { root } from "./command.mjs";
import { installLocked } from "./locked-folder.mjs";

const shop = path.join(root, "examples", "vendure");
const plugin = path.join(root, "packages", "vendure");

/** @param {{ say: (text: string) => void, signal?: AbortSignal }} options */
export async function installVendure({ say, signal }) {
  const modules = path.join(shop, "node_modules");
  await installLocked({ home: shop, what: "Vendure (170 MB)", say, ...(signal && { signal }) });
  await link(path.join(plugin, "node_modules"), modules);
  await mkdir(path.join(modules, "@giftcard-pay"), { recursive: true });
  await link(path.join(modules, "@giftcard-pay", "vendure"), plugin);
}

/**
 * Installs Vendure's dashboard in a folder of its own: it is four times as large as the rest, and only its extension needs it.
 *
 * @param {{ say: (text: string) => void, signal?: AbortSignal }} options
 * @returns {Promise<string>} its `node_modules`
 */
export async function installDashboard({ say, signal }) {
  const home = path.join(shop, "dashboard");
  const modules = path.join(home, "node_modules");
  await installLocked({ home, what: "Vendure's dashboard (780 MB)", say, ...(signal && { signal }) });
  return modules;
}

/** Makes a link to a folder. Windows needs no rights for a junction. @param {string} from @param {string} to */
export async function link(from, to) {
  const there = await lstat(from).catch(() => undefined);
  if (there?.isSymbolicLink() && path.resolve(path.dirname(from), await readlink(from)) === to) return;
  await rm(from, { recursive: true, force: true });
  const target = process.platform === "win32" ? to : path.relative(path.dirname(from), to);
  await symlink(target, from, "junction");
}
