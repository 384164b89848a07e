import type { GiftcardClient } from "@giftcard-pay/client";
import type { Logger, MedusaContainer } from "@medusajs/framework/types";
import { z } from "@medusajs/framework/zod";
import type { Settings } from "./options.js";

/** The module's name, and its key in Medusa's container. */
export const EVENTS_MODULE = "giftcard_events";

/** Runs one statement on Medusa's database, and commits it at once. Its columns are the properties of `Row`. */
export type Sql = <Row>(text: string, params: unknown[]) => Promise<Row[]>;

/** A text that PostgreSQL can store: without NUL, and without half of a surrogate pair. */
export const storable = z
  .string()
  .refine((value) => value.isWellFormed() && !value.includes("\0"), "holds a character that can't be stored");

/** The objects that all functions of the plugin share. The module creates them, and Medusa's container holds them. */
export interface EventsContext {
  readonly sql: Sql;
  readonly client: GiftcardClient;
  /** Names the issuer and the company. Stored with each sent event, because another issuer doesn't have the event. */
  readonly issuer: string;
  readonly options: Settings;
  readonly logger: Logger;
}

/** Returns the plugin's context from Medusa's container or a request's. */
export const contextOf = (container: MedusaContainer): EventsContext => container.resolve<EventsContext>(EVENTS_MODULE);
