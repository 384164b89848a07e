import { type ChildProcess, execFile, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";

const { findBinaries, pickAccount, postgresEnv } = await import("../../../packages/service/dist/postgres/binaries.js");
const { initCluster } = await import("../../../packages/service/dist/postgres/server.js");
const { backUp, putBack } = await import("../../../packages/service/dist/postgres/backup.js");

const STARTS_WITHIN_MS = 60_000;
export const USER = "postgres";

/** The password of all members, and the folder of their data. */
export interface Site {
  readonly folder: string;
  readonly password: string;
}

/** One PostgreSQL of a pair, run from the built-in programs on a fixed port. */
export class Member {
  readonly #site: Site;
  readonly port: number;
  #generation = 0;
  #server: ChildProcess | undefined;
  #binDir = "";
  #runAs: ReturnType<typeof pickAccount> = {};

  constructor(site: Site, port: number) {
    this.#site = site;
    this.port = port;
  }

  /** The address of this server alone. Holds the password. */
  get url(): string {
    return `postgres://${USER}:${this.#site.password}@127.0.0.1:${this.port}/postgres`;
  }

  /** Makes a new, empty cluster. */
  async init(): Promise<void> {
    const dataDir = await this.#prepare();
    const options = { dataDir, binDir: this.#binDir, runAs: this.#runAs, durable: true };
    await initCluster(options, this.#site.password);
    fs.writeFileSync(path.join(dataDir, "postgres.password"), this.#site.password, { mode: 0o600 });
    await this.#start(dataDir, {});
  }

  /** Replaces its data with a copy of the primary, and follows the primary from there. */
  async follow(primary: Member): Promise<void> {
    const dataDir = await this.#prepare();
    const target = `${dataDir}.copy`;
    await backUp({ dataDir: primary.#dataDir, url: primary.url, target });
    await putBack({ dataDir, source: target });
    fs.rmSync(target, { recursive: true });
    this.#write(path.join(dataDir, "postgres", "standby.signal"), "");
    await this.#start(dataDir, {
      primary_conninfo: `host=127.0.0.1 port=${primary.port} user=${USER} password=${this.#site.password} application_name=member`,
    });
  }

  /** Promotes this standby, as an operator does. */
  async promote(): Promise<void> {
    const program = path.join(this.#binDir, "pg_ctl");
    const cluster = path.join(this.#dataDir, "postgres");
    const options = { ...this.#runAs, cwd: cluster, env: postgresEnv };
    await promisify(execFile)(program, ["promote", "-w", "-D", this.#seenFromInside(cluster)], options);
  }

  /** Kills all of its processes, as a power cut does. */
  async kill(): Promise<void> {
    const server = this.#server;
    if (server?.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const ended = new Promise((resolve) => server.once("exit", resolve));
    this.#signal("SIGKILL");
    await ended;
  }

  /** Stops it from answering without ending it, as behind a cut network. */
  freeze(): void {
    this.#signal("SIGSTOP");
  }

  async query(text: string): Promise<pg.QueryResult> {
    const client = new pg.Client({ connectionString: this.url });
    client.on("error", () => {});
    await client.connect();
    try {
      return await client.query(text);
    } finally {
      await client.end();
    }
  }

  #signal(signal: "SIGKILL" | "SIGSTOP"): void {
    const { pid } = this.#server as { pid: number };
    // Each process of PostgreSQL leads a group of its own.
    for (const one of [pid, ...childrenOf(pid)]) {
      try {
        process.kill(one, signal);
      } catch {
        // The process has already ended.
      }
    }
  }

  get #dataDir(): string {
    return path.join(this.#site.folder, `${this.port}-${this.#generation}`);
  }

  async #prepare(): Promise<string> {
    await this.kill();
    fs.rmSync(this.#dataDir, { recursive: true, force: true });
    this.#generation += 1;
    const dataDir = this.#dataDir;
    fs.mkdirSync(dataDir, { mode: 0o711 });
    this.#runAs = pickAccount(undefined, () => {});
    this.#binDir = (await findBinaries(this.#runAs)).binDir;
    return dataDir;
  }

  /** The path for a server that starts inside the folder: as root, we change the account only there. */
  #seenFromInside = (cluster: string) =>
    this.#runAs.uid !== undefined && process.platform === "linux" ? "/proc/self/cwd" : cluster;

  #write(file: string, text: string): void {
    fs.writeFileSync(file, text, { mode: 0o600 });
    const { uid, gid } = this.#runAs;
    if (uid !== undefined && gid !== undefined) fs.chownSync(file, uid, gid);
  }

  async #start(dataDir: string, more: Record<string, string>): Promise<void> {
    const settings = {
      port: String(this.port),
      listen_addresses: "127.0.0.1",
      unix_socket_directories: "",
      synchronous_commit: "on",
      // Empty until a standby follows: otherwise each commit waits for one.
      synchronous_standby_names: "",
      wal_keep_size: "512MB",
      ...more,
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
    const cluster = path.join(dataDir, "postgres");
    this.#write(path.join(cluster, "postgresql.auto.conf"), lines.join(""));
    const output = fs.openSync(path.join(dataDir, "postgres.log"), "a", 0o600);
    const server = spawn(path.join(this.#binDir, "postgres"), ["-D", this.#seenFromInside(cluster)], {
      ...this.#runAs,
      cwd: cluster,
      env: postgresEnv,
      stdio: ["ignore", output, output],
    });
    fs.closeSync(output);
    this.#server = server;
    for (const giveUpAt = Date.now() + STARTS_WITHIN_MS; ; await sleep(50)) {
      const answers = await this.query("select 1").then(
        () => true,
        () => false,
      );
      if (answers) return;
      if (Date.now() < giveUpAt && server.exitCode === null) continue;
      const log = fs.readFileSync(path.join(dataDir, "postgres.log"), "utf8").slice(-2000);
      throw new Error(`PostgreSQL at port ${this.port} did not start:\n${log}`);
    }
  }
}

function childrenOf(pid: number): number[] {
  if (process.platform !== "linux") return [];
  const text = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return text === "" ? [] : text.split(" ").map(Number);
}
