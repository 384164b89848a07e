import type pg from "pg";
import { cardHandlers } from "./handlers/cards.js";
import { eventHandlers } from "./handlers/events.js";
import { sessionHandlers } from "./handlers/session.js";
import { createApp } from "./http/app.js";
import { listen, type RunningServer } from "./http/server.js";
import type { Keyring } from "./keyring.js";
import type { Log } from "./log.js";
import { findCompany } from "./store/accounts.js";

export type Environment = "live" | "sandbox";

export interface ServiceOptions {
  /** Stays the caller's: it is left open when the service closes. */
  readonly pool: pg.Pool;
  readonly keys: Keyring;
  readonly environment: Environment;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly log: Log;
}

/**
 * Starts the HTTP service over a migrated database.
 *
 * @throws {OperatorError} when the address cannot be listened on
 */
export function startService(options: ServiceOptions): Promise<RunningServer> {
  const { pool, keys, environment, log } = options;
  const app = createApp({
    handlers: { ...sessionHandlers(pool), ...cardHandlers(pool, keys), ...eventHandlers(pool, keys) },
    findCompany: (apiKey) => findCompany(pool, apiKey),
    health: async () => {
      await pool.query("select 1");
      return { status: "ok", environment };
    },
    log,
  });
  return listen(app.fetch, options);
}
