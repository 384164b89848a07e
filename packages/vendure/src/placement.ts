import { Inject, Injectable } from "@nestjs/common";
import { HistoryService, Order, OrderLine, type RequestContext } from "@vendure/core";
import { heldCentsOf, Orders } from "./orders.js";

/** Places paid orders, and keeps placed ones placed. */
@Injectable()
export class Placement {
  constructor(
    @Inject(Orders) private readonly orders: Orders,
    @Inject(HistoryService) private readonly history: HistoryService,
  ) {}

  /**
   * Places an order that Vendure could not place, or settle, when its last payment was made: the gift cards were not paid for
   * then, or another payment was still to be refunded.
   */
  async placeIfCovered(ctx: RequestContext, { id, code }: Order): Promise<void> {
    const { state, totalWithTax } = await this.orders.lock(ctx, code);
    const payments = await this.orders.livePayments(ctx, id);
    const isSettled = payments.every((payment) => payment.state === "Settled");
    const paidCents = heldCentsOf(payments);
    const isWaiting = state === "ArrangingPayment" || state === "PaymentAuthorized";
    if (isWaiting && payments.length > 0 && isSettled && paidCents >= totalWithTax)
      await this.orders.service.transitionToState(ctx, id, "PaymentSettled");
  }

  /**
   * Restores a placed order that Vendure has overwritten: a mutation that began before, such as of the address, saves the order
   * as it has read it, with its earlier state. A second placement would send the mail and allocate stock again.
   *
   * @returns the current order
   */
  async restore(ctx: RequestContext, order: Order): Promise<Order> {
    if (order.orderPlacedAt != null || order.state === "Cancelled") return order;
    const { items } = await this.history.getHistoryForOrder(ctx, order.id, false);
    const moves = items
      .filter(({ type }) => type === "ORDER_STATE_TRANSITION")
      .sort((a, b) => Number(a.id) - Number(b.id) || a.createdAt.getTime() - b.createdAt.getTime());
    const first = moves.findIndex(({ data }) => data.from === "ArrangingPayment" && /^Payment/.test(data.to));
    const placed = moves[first];
    if (!placed) return order;
    // Moves of the overwritten order don't continue those of the placed one.
    const state = moves
      .slice(first)
      .reduce((now, { data }) => (data.from === now ? data.to : now), placed.data.from as Order["state"]);
    // A shop may set orderPlacedAt at another moment.
    if (state === "Cancelled" || state === order.state) return order;
    const restored = { state, active: false, orderPlacedAt: placed.createdAt };
    await this.orders.connection.getRepository(ctx, Order).update(order.id, restored);
    const lines = this.orders.connection.getRepository(ctx, OrderLine);
    for (const { id, quantity, orderPlacedQuantity } of order.lines)
      if (orderPlacedQuantity === 0) await lines.update(id, { orderPlacedQuantity: quantity });
    return this.orders.lock(ctx, order.code);
  }
}
