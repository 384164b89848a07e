import { GiftcardError } from "@giftcard-pay/client";
import { MedusaError } from "@medusajs/framework/utils";
import { z } from "@medusajs/framework/zod";
import type { EventSettings } from "../../../context/options.js";
import { type AdminCall, adminRoute } from "./admin-route.js";

/** What a route about the shop's shows gets. */
interface EventCall extends AdminCall {
  readonly settings: EventSettings;
}

/** Makes a route that is there only in a shop that sells shows. */
export const eventRoute = <T>(call: (context: EventCall) => Promise<T>) =>
  adminRoute((context) => {
    const settings = context.giftcard.settings.events;
    if (settings) return call({ ...context, settings });
    const message = "This shop tells nobody of its events: the plugin's option `events` isn't set.";
    throw new MedusaError(MedusaError.Types.NOT_FOUND, message);
  });

const keysSchema = z.array(z.string().min(1).max(200)).min(1).max(500);

/** Reads which events are asked for: `{ keys: [...] }`, at most 500. @throws {MedusaError} */
export function readKeys(body: unknown): string[] {
  const { data } = keysSchema.safeParse((body as { keys?: unknown } | null)?.keys);
  if (data) return [...new Set(data)];
  throw new MedusaError(MedusaError.Types.INVALID_DATA, "Say which events: { keys: [...] }, at most 500.");
}

/** Asks the issuer something. @throws {MedusaError} with what the client says, which holds nothing secret */
export async function askIssuer<T>(asked: Promise<T>): Promise<T> {
  return asked.catch((error) => {
    if (!(error instanceof GiftcardError)) throw error;
    throw new MedusaError(MedusaError.Types.NOT_ALLOWED, error.message, error.code);
  });
}
