import type { Attempt } from "@giftcard-pay/checkout";
import type { MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import type { GiftcardService } from "../modules/giftcard/service.js";
import { GIFTCARD_MODULE } from "../names.js";
import { paidOrderOfCart } from "./cart-payment.js";
import {
  endUnpaidOrder,
  findCardsBesideOrders,
  findLapsedRemainders,
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
 * were placed and never paid, and remainders that didn't settle in time. Safe to run at any time and in several
 * processes at once.
 *
 * @throws when Medusa's database can't be used; what it can't end now it ends another time
 */
export async function recoverNow(container: MedusaContainer): Promise<Recovery> {
  const { engine, settings } = container.resolve<GiftcardService>(GIFTCARD_MODULE);
  const attempts = await engine.recover({
    orderOf: ({ cartId, externalId }) => paidOrderOfCart(container, cartId, externalId),
  });
  const canceledOrderIds: string[] = [];
  const endAll = async (placed: readonly PlacedCart[], mayBePending: boolean) => {
    for (const order of placed) {
      const canceled = await endUnpaidOrder(container, order, { mayBePending }).catch((error: Error) => {
        const logger = container.resolve(ContainerRegistrationKeys.LOGGER);
        logger.error(`giftcard order=${order.orderId} is unpaid and can't be canceled now: ${error.message}`);
        return false;
      });
      if (canceled) canceledOrderIds.push(order.orderId);
    }
  };
  await endAll(await findCardsBesideOrders(container, settings.leaseMs), true);
  await endAll(await findLapsedRemainders(container, settings.pendingRemainderLifeMs), false);
  return { attempts, canceledOrderIds };
}
