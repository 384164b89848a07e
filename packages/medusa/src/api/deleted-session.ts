import type { MedusaNextFunction, MedusaRequest, MedusaResponse } from "@medusajs/framework/http";
import { Modules, PaymentActions } from "@medusajs/framework/utils";
import { contextOf } from "../context/context.js";
import { hasSession } from "../medusa-tables/payments.js";

/** The actions by which a method reports that it holds or took a shopper's money. */
const holdsMoney: ReadonlySet<string> = new Set([PaymentActions.AUTHORIZED, PaymentActions.SUCCESSFUL]);

/**
 * Drops a payment method's webhook for a session that doesn't exist any more, or without a session. Medusa would find
 * no cart for it, then search for any cart, and complete the first one that it finds: another shopper's, with that
 * shopper's cards. Releases of Medusa differ in which of the two they notice themselves.
 */
export async function dropDeletedSession(req: MedusaRequest, res: MedusaResponse, next: MedusaNextFunction) {
  const provider = String(req.params.provider);
  const payload = { data: req.body, rawData: req.rawBody, headers: req.headers };
  const read = await req.scope
    .resolve(Modules.PAYMENT)
    .getWebhookActionAndData({ provider, payload } as never)
    .catch(() => null);
  if (!read?.data) return next();
  const { session_id: sessionId } = read.data;
  if (sessionId && (await hasSession(contextOf(req.scope).sql, sessionId))) return next();
  const logger = contextOf(req.scope).logger;
  const line = `giftcard: dropped a webhook (${read.action}) of ${provider} for`;
  if (!sessionId) logger.info(`${line} no payment session: it isn't about this store's carts.`);
  else if (holdsMoney.has(read.action))
    logger.warn(
      `${line} the deleted payment session ${sessionId}, which holds money. Refund it at the payment method.`,
    );
  else logger.info(`${line} the deleted payment session ${sessionId}. No action is needed.`);
  res.sendStatus(200);
}
