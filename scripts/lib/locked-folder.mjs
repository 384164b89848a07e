/** Folders with their own lockfile, for packages that are rarely needed. They are installed on first use. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

const STILL_AT_WORK_MS = 15_000;

/**
 * Installs the packages of a folder's lockfile, unless they are installed.
 *
 * @param {object} options
 * @param {string} options.home the folder
 * @param {string} options.what a description of the packages
 * @param {(text: string) => void} options.say
 * @param {AbortSignal} [options.signal]
 * @throws with npm's last output if it fails
 */
export async function installLocked({ home, what, say, signal }) {
  const stamp = path.join(home, "node_modules", ".installed");
  const lock = createHash("sha256").update(await readFile(path.join(home, "package-lock.json")));
  const wanted = lock.digest("hex");
  if ((await readFile(stamp, "utf8").catch(() => "")) === wanted) return;
  say(`installing ${what}: once, a minute or two`);
  const startedAt = performance.now();
  const seconds = () => ((performance.now() - startedAt) / 1000).toFixed(0);
  const progress = setInterval(() => say(`  still installing, ${seconds()} s`), STILL_AT_WORK_MS);
  try {
    await npmCi(home, signal);
  } finally {
    clearInterval(progress);
  }
  await writeFile(stamp, wanted);
  say(`  installed in ${seconds()} s`);
}

/** Runs npm ci, with the npm that started this process or the one on the PATH. @param {string} cwd @param {AbortSignal | undefined} signal */
async function npmCi(cwd, signal) {
  const script = process.env.npm_execpath;
  const [command, first] = script ? [process.execPath, [script]] : ["npm", []];
  const child = spawn(command, [...first, "ci"], {
    cwd,
    env: { ...process.env, MEDUSA_DISABLE_TELEMETRY: "true" },
    stdio: ["ignore", "pipe", "pipe"],
    shell: !script && process.platform === "win32",
    ...(signal && { signal }),
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  /** @type {number | null} */
  const code = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0) throw new Error(`npm ci failed (${code}) in ${cwd}:\n${output.slice(-4000)}`);
}
