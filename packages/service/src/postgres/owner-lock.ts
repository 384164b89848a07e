import fs from "node:fs";
import path from "node:path";
import { isRunning, processNamespace, startOf } from "./processes.js";

/** Who brought the database of a data directory up: a service that stays, or a command that is soon done. */
export type OwnerRole = "serve" | "command";

interface Owner {
  readonly pid: number;
  readonly startedAt: string;
  /** Where that number means something: the same one may be another process in another container. */
  readonly namespace: string;
  readonly role: OwnerRole;
}

const lockFile = (dataDir: string) => path.join(dataDir, "owner.json");

/** An owner writes down so often that it lives, for those who can't see its process. */
const BEAT_MS = 2000;
const GONE_AFTER_MS = 15_000;
const beats = new Map<string, NodeJS.Timeout>();

/** Reads who owns the database; undefined when nobody does or the owner is gone. */
export function readOwner(dataDir: string): (Owner & { readonly isElsewhere: boolean }) | undefined {
  const owner = parse(lockFile(dataDir));
  return owner && isThere(owner, lockFile(dataDir))
    ? { ...owner, isElsewhere: isElsewhere(owner) }
    : undefined;
}

const isElsewhere = ({ namespace }: Owner) => namespace !== processNamespace();

/**
 * Takes the data directory for this process; a lock whose owner is gone is taken over.
 * PostgreSQL's own lock stands behind this one: two servers never open one cluster.
 *
 * @returns false when a living process has it
 */
export function takeOwnership(dataDir: string, role: OwnerRole): boolean {
  const file = lockFile(dataDir);
  const namespace = processNamespace();
  const own: Owner = { pid: process.pid, startedAt: startOf(process.pid), namespace, role };
  if (readOwner(dataDir)) return false;
  const draft = `${file}.${process.pid}`;
  fs.writeFileSync(draft, JSON.stringify(own), { mode: 0o600 });
  try {
    // Whoever renames the dead owner's file away first goes on; what he moved must still be the dead one's.
    const stale = `${file}.stale-${process.pid}`;
    if (rename(file, stale)) {
      const moved = parse(stale);
      if (moved && isThere(moved, stale)) {
        if (!fs.existsSync(file)) fs.renameSync(stale, file);
        return false;
      }
      fs.rmSync(stale, { force: true });
    }
    fs.linkSync(draft, file);
    beats.set(dataDir, setInterval(() => beat(file), BEAT_MS).unref());
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
  clearInterval(beats.get(dataDir));
  beats.delete(dataDir);
  const owner = parse(lockFile(dataDir));
  if (owner?.pid === process.pid && !isElsewhere(owner)) fs.rmSync(lockFile(dataDir), { force: true });
}

function beat(file: string): void {
  try {
    fs.utimesSync(file, new Date(), new Date());
  } catch {
    // The folder is gone, or full: whoever sees our process still knows.
  }
}

function isThere(owner: Owner, file: string): boolean {
  if (!isElsewhere(owner)) return isRunning(owner.pid) && startOf(owner.pid) === owner.startedAt;
  const { mtimeMs } = fs.statSync(file, { throwIfNoEntry: false }) ?? { mtimeMs: 0 };
  return Date.now() - mtimeMs < GONE_AFTER_MS;
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
