import fs from "node:fs";
import path from "node:path";
import { isRunning, processNamespace, startOf } from "./processes.js";

/** The owner of a data directory's database: a service, or a short command. */
export type OwnerRole = "serve" | "command";

interface Owner {
  readonly pid: number;
  readonly startedAt: string;
  /** The machine and container of `pid`: the same number may be another process elsewhere. */
  readonly namespace: string;
  readonly role: OwnerRole;
}

const lockFile = (dataDir: string) => path.join(dataDir, "owner.json");

/** How often an owner proves that it is alive, to processes in other containers. */
const BEAT_MS = 2000;
const GONE_AFTER_MS = 15_000;
const beats = new Map<string, NodeJS.Timeout>();

/** Reads the database's owner; undefined if there is none, or it is dead. */
export function readOwner(dataDir: string): (Owner & { readonly isElsewhere: boolean }) | undefined {
  const owner = parse(lockFile(dataDir));
  return owner && isAlive(owner, lockFile(dataDir)) ? { ...owner, isElsewhere: isElsewhere(owner) } : undefined;
}

const isElsewhere = ({ namespace }: Owner) => namespace !== processNamespace();

/**
 * Takes the data directory for this process, also from a dead owner. PostgreSQL's own lock still prevents two servers on
 * one cluster.
 *
 * @returns false if a living process owns it
 */
export function takeOwnership(dataDir: string, role: OwnerRole): boolean {
  const file = lockFile(dataDir);
  const namespace = processNamespace();
  const own: Owner = { pid: process.pid, startedAt: startOf(process.pid), namespace, role };
  if (readOwner(dataDir)) return false;
  const draft = `${file}.${process.pid}`;
  fs.writeFileSync(draft, JSON.stringify(own), { mode: 0o600 });
  try {
    // Of several processes, the first to rename the dead owner's file wins. The file may belong to a new owner by then.
    const stale = `${file}.stale-${process.pid}`;
    if (rename(file, stale)) {
      const moved = parse(stale);
      if (moved && isAlive(moved, stale)) {
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
    // The folder is deleted or full. Processes in this container still see this one.
  }
}

function isAlive(owner: Owner, file: string): boolean {
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
