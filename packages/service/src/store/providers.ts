import type { Queryable } from "../database.js";
import { exitCodes, OperatorError } from "../operator-error.js";

/** A ticketing provider. */
export interface Provider {
  readonly id: number;
  readonly name: string;
}

/** Lists the providers, oldest first. */
export async function listProviders(db: Queryable): Promise<Provider[]> {
  const { rows } = await db.query<Provider>("select id, name from providers order by id");
  return rows;
}

/**
 * Makes a provider.
 *
 * @throws {OperatorError} when there is one of this name
 */
export async function createProvider(db: Queryable, name: string): Promise<Provider> {
  const { rows } = await db.query<Provider>(
    "insert into providers (name) values ($1) on conflict do nothing returning id, name",
    [name],
  );
  if (!rows[0]) throw new OperatorError("A provider of this name exists already.", exitCodes.conflict);
  return rows[0];
}
