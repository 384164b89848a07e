import type { Attempt } from "@giftcard-pay/checkout";
import type { MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import type { GiftcardService } from "../modules/giftcard/service.js";
import { GIFTCARD_MODULE } from "../names.js";
import { findChargedCanceled, undoCharge } from "./canceled-orders.js";
import { paidOrderOfCart } from "./cart-payment.js";
import { closeCart, findReopened } from "./reopened-carts.js";
import { takeReviewPage } from "./review.js";
import { bookPayment, findUnbooked } from "./unbooked-payments.js";
import { findUnended, type UnendedOrder } from "./unended-orders.js";
import {
  endUnpaidOrder,
  findCardsBesideOrders,
  findLapsedRemainders,
  forgetRemainders,
  type PlacedCart,
} from "./unpaid-orders.js";

/** What a run of recovery did. */
export interface Recovery {
  /** The charges that it dealt with, as they are now. */
  readonly attempts: readonly Attempt[];
  /** Orders that it canceled, because nobody had paid them. */
  readonly canceledOrderIds: readonly string[];
}

/**
 * Ends what crashes and lost answers left behind: charges whose completion died, reversals that are owed, orders that
 * were placed and never paid or canceled and not given back, remainders that didn't settle in time, and captures and
 * refunds that were begun. Safe to run at any time and in several processes at once.
 *
 * @throws when Medusa's database can't be used; what it can't end now it ends another time
 */
export async function recoverNow(container: MedusaContainer): Promise<Recovery> {
  const { engine, settings } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const attempts = await engine.recover({
    orderOf: ({ cartId, externalId }) => paidOrderOfCart(container, cartId, externalId),
  });
  const canceledOrderIds: string[] = [];
  const endAll = (placed: readonly UnendedOrder[]) =>
    each(container, placed, "is unpaid and can't be canceled now", async (order) => {
      if (await endUnpaidOrder(container, order, order)) canceledOrderIds.push(order.orderId);
    });
  const pending = (mayBePending: boolean) => (placed: PlacedCart) => ({ ...placed, mayBePending });
  await endAll(await findUnended(container));
  await endAll((await findCardsBesideOrders(container, settings.leaseMs)).map(pending(true)));
  await endAll((await findLapsedRemainders(container, settings.pendingRemainderLifeMs)).map(pending(false)));
  await forgetRemainders(container);
  const after = await takeReviewPage(container);
  await each(
    container,
    await findChargedCanceled(container, after),
    "is canceled and can't be given back now",
    (charge) => undoCharge(container, charge, settings.leaseMs),
  );
  await each(
    container,
    await findUnbooked(container, after, settings.leaseMs),
    "lacks a capture or refund",
    (entry) => bookPayment(container, entry, settings.leaseMs),
  );
  await each(
    container,
    await findReopened(container, after, settings.leaseMs),
    "has an open cart",
    ({ cartId }) => closeCart(container, cartId),
  );
  return { attempts, canceledOrderIds };
}

/** Does it for each order, and goes on where one fails: the next run tries that again. */
async function each<T extends { readonly orderId: string }>(
  container: MedusaContainer,
  found: readonly T[],
  what: string,
  end: (one: T) => Promise<unknown>,
): Promise<void> {
  for (const one of found) {
    await end(one).catch((error: Error) => {
      const logger = container.resolve(ContainerRegistrationKeys.LOGGER);
      logger.error(`giftcard order=${one.orderId} ${what}: ${error.message}`);
    });
  }
}
