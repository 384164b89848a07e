import type { Sql } from "@giftcard-pay/checkout/plugin";

interface PgClient {
  query(text: string, params: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

export interface ConnectionPool {
  client: {
    acquireConnection(): Promise<PgClient>;
    releaseConnection(connection: PgClient): Promise<void>;
    readonly pool: { readonly max: number };
  };
}

/** The number of database connections that all of this Medusa process share. */
export const connectionsOf = ({ client }: ConnectionPool): number => client.pool.max;

/**
 * Creates a runner that runs each statement on its own connection of Medusa's pool, so that it commits at once,
 * whatever transaction the caller is in.
 */
export function createStatementRunner({ client }: ConnectionPool): Sql {
  return async (text, params) => {
    const connection = await client.acquireConnection();
    try {
      return (await connection.query(text, params)).rows;
    } finally {
      await client.releaseConnection(connection);
    }
  };
}
