// biome-ignore lint/suspicious/noExplicitAny: an order as Medusa's admin shows it
type Order = any;

/** An order's amounts, in major units as Medusa shows them. */
export function figuresOf(order: Order) {
  return {
    status: order.status,
    total: order.total,
    paid: order.summary.paid_total,
    outstanding: order.summary.pending_difference,
    refunded: order.summary.refunded_total,
    payment_status: order.payment_status,
  };
}

/** The payments in the order's one collection, by provider. */
export function paymentsOf(order: Order) {
  if (order.payment_collections.length !== 1)
    throw new Error(`${order.payment_collections.length} payment collections`);
  const payments: Order[] = order.payment_collections[0].payments;
  const gifts = payments.filter((payment) => payment.provider_id === "pp_giftcard_giftcard");
  const others = payments.filter((payment) => payment.provider_id !== "pp_giftcard_giftcard");
  return {
    gifts,
    others,
    amounts: payments.map((payment) => payment.amount as number).sort((a, b) => b - a),
  };
}

/** The amounts of the order's payments that are not canceled, largest first. */
export function livingAmountsOf(order: Order): number[] {
  const payments: Order[] = order.payment_collections[0].payments;
  const living = payments.filter((payment) => !payment.canceled_at);
  return living.map((payment) => payment.amount as number).sort((a, b) => b - a);
}
