import fs from "node:fs";
import path from "node:path";
import { isRunning, startOf } from "./processes.js";

/** Who brought the database of a data directory up: a service that stays, or a command that is soon done. */
export type OwnerRole = "serve" | "command";

interface Owner {
  readonly pid: number;
  readonly startedAt: string;
  readonly role: OwnerRole;
}

const lockFile = (dataDir: string) => path.join(dataDir, "owner.json");

/** Reads who owns the database; undefined when nobody does or the owner is gone. */
export function readOwner(dataDir: string): Owner | undefined {
  const owner = parse(lockFile(dataDir));
  return owner && isThere(owner) ? owner : undefined;
}

/**
 * Takes the data directory for this process; a lock whose owner is gone is taken over.
 * PostgreSQL's own lock stands behind this one: two servers never open one cluster.
 *
 * @returns false when a living process has it
 */
export function takeOwnership(dataDir: string, role: OwnerRole): boolean {
  const file = lockFile(dataDir);
  const own: Owner = { pid: process.pid, startedAt: startOf(process.pid), role };
  if (readOwner(dataDir)) return false;
  const draft = `${file}.${process.pid}`;
  fs.writeFileSync(draft, JSON.stringify(own), { mode: 0o600 });
  try {
    // Whoever renames the dead owner's file away first goes on; what he moved must still be the dead one's.
    const stale = `${file}.stale-${process.pid}`;
    if (rename(file, stale)) {
      const moved = parse(stale);
      if (moved && isThere(moved)) {
        if (!fs.existsSync(file)) fs.renameSync(stale, file);
        return false;
      }
      fs.rmSync(stale, { force: true });
    }
    fs.linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    fs.rmSync(draft, { force: true });
  }
}

/** Gives the data directory back. */
export function releaseOwnership(dataDir: string): void {
  if (parse(lockFile(dataDir))?.pid === process.pid) fs.rmSync(lockFile(dataDir), { force: true });
}

const isThere = (owner: Owner) => isRunning(owner.pid) && startOf(owner.pid) === owner.startedAt;

function parse(file: string): Owner | undefined {
  try {
    return JSON.parse(fs.readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

function rename(from: string, to: string): boolean {
  try {
    fs.renameSync(from, to);
    return true;
  } catch {
    return false;
  }
}
