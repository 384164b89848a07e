import { randomBytes } from "node:crypto";
import { startThrowawayPostgres } from "@giftcard-pay/service";
import pg from "pg";

/** A server that lives as long as a test run. */
export interface TestPostgres {
  /** The server's address, as its superuser. */
  readonly url: string;
  /** Makes an empty database and gives its address. */
  createDatabase(name?: string): Promise<string>;
  stop(): Promise<void>;
}

/** Starts a throw-away PostgreSQL from the built service package; nothing needs to be installed, root or not. */
export async function startPostgres(): Promise<TestPostgres> {
  const server = await startThrowawayPostgres();
  return {
    url: server.url,
    createDatabase: (name) => createDatabase(server.url, name),
    stop: () => server.close(),
  };
}

/** Removes a database and all that is in it, also while somebody is connected to it. */
export async function dropDatabase(url: string): Promise<void> {
  const address = new URL(url);
  const name = address.pathname.slice(1);
  address.pathname = "/postgres";
  const client = new pg.Client({ connectionString: address.href });
  await client.connect();
  try {
    await client.query(`drop database ${client.escapeIdentifier(name)} with (force)`);
  } finally {
    await client.end();
  }
}

/**
 * Makes an empty database on a running server, for example one per test file.
 *
 * @param url the server's address
 * @param name letters, digits and underscores; random when left out
 */
export async function createDatabase(
  url: string,
  name = `test_${randomBytes(6).toString("hex")}`,
): Promise<string> {
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
