import type { MedusaNextFunction, MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { ContainerRegistrationKeys, Modules } from "@medusajs/framework/utils";
import { contextOf } from "../context/context.js";
import { hasSession } from "../medusa-tables/payments.js";

/**
 * Drops a payment method's webhook for a session that isn't there any more, or that names none. Medusa finds no cart for it
 * then, looks for a cart without saying which, and completes the first one that it finds: another shopper's, with his cards.
 * Releases of Medusa differ in which of the two they notice themselves.
 */
export async function dropDeletedSession(
  req: MedusaRequest,
  res: MedusaResponse,
  next: MedusaNextFunction,
): Promise<void> {
  const provider = String(req.params.provider);
  const payload = { data: req.body, rawData: req.rawBody, headers: req.headers };
  // What can't be read is Medusa's to refuse.
  const read = await req.scope
    .resolve(Modules.PAYMENT)
    .getWebhookActionAndData({ provider, payload } as never)
    .catch(() => null);
  if (!read?.data) return next();
  const { session_id: sessionId } = read.data;
  if (sessionId && (await hasSession(contextOf(req.scope).runSql, sessionId))) return next();
  const logger = req.scope.resolve(ContainerRegistrationKeys.LOGGER);
  const line = `giftcard: dropped a webhook (${read.action}) of ${provider} for`;
  const what = `the deleted payment session ${sessionId}. If it says that money was taken, refund it there.`;
  if (sessionId) logger.warn(`${line} ${what}`);
  else logger.info(`${line} no payment session: it is about something else than this store's carts.`);
  res.sendStatus(200);
}
