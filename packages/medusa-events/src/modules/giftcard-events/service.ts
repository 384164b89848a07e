import { createClient, type GiftcardClient } from "@giftcard-pay/client";
import type { Logger } from "@medusajs/framework/types";
import type { EventsContext, Sql } from "../../context.js";
import { readOptions, type Settings } from "../../options.js";

/** The part of Medusa's knex that lends the pool's connections. */
interface ConnectionPool {
  readonly client: {
    acquireConnection(): Promise<{ query<Row>(text: string, params: unknown[]): Promise<{ rows: Row[] }> }>;
    releaseConnection(connection: object): Promise<void>;
  };
}

/** The plugin's module: checks the options, and creates the objects that all functions of the plugin share. */
export class EventsService implements EventsContext {
  readonly options: Settings;
  readonly client: GiftcardClient;
  readonly issuer: string;
  readonly logger: Logger;
  readonly #pool: ConnectionPool;

  constructor(container: { logger: Logger; __pg_connection__: ConnectionPool }, options: unknown) {
    this.options = readOptions(options);
    const { baseUrl, environment, allowHttp, apiKey, companyId, timeoutMs } = this.options;
    this.client = createClient({ baseUrl, environment, allowHttp, apiKey, companyId, timeoutMs });
    this.issuer = `${this.client.baseUrl} ${companyId}`;
    this.logger = container.logger;
    this.#pool = container.__pg_connection__;
  }

  /** Runs on a connection of its own, so that the statement commits at once, whatever transaction the caller is in. */
  readonly sql: Sql = async <Row>(text: string, params: unknown[]) => {
    const { client } = this.#pool;
    const connection = await client.acquireConnection();
    try {
      return (await connection.query<Row>(text, params)).rows;
    } finally {
      await client.releaseConnection(connection);
    }
  };
}
