import { setTimeout as sleep } from "node:timers/promises";
import { StoreError } from "../migrations.js";
import type { Sql } from "../sql/database.js";
import type { PgPool } from "./migrate.js";

const WAITS_MS = [50, 200, 800];

/** The SQLSTATE of a failed connection, or of a server that stops, crashes or starts; and the codes of a failed socket. */
const LOST_CODES =
  /^(08...|57P0[123]|ECONNRESET|ECONNREFUSED|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;
/** `pg` has no code for these. */
const LOST_MESSAGES =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect)/;

function isLost(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return code === undefined ? LOST_MESSAGES.test(String(message)) : LOST_CODES.test(String(code));
}

/**
 * Retries statements on a new connection if theirs is lost. The lost attempt may have been committed, or be committed later.
 * So a statement has to be idempotent, or a compare-and-set that has `whenLost`.
 *
 * @param where the schema, for the error
 * @throws {StoreError} connection_lost
 */
export function retryLostConnections(pool: PgPool, where: string): Sql {
  return async (text, params, whenLost) => {
    for (let losses = 0; ; losses++) {
      try {
        const { rows } = await pool.query(text, params);
        if (rows.length > 0 || losses === 0 || typeof whenLost !== "object") return rows;
        return (await pool.query(...whenLost)).rows;
      } catch (error) {
        if (!isLost(error)) throw error;
        if (whenLost === "ignore") return [];
        const waitMs = WAITS_MS[losses];
        if (waitMs === undefined) throw new StoreError("connection_lost", where, { cause: error });
        await sleep(waitMs);
      }
    }
  };
}
