import type { MedusaNextFunction, MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { ContainerRegistrationKeys, Modules } from "@medusajs/framework/utils";
import { contextOf } from "../context/context.js";
import { hasSession } from "../medusa-tables/payments.js";

/**
 * Drops a payment method's webhook for a session that isn't there any more. Medusa finds no cart for it then, looks for a
 * cart without saying which, and completes the first one that it finds: another shopper's, with his cards.
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
  const sessionId = read?.data?.session_id;
  if (!sessionId || (await hasSession(contextOf(req.scope).runSql, sessionId))) return next();
  const logger = req.scope.resolve(ContainerRegistrationKeys.LOGGER);
  const line = `giftcard: dropped a webhook (${read.action}) of ${provider} for the deleted payment session ${sessionId}`;
  logger.warn(`${line}. If it says that money was taken, refund it there.`);
  res.sendStatus(200);
}
