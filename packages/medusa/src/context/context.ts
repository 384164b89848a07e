import type { Engine, Sealer, Sql } from "@giftcard-pay/checkout/plugin";
import type { GiftcardClient } from "@giftcard-pay/client";
import type { MedusaContainer } from "@medusajs/framework/types";
import { GIFTCARD_MODULE } from "../names.js";
import type { Settings } from "../options.js";
import type { Announcer } from "./announcer.js";
import type { CartLeases } from "./cart-leases.js";

/** What the plugin's functions share. The module makes it, and Medusa's container holds it. */
export interface GiftcardContext {
  /** The money flow, on Medusa's database. */
  readonly engine: Engine;
  /** Runs one statement on Medusa's database, and commits it at once. */
  readonly sql: Sql;
  /** Keeps the shop's jobs apart at a cart's cards and payment, in all its processes. */
  readonly leases: CartLeases;
  /** Tells others what happens. */
  readonly announcer: Announcer;
  /** For a look at whether the service answers, and for events; money moves through the engine alone. */
  readonly client: GiftcardClient;
  /** For a count of what is sealed under which key. */
  readonly sealer: Sealer;
  readonly settings: Settings;
}

/** What the plugin's functions share, from Medusa's container or a request's. */
export const contextOf = (container: MedusaContainer): GiftcardContext =>
  container.resolve<GiftcardContext>(GIFTCARD_MODULE);
