/** Returns the error's message, or "" if there is none. */
const errorOf = (promise) =>
  promise.then(
    () => "",
    (error) => error.message,
  );

async function buy(shop, sku, data) {
  const { cartId } = await shop.fillCart(sku, data);
  return shop.complete(cartId);
}

/** An order whose payment is authorized, not captured, gets another item. */
async function editOfAuthorizedOrder(shop) {
  const { run, flows } = shop;
  const orderId = await buy(shop, "DUNES-WEEKEND");
  await run(flows.beginOrderEditOrderWorkflow, { order_id: orderId });
  const items = [{ variant_id: await shop.variantOf("CINEMA-1"), quantity: 1 }];
  await run(flows.orderEditAddNewItemWorkflow, { order_id: orderId, items });
  await run(flows.requestOrderEditRequestWorkflow, { order_id: orderId });
  await run(flows.confirmOrderEditRequestWorkflow, { order_id: orderId });
  const [order] = await shop.read("order", ["total", "payment_collections.*", "payment_collections.payments.*"], {
    id: orderId,
  });
  const { payment_collections: collections } = order;
  const authorized = collections.flatMap(({ payments }) => payments ?? []).filter(({ canceled_at }) => !canceled_at);
  return {
    total: order.total,
    authorized: authorized.map(({ amount }) => amount),
    toCollect: collections.filter(({ status }) => status === "not_paid").map(({ amount }) => amount),
  };
}

/** The bank refuses a refund. */
async function refusedRefund(shop) {
  const { run, flows } = shop;
  const orderId = await buy(shop, "DUNES-WEEKEND", { refuses: "refund" });
  const [payment] = await shop.paymentsOf(orderId);
  await run(flows.capturePaymentWorkflow, { payment_id: payment.id });
  await errorOf(run(flows.refundPaymentsWorkflow, [{ payment_id: payment.id, amount: payment.amount }]));
  const refunds = await shop.read("refund", ["amount"], { payment_id: payment.id });
  const booked = await shop.read("order_transaction", ["amount", "reference"], { order_id: orderId });
  return {
    refunded: refunds.map(({ amount }) => amount),
    booked: booked.filter(({ reference }) => reference === "refund").map(({ amount }) => amount),
  };
}

/** The bank refuses to cancel an authorized payment, and the order is canceled. */
async function refusedCancel(shop) {
  const { run, flows } = shop;
  const orderId = await buy(shop, "DUNES-WEEKEND", { refuses: "cancel" });
  const error = await errorOf(run(flows.cancelOrderWorkflow, { order_id: orderId }));
  const [order] = await shop.read("order", ["status"], { id: orderId });
  const [payment] = await shop.paymentsOf(orderId);
  return { order: order.status, isPaymentCanceled: Boolean(payment.canceled_at), hasError: error !== "" };
}

/** A cart has two open sessions, and the database moves the row of the first. */
async function twoOpenSessions(shop) {
  const { container, read } = shop;
  const { cartId, collectionId } = await shop.fillCart("DUNES-WEEKEND", { name: "first" });
  const more = { provider_id: "pp_bank_bank", currency_code: "eur", amount: 120, data: { name: "second" } };
  await container.resolve("payment").createPaymentSession(collectionId, more);
  const names = async () => {
    const [cart] = await read("cart", ["payment_collection.payment_sessions.*"], { id: cartId });
    return cart.payment_collection.payment_sessions.map(({ data }) => data.name);
  };
  const before = await names();
  const first = await read("payment_session", ["id", "data"], { payment_collection_id: collectionId });
  const { id } = first.find(({ data }) => data.name === "first");
  await container.resolve("__pg_connection__").raw("update payment_session set updated_at = now() where id = ?", [id]);
  const after = await names();
  const orderId = await shop.complete(cartId);
  const [payment] = await shop.paymentsOf(orderId);
  return { before, after, paid: payment.data.name };
}

/** A show sells out after a buyer filled the cart. */
async function soldOut(shop) {
  const { cartId } = await shop.fillCart("COMEDY-STANDARD");
  await shop.stock("COMEDY-STANDARD", 0);
  const database = shop.container.resolve("__pg_connection__");
  const created = async () => {
    const { rows } = await database.raw("select last_value, is_called from order_display_id_seq");
    return rows[0].is_called ? Number(rows[0].last_value) : 0;
  };
  const before = await created();
  const startedAt = performance.now();
  const error = await errorOf(shop.complete(cartId));
  return { error, ordersCreated: (await created()) - before, ms: Math.round(performance.now() - startedAt) };
}

module.exports = { editOfAuthorizedOrder, refusedRefund, refusedCancel, twoOpenSessions, soldOut };
