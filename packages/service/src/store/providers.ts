import type pg from "pg";
import { type Queryable, transaction } from "../database/database.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { type Act, writeAudit } from "./audit.js";

export interface Provider {
  readonly id: number;
  readonly name: string;
}

export async function listProviders(db: Queryable): Promise<Provider[]> {
  const { rows } = await db.query<Provider>("select id, name from providers order by id");
  return rows;
}

/**
 * Creates a provider.
 *
 * @throws {OperatorError} if one with this name exists
 */
export function createProvider(pool: pg.Pool, name: string, act: Act): Promise<Provider> {
  return transaction(pool, async (db) => {
    const { rows } = await db.query<Provider>(
      "insert into providers (name) values ($1) on conflict do nothing returning id, name",
      [name],
    );
    const provider = rows[0];
    if (!provider) throw new OperatorError("A provider with this name already exists.", exitCodes.conflict);
    await writeAudit(db, act, { action: "provider create", details: { provider: provider.id, name } });
    return provider;
  });
}
