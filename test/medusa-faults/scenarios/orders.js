const { Modules } = require("@medusajs/framework/utils");

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

async function addItem({ run, flows, variantOf }, orderId, sku) {
  const items = [{ variant_id: await variantOf(sku), quantity: 1 }];
  await run(flows.beginOrderEditOrderWorkflow, { order_id: orderId });
  await run(flows.orderEditAddNewItemWorkflow, { order_id: orderId, items });
  await run(flows.requestOrderEditRequestWorkflow, { order_id: orderId });
  await run(flows.confirmOrderEditRequestWorkflow, { order_id: orderId });
}

/** An order whose payment is authorized, not captured, gets two more items, one after the other. */
async function editsOfAuthorizedOrder(shop) {
  const orderId = await buy(shop, "DUNES-WEEKEND");
  await addItem(shop, orderId, "CINEMA-1");
  await addItem(shop, orderId, "CINEMA-1");
  const fields = ["total", "payment_collections.*", "payment_collections.payments.*"];
  const [{ total, payment_collections: collections }] = await shop.read("order", fields, { id: orderId });
  const payments = collections.flatMap(({ payments }) => payments ?? []);
  return {
    total,
    authorized: payments.filter(({ canceled_at }) => !canceled_at).map(({ amount }) => amount),
    toCollect: collections.filter(({ status }) => status === "not_paid").map(({ amount }) => amount),
  };
}

/** Captures a payment, refunds these amounts, and reads the amounts of the refunds and of their order transactions. */
async function refundsOf(shop, data, amounts) {
  const { run, flows } = shop;
  const orderId = await buy(shop, "DUNES-WEEKEND", data);
  const [{ id: payment_id }] = await shop.paymentsOf(orderId);
  await run(flows.capturePaymentWorkflow, { payment_id });
  for (const amount of amounts) await errorOf(run(flows.refundPaymentsWorkflow, [{ payment_id, amount }]));
  const refunds = await shop.read("refund", ["amount"], { payment_id });
  const transactions = await shop.read("order_transaction", ["amount", "reference"], { order_id: orderId });
  return {
    refunded: refunds.map(({ amount }) => amount),
    booked: transactions.filter(({ reference }) => reference === "refund").map(({ amount }) => amount),
  };
}

/** The bank refuses a refund of one payment, and refunds another one twice. */
async function refunds(shop) {
  return { refused: await refundsOf(shop, { refuses: "refund" }, [120]), twice: await refundsOf(shop, {}, [10, 10]) };
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

/** Two open sessions pay half a cart each. */
async function twoOpenSessions(shop) {
  const { cartId, collectionId } = await shop.fillCart("DUNES-WEEKEND");
  const payment = shop.container.resolve(Modules.PAYMENT);
  const [{ id }] = await payment.listPaymentSessions({ payment_collection_id: collectionId });
  const half = { provider_id: "pp_bank_bank", currency_code: "eur", amount: 60, data: {} };
  await payment.updatePaymentSession({ id, ...half });
  await payment.createPaymentSession(collectionId, half);
  const orderId = await shop.complete(cartId);
  const [{ total }] = await shop.read("order", ["total"], { id: orderId });
  return { total, authorized: (await shop.paymentsOf(orderId)).map(({ amount }) => amount) };
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
  const error = await errorOf(shop.complete(cartId));
  return { hasError: error !== "", ordersCreated: (await created()) - before };
}

module.exports = { editsOfAuthorizedOrder, refunds, refusedCancel, twoOpenSessions, soldOut };
