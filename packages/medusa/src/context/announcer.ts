import type { ChargeView } from "@giftcard-pay/checkout/operator";
import type { TenderChange } from "@giftcard-pay/checkout/plugin";
import type { ChargeState } from "@giftcard-pay/checkout/store";
import type { IEventBusModuleService, Logger } from "@medusajs/framework/types";
import type { UnpaidOrder } from "../medusa-tables/unpaid-orders.js";

/** The states of a charge that are announced, as `giftcard.devalued` and so on. */
const announcedStates: readonly ChargeState[] = ["devalued", "reversed", "needs_attention"];

/** Logs each change of a charge or tender, and emits messages on Medusa's event bus. The README describes them. */
export function createAnnouncer(logger: Logger, eventBus: IEventBusModuleService) {
  function emit(name: string, data: object): void {
    // A subscriber must not delay or fail the money flow.
    void Promise.resolve(eventBus.emit({ name, data }, {})).catch((error: Error) =>
      logger.warn(`giftcard event=${name} not emitted: ${error.name}`),
    );
  }

  return {
    tender({ event, cartId, tenderId }: TenderChange): void {
      logger.info(`giftcard ${event} card=${tenderId} cart=${cartId}`);
      emit(`giftcard.${event}`, { cart_id: cartId, card_id: tenderId });
    },
    orderCanceled({ orderId, cartId, reason }: UnpaidOrder): void {
      emit("giftcard.order_canceled", { order_id: orderId, cart_id: cartId, reason });
    },
    charge(charge: ChargeView): void {
      const { reference, state, cartId, orderId, amountCents, reason } = charge;
      const order = orderId ? ` order=${orderId}` : "";
      const why = reason ? ` reason=${reason}` : "";
      const line = `giftcard reference=${reference} state=${state} amount_cents=${amountCents} cart=${cartId}${order}${why}`;
      if (state === "needs_attention") logger.warn(line);
      else logger.info(line);
      if (announcedStates.includes(state)) emit(`giftcard.${state}`, payloadOf(charge));
    },
  };
}

/** Returns what a message contains about a charge: nothing by which a card or its token could be used. */
function payloadOf({ reference, cartId, orderId, externalId, lastFour, amountCents, reason }: ChargeView) {
  return {
    reference,
    cart_id: cartId,
    order_id: orderId,
    payment_session_id: externalId,
    last_four: lastFour,
    amount_cents: amountCents,
    reason,
  };
}
