import { randomBytes } from "node:crypto";
import fs from "node:fs/promises";
import path from "node:path";
import pg from "pg";
import { exitCodes, OperatorError } from "../operator-error.js";
import { version } from "../version.js";
import { pickAccount, type RunAs } from "./binaries.js";
import { clusterDir } from "./server.js";

/** Folders whose content PostgreSQL creates at its start, or must not find. They are copied empty. */
const EMPTIED = [
  "pg_wal",
  "pg_replslot",
  "pg_dynshmem",
  "pg_notify",
  "pg_serial",
  "pg_snapshots",
  "pg_stat_tmp",
  "pg_subtrans",
];
const SKIPPED = ["postmaster.pid", "postmaster.opts", "backup_label", "tablespace_map"];
const PASSWORD_FILE = "postgres.password";
const CLUSTER = "postgres";
const NOTE = "backup.json";

/** The description of a backup, in its folder. */
export interface BackupNote {
  readonly made_at: string;
  readonly service_version: string;
  readonly bytes: number;
}

/**
 * Copies the cluster of a data directory while it is running: its files, and the WAL of the changes meanwhile.
 *
 * @param url the running server's address, as superuser
 * @param target a folder that does not exist yet. It is created only if the backup is complete
 * @param onProgress called after each file, with the bytes so far
 * @throws {OperatorError} if the folder exists
 */
export async function backUp({
  dataDir,
  url,
  target,
  onProgress,
}: {
  dataDir: string;
  url: string;
  target: string;
  onProgress?: (bytes: number) => void;
}): Promise<BackupNote> {
  const unfinished = `${target}.unfinished`;
  await refuseExisting(target);
  await fs.rm(unfinished, { recursive: true, force: true });
  await fs.mkdir(path.join(unfinished, CLUSTER), { recursive: true, mode: 0o700 });
  const db = new pg.Client({ connectionString: url });
  // If the connection breaks, the next statement fails.
  db.on("error", () => {});
  try {
    await db.connect();
    // Keeps the WAL until it is copied. The slot is temporary: it ends with the connection.
    const slot = `giftcard_backup_${randomBytes(6).toString("hex")}`;
    await db.query("select pg_create_physical_replication_slot($1, true, true)", [slot]);
    const begun = await db.query("select pg_walfile_name(pg_backup_start($1, true)) as file", [slot]);
    const source = clusterDir(dataDir);
    const cluster = path.join(unfinished, CLUSTER);
    let bytes = await copyFiles(source, cluster, onProgress);
    const ended = await db.query(
      "select labelfile, pg_walfile_name(lsn) as file from pg_backup_stop(wait_for_archive => false)",
    );
    await write(path.join(cluster, "backup_label"), ended.rows[0].labelfile);
    bytes += await copyWal(source, cluster, begun.rows[0].file, ended.rows[0].file);
    await copy(path.join(dataDir, PASSWORD_FILE), path.join(unfinished, PASSWORD_FILE));
    const note = { made_at: new Date().toISOString(), service_version: version, bytes };
    await write(path.join(unfinished, NOTE), `${JSON.stringify(note, null, 2)}\n`);
    await fs.rename(unfinished, target);
    return note;
  } catch (error) {
    await fs.rm(unfinished, { recursive: true, force: true });
    throw error;
  } finally {
    await db.end();
  }
}

/**
 * Copies a backup's cluster into a data directory without a database.
 *
 * @param onProgress called after each file, with the bytes so far and those of the backup
 * @returns the backup's description, and a function that removes the copy
 * @throws {OperatorError} if the folder is not a complete backup, or the directory holds a database
 */
export async function putBack({
  dataDir,
  source,
  dbUser,
  onProgress,
}: {
  dataDir: string;
  source: string;
  dbUser?: string | undefined;
  onProgress?: (bytes: number, total: number) => void;
}): Promise<{ note: BackupNote; undo: () => Promise<void> }> {
  let note: BackupNote;
  try {
    note = JSON.parse(await fs.readFile(path.join(source, NOTE), "utf8"));
  } catch {
    throw new OperatorError(`${source} is not a complete backup: it has no ${NOTE}.`);
  }
  const cluster = clusterDir(dataDir);
  const password = path.join(dataDir, PASSWORD_FILE);
  for (const file of [cluster, password]) await refuseExisting(file);
  await fs.mkdir(dataDir, { recursive: true });
  const undo = async () => {
    for (const file of [cluster, password]) await fs.rm(file, { recursive: true, force: true });
  };
  let bytes = 0;
  try {
    await copyTree(
      path.join(source, CLUSTER),
      cluster,
      pickAccount(dbUser, () => {}),
      (copied) => {
        bytes += copied;
        onProgress?.(bytes, note.bytes);
      },
    );
    await copy(path.join(source, PASSWORD_FILE), password);
  } catch (error) {
    await undo();
    throw error;
  }
  return { note, undo };
}

async function refuseExisting(file: string): Promise<void> {
  const found = await fs.lstat(file).catch(() => undefined);
  if (found) throw new OperatorError(`${file} already exists. Choose another place.`, exitCodes.conflict);
}

/** Copies the cluster's files while they change. Replaying the WAL makes them consistent. */
async function copyFiles(source: string, target: string, onProgress?: (bytes: number) => void): Promise<number> {
  let bytes = 0;
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await fs.readdir(path.join(source, folder), { withFileTypes: true })) {
      const name = path.join(folder, entry.name);
      if (SKIPPED.includes(name) || entry.name.startsWith("pgsql_tmp")) continue;
      if (entry.isDirectory()) {
        await fs.mkdir(path.join(target, name), { mode: 0o700 });
        if (!EMPTIED.includes(name)) await walk(name);
      } else if (name !== CONTROL_FILE) {
        bytes += await copyIfPresent(path.join(source, name), path.join(target, name));
        onProgress?.(bytes);
      }
    }
  };
  await walk("");
  for (const folder of ["archive_status", "summaries"])
    await fs.mkdir(path.join(target, "pg_wal", folder), { mode: 0o700 });
  // Must be copied last: it says how far the WAL must be replayed.
  return bytes + (await copyIfPresent(path.join(source, CONTROL_FILE), path.join(target, CONTROL_FILE)));
}

const CONTROL_FILE = path.join("global", "pg_control");

async function copyWal(source: string, target: string, first: string, last: string): Promise<number> {
  const names = await fs.readdir(path.join(source, "pg_wal"));
  const needed = names.filter((name) => /^[0-9A-F]{24}$/.test(name) && name >= first && name <= last);
  let bytes = 0;
  for (const name of needed) bytes += await copy(path.join(source, "pg_wal", name), path.join(target, "pg_wal", name));
  return bytes;
}

/** Copies a file. A file that is deleted meanwhile is skipped: the WAL has the deletion. */
async function copyIfPresent(from: string, to: string): Promise<number> {
  try {
    return await copy(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return 0;
    throw error;
  }
}

/** Copies a file and syncs it to disk. @returns its size in bytes */
async function copy(from: string, to: string): Promise<number> {
  await fs.copyFile(from, to);
  const file = await fs.open(to, "r+");
  try {
    await file.chmod(0o600);
    await file.sync();
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}

const write = (file: string, text: string) => fs.writeFile(file, text, { mode: 0o600, flush: true });

async function copyTree(from: string, to: string, runAs: RunAs, onFile: (bytes: number) => void): Promise<void> {
  const own = async (file: string) => {
    if (runAs.uid !== undefined && runAs.gid !== undefined) await fs.chown(file, runAs.uid, runAs.gid);
  };
  await fs.mkdir(to, { mode: 0o700 });
  await own(to);
  for (const entry of await fs.readdir(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isDirectory()) await copyTree(source, target, runAs, onFile);
    else {
      const bytes = await copy(source, target);
      await own(target);
      onFile(bytes);
    }
  }
}
