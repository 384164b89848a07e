import type { GiftcardClient } from "@giftcard-pay/client";
import type { Logger, MedusaContainer } from "@medusajs/framework/types";
import type { Settings } from "./options.js";

/** The module's name, and its key in Medusa's container. */
export const EVENTS_MODULE = "giftcard_events";

/** Runs one statement on Medusa's database, and commits it at once. */
export type Sql = (text: string, params: unknown[]) => Promise<Record<string, unknown>[]>;

/** What the plugin's functions share. The module makes it, and Medusa's container holds it. */
export interface EventsContext {
  readonly sql: Sql;
  readonly client: GiftcardClient;
  /** The issuer and the company, as stored with each event that is sent: another issuer has none of them. */
  readonly issuer: string;
  readonly options: Settings;
  readonly logger: Logger;
}

/** What the plugin's functions share, from Medusa's container or a request's. */
export const contextOf = (container: MedusaContainer): EventsContext =>
  container.resolve<EventsContext>(EVENTS_MODULE);
