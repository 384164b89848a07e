import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import type pg from "pg";
import { cardHandlers } from "./handlers/cards.js";
import { eventHandlers } from "./handlers/events.js";
import { sessionHandlers } from "./handlers/session.js";
import { createApp } from "./http/app.js";
import type { Keyring } from "./keyring.js";
import type { Log } from "./log.js";
import { OperatorError } from "./operator-error.js";
import { findCompany } from "./store/accounts.js";

export type Environment = "live" | "sandbox";

export interface ServiceOptions {
  readonly pool: pg.Pool;
  readonly keys: Keyring;
  readonly environment: Environment;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly log: Log;
}

/** A service that answers. */
export interface RunningService {
  readonly url: string;
  /** Takes no new calls, and waits until those in flight are answered. The pool is left open. */
  close(): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const DRAIN_TIMEOUT_MS = 20_000;

/**
 * Starts the HTTP service over a migrated database.
 *
 * @throws {OperatorError} when the address cannot be listened on
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { pool, keys, environment, host, port, log } = options;
  const app = createApp({
    handlers: { ...sessionHandlers(pool), ...cardHandlers(pool, keys), ...eventHandlers(pool, keys) },
    findCompany: (apiKey) => findCompany(pool, apiKey),
    health: async () => {
      await pool.query("select 1");
      return { status: "ok", environment };
    },
    log,
  });
  const server = createAdaptorServer({
    fetch: app.fetch,
    serverOptions: { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS },
  }) as Server;
  await listen(server, port, host);
  const { address, family, port: taken } = server.address() as AddressInfo;
  const name = family === "IPv6" ? `[${address}]` : address;
  return { url: `http://${name}:${taken}`, close: () => drain(server) };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(new OperatorError(`Cannot listen on ${host}:${port} (${error.code}). Choose another --port or --host.`)),
    );
    server.listen(port, host, resolve);
  });
}

async function drain(server: Server): Promise<void> {
  // A connection that has just been answered becomes idle only now, so look again until none is left.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const giveUp = setTimeout(() => server.closeAllConnections(), DRAIN_TIMEOUT_MS);
  await new Promise<void>((resolve) => server.close(() => resolve()));
  clearInterval(sweep);
  clearTimeout(giveUp);
}
