import type { MedusaNextFunction, MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { ContainerRegistrationKeys, Modules, PaymentActions } from "@medusajs/framework/utils";
import { contextOf } from "../context/context.js";
import { hasSession } from "../medusa-tables/payments.js";

/** What a method says when it holds a shopper's money, or has taken it. */
const holdsMoney: ReadonlySet<string> = new Set([PaymentActions.AUTHORIZED, PaymentActions.SUCCESSFUL]);

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
  if (sessionId && (await hasSession(contextOf(req.scope).sql, sessionId))) return next();
  const logger = req.scope.resolve(ContainerRegistrationKeys.LOGGER);
  const line = `giftcard: dropped a webhook (${read.action}) of ${provider} for`;
  if (!sessionId)
    logger.info(`${line} no payment session: it is about something else than this store's carts.`);
  else if (holdsMoney.has(read.action))
    logger.warn(
      `${line} the deleted payment session ${sessionId}, which has money. Look there, and give it back.`,
    );
  else logger.info(`${line} the deleted payment session ${sessionId}. Nothing is to be done.`);
  res.sendStatus(200);
}
