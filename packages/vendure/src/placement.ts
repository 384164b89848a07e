import { Inject, Injectable } from "@nestjs/common";
import { HistoryService, Order, OrderLine, type RequestContext } from "@vendure/core";
import { heldCentsOf, Money } from "./money.js";
import { Orders } from "./orders.js";

/** Places paid orders, and keeps placed ones placed. */
@Injectable()
export class Placement {
  constructor(
    @Inject(Orders) private readonly orders: Orders,
    @Inject(Money) private readonly money: Money,
    @Inject(HistoryService) private readonly history: HistoryService,
  ) {}

  /**
   * Places an order that Vendure could not place, or settle, when its last payment was made: the gift cards were not paid for
   * then, or another payment was still to be refunded.
   */
  async placeIfCovered(ctx: RequestContext, { id, code }: Order): Promise<void> {
    const order = await this.orders.lock(ctx, code);
    // Old payments hold nothing for the order: they are being returned. The order's process refuses to place it until then.
    const payments = await this.money.live(ctx, id);
    const isSettled = payments.every((payment) => payment.state === "Settled");
    const isWaiting = this.orders.canBePaid(order) || (isSettled && order.state === "PaymentAuthorized");
    const isCovered = heldCentsOf(payments) >= order.totalWithTax;
    if (isWaiting && payments.length > 0 && isCovered)
      await this.orders.service.transitionToState(ctx, id, isSettled ? "PaymentSettled" : "PaymentAuthorized");
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
    const first = moves.findIndex(({ data }) => /^Payment(Authorized|Settled)$/.test(data.to));
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
