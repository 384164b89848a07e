import pg from "pg";
import type { DatabaseHost } from "./database-address.js";
import type { DatabaseHosts } from "./database-hosts.js";

/** PostgreSQL's code for a server, or a session, that takes no writes. */
export const READ_ONLY = "25006";
/** A connection that was in use for so long lets us look whether its host still answers. */
const LOOK_AFTER_MS = 3000;
const LOOK_TIMEOUT_MS = 2000;

/** A pooler doesn't take these: there they are set for the role. */
const ROLES_OWN = { statement_timeout: undefined, idle_in_transaction_session_timeout: undefined };

/** How a pool finds its database, besides what `pg` knows. */
export interface DatabaseOptions {
  /** Undefined: the one host that `pg` finds. */
  readonly hosts?: DatabaseHosts | undefined;
  /** The next transaction may come to another session: no statement is prepared by name, and none has a setting. */
  readonly isPooled?: boolean | undefined;
}

/** The host answers, and is not the one that takes writes. */
class WrongHostError extends Error {
  readonly code = READ_ONLY;
}

/** A connection to the host that was good last. It is given up where it can't be reached, or takes no writes. */
class HostClient extends pg.Client {
  readonly #hosts: DatabaseHosts | undefined;
  readonly #host: DatabaseHost | undefined;
  readonly #isPooled: boolean;
  readonly #generation: number;

  constructor(config: pg.ClientConfig & DatabaseOptions) {
    const { hosts, isPooled = false } = config;
    super(isPooled ? { ...config, ...ROLES_OWN } : config);
    this.#hosts = hosts;
    this.#isPooled = isPooled;
    this.#generation = hosts?.generation ?? 0;
    this.#host = hosts?.current;
    const { name, port } = this.#host ?? {};
    if (name !== undefined) this.host = name;
    if (port !== undefined) this.port = port;
    // Until the pool listens; what waits for an answer fails by itself.
    this.on("error", () => {});
    this.connection.on("errorMessage", ({ code }: { code?: string }) => {
      if (code === READ_ONLY) hosts?.giveUp(this.#generation);
    });
  }

  /** False once its host was given up. */
  get isCurrent(): boolean {
    return this.#hosts === undefined || this.#hosts.generation === this.#generation;
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error | null, client?: pg.Client) => void): void;
  override connect(callback?: (error: Error | null, client?: pg.Client) => void) {
    const connected = this.#connect();
    if (!callback) return connected;
    connected.then((client) => callback(null, client), callback);
    return undefined;
  }

  async #connect(): Promise<pg.Client> {
    try {
      await super.connect();
      if (this.#hosts) await this.#check(this.#hosts);
    } catch (error) {
      if (isHostsFault(error)) this.#hosts?.giveUp(this.#generation);
      this.end().catch(() => {});
      throw error;
    }
    this.#hosts?.arrived(this, this.#host);
    return this;
  }

  /** Asked by a statement: what a pooler says at the start may be of another day. */
  async #check({ target }: DatabaseHosts): Promise<void> {
    if (target === "any") return;
    const { rows } = await super.query<{ standby: boolean; readonly: boolean }>(
      "select pg_is_in_recovery() as standby, current_setting('transaction_read_only')::boolean as readonly",
    );
    const [found] = rows;
    if (found?.standby || (target === "read-write" && found?.readonly))
      throw new WrongHostError("This host of the database takes no writes.");
  }

  // biome-ignore lint/suspicious/noExplicitAny: every form of it that pg has
  override query(config: any, ...rest: any[]): any {
    const isNamed = this.#isPooled && typeof config?.name === "string";
    return (super.query as (...all: unknown[]) => unknown)(
      isNamed ? { ...config, name: undefined } : config,
      ...rest,
    );
  }
}

/** Not the user's, the password's or the database's: those are the same at the next host. */
const isHostsFault = (error: unknown) =>
  !(error instanceof pg.DatabaseError) || /^(57P0|08)/.test(error.code ?? "");

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: Error | boolean) => void,
) => void;

/** A pool that knows several hosts, and uses the one that takes writes. */
export class DatabasePool extends pg.Pool {
  readonly #config: pg.PoolConfig & DatabaseOptions;
  #looking: Promise<void> | undefined;

  constructor(config: pg.PoolConfig & DatabaseOptions) {
    super({ ...config, Client: HostClient } as unknown as pg.PoolConfig);
    this.#config = config;
    if (config.hosts && config.hosts.count > 1) this.#lookWhileHeld(config.hosts);
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected) {
    const connected = this.#connect();
    if (!callback) return connected;
    connected.then(
      (client) => callback(undefined, client, client.release),
      (error) => callback(error, undefined, () => {}),
    );
    return undefined;
  }

  async #connect(): Promise<pg.PoolClient> {
    const { hosts } = this.#config;
    let wrongHost: WrongHostError | undefined;
    for (let failures = 0; ; ) {
      const generation = hosts?.generation;
      try {
        const client = await super.connect();
        if ((client as unknown as HostClient).isCurrent) return client;
        client.release(true);
      } catch (error) {
        failures += 1;
        // It says more than that another host is down.
        if (error instanceof WrongHostError) wrongHost = error;
        if (!hosts || failures >= hosts.count || hosts.generation === generation) throw wrongHost ?? error;
      }
    }
  }

  /**
   * A host that is gone without a word leaves its callers waiting. So while one waits for long, we look with another
   * connection whether the host is still there; where the next one took over, those who wait are let go.
   */
  #lookWhileHeld(hosts: DatabaseHosts): void {
    const held = new Map<pg.PoolClient, NodeJS.Timeout>();
    this.on("acquire", (client) => {
      held.set(client, setInterval(() => this.#look(hosts), LOOK_AFTER_MS).unref());
    });
    this.on("release", (_error: Error, client: pg.PoolClient) => {
      clearInterval(held.get(client));
      held.delete(client);
    });
  }

  #look(hosts: DatabaseHosts): void {
    const look = async () => {
      for (let tried = 0; tried < hosts.count; tried++) {
        const client = new HostClient({ ...this.#config, connectionTimeoutMillis: LOOK_TIMEOUT_MS });
        const answers = await client.connect().then(
          () => true,
          () => false,
        );
        if (answers) return client.end();
      }
    };
    this.#looking ??= look().finally(() => (this.#looking = undefined));
  }
}
