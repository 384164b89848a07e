import { randomBytes } from "node:crypto";
import { startThrowawayPostgres } from "@giftcard-pay/service";
import pg from "pg";

/** A server for the duration of a test run. */
export interface TestPostgres {
  /** The server's address, as its superuser. */
  readonly url: string;
  /** Creates an empty database and returns its address. */
  createDatabase(name?: string): Promise<string>;
  stop(): Promise<void>;
}

/** Starts a throwaway PostgreSQL from the built service package. It needs no installation, and may run as root. */
export async function startPostgres(): Promise<TestPostgres> {
  const server = await startThrowawayPostgres();
  return {
    url: server.url,
    createDatabase: (name) => createDatabase(server.url, name),
    stop: () => server.close(),
  };
}

/** Drops a database. Waits for clients that are closing; ends those that stay connected. */
export async function dropDatabase(url: string): Promise<void> {
  const address = new URL(url);
  const name = address.pathname.slice(1);
  address.pathname = "/postgres";
  const client = new pg.Client({ connectionString: address.href });
  await client.connect();
  try {
    const drop = `drop database ${client.escapeIdentifier(name)}`;
    // Without "force", PostgreSQL waits for five seconds.
    await client.query(drop).catch(() => client.query(`${drop} with (force)`));
  } finally {
    await client.end();
  }
}

/**
 * Creates an empty database on a running server, for example one per test file.
 *
 * @param url the server's address
 * @param name letters, digits and underscores; random by default
 */
export async function createDatabase(url: string, name = `test_${randomBytes(6).toString("hex")}`): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`create database ${client.escapeIdentifier(name)}`);
  } finally {
    await client.end();
  }
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address.href;
}
