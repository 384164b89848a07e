import type { Charge } from "@giftcard-pay/checkout/store";
import type { MedusaContainer } from "@medusajs/framework/types";
import { Modules } from "@medusajs/framework/utils";
import { fromCents } from "../amount.js";
import { contextOf } from "../context/context.js";
import { nameOf } from "../errors.js";
import * as bySql from "../medusa-tables/card-payments.js";
import { LAST_FOUR, OWNER, PROVIDER_ID } from "../names.js";
import { copyOf, isHeldBy } from "../providers/giftcard/provider.js";

/*
 * The sessions and payments of cards: in one statement each, or through Medusa's payment module if its tables aren't those of a
 * tested release.
 */

/** Creates the session with which a card pays. @returns the session's id */
export async function createCardSession(container: MedusaContainer, session: bySql.NewCardSession): Promise<string> {
  const { sql, hasTestedTables } = contextOf(container);
  if (hasTestedTables) return bySql.createCardSession(sql, session);
  const { collectionId, amountCents, lastFour, metadata } = session;
  const created = await container.resolve(Modules.PAYMENT).createPaymentSession(collectionId, {
    ...{ provider_id: PROVIDER_ID, currency_code: "eur", amount: fromCents(amountCents), data: {}, metadata },
    context: { [LAST_FOUR]: lastFour } as never,
  });
  return created.id;
}

/**
 * Creates the payment of a card that a completion has charged.
 * @param owner the completion, which holds the leases of the charges
 * @returns false if the session is deleted or has a payment, or one of its charges was reversed or taken over
 */
export async function authorizeCardSession(
  container: MedusaContainer,
  charged: readonly [Charge, ...Charge[]],
  owner: string,
): Promise<boolean> {
  const { engine, sql, logger, hasTestedTables } = contextOf(container);
  const sessionId = charged[0].externalId;
  if (hasTestedTables) return bySql.authorizeCardSession(sql, { sessionId, owner, data: copyOf(charged) });
  const payments = container.resolve(Modules.PAYMENT);
  try {
    // The module takes several steps. If a charge was reversed meanwhile, its payment is canceled.
    const payment = await payments.authorizePaymentSession(sessionId, { [OWNER]: owner });
    if (isHeldBy(await engine.journal.chargesOfPayment(sessionId), owner)) return true;
    if (payment) await payments.cancelPayment(payment.id);
  } catch (error) {
    logger.warn(`giftcard: the payment session ${sessionId} of a card can't be authorized: ${nameOf(error)}`);
  }
  return false;
}
