import fs from "node:fs";
import path from "node:path";
import { isAlive } from "./server.js";

/** Who brought the database of a data directory up: a service that stays, or a command that is soon done. */
export type OwnerRole = "serve" | "command";

interface Owner {
  readonly pid: number;
  /** When that process started, where the system tells, so that a number used again is not taken for it. */
  readonly startedAt: string;
  readonly role: OwnerRole;
}

const lockFile = (dataDir: string) => path.join(dataDir, "owner.json");

/** Reads who owns the database; undefined when nobody does or the owner is gone. */
export function readOwner(dataDir: string): Owner | undefined {
  const owner = parse(lockFile(dataDir));
  return owner && isAlive(owner.pid) && startOf(owner.pid) === owner.startedAt ? owner : undefined;
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
      if (moved && isAlive(moved.pid) && startOf(moved.pid) === moved.startedAt) {
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

function startOf(pid: number): string {
  try {
    // Field 22; the second may hold spaces, so count from its closing bracket.
    return fs.readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[19] ?? "";
  } catch {
    return "";
  }
}
