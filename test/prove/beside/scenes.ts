import { setTimeout as sleep } from "node:timers/promises";
import type { Shopper } from "./shopper.js";

/** The calls to both shops. A scene makes its own carts and orders. */
export type Scene = (shopper: Shopper) => Promise<void>;

const BANK = "pp_bank_bank";
const MANUAL = "pp_system_default";
const SHOW = "summer-night-festival";

interface Cart {
  readonly cartId: string;
  readonly collectionId: string;
}

/** A cart with its payment collection, each step compared. */
async function makeCart({ shop, call }: Shopper, handle?: string, quantity = 1): Promise<Cart> {
  const cartId = await shop.createCart(handle, quantity);
  const { payment_collection } = await call("collection", "POST", "/store/payment-collections", { cart_id: cartId });
  return { cartId, collectionId: payment_collection.id };
}

/** Starts a payment. @returns the session's id */
async function start({ call }: Shopper, { collectionId }: Cart, data?: object, provider = BANK): Promise<string> {
  const path = `/store/payment-collections/${collectionId}/payment-sessions`;
  const { payment_collection } = await call("session", "POST", path, { provider_id: provider, ...(data && { data }) });
  const sessions: { id: string; status: string }[] = payment_collection?.payment_sessions ?? [];
  return sessions.at(-1)?.id ?? "";
}

const complete = ({ call }: Shopper, { cartId }: Cart, step = "complete") =>
  call(step, "POST", `/store/carts/${cartId}/complete`, {});

/** Buys, by the bank. @returns the order's id and its payment's */
async function buy(shopper: Shopper, goods: { handle?: string; quantity?: number } = {}) {
  const cart = await makeCart(shopper, goods.handle, goods.quantity);
  await start(shopper, cart);
  const { order } = await complete(shopper, cart);
  return { ...cart, orderId: order.id as string, paymentId: await paymentOf(shopper, order.id) };
}

async function paymentOf({ shop }: Shopper, orderId: string): Promise<string> {
  const { payment_collections } = await shop.order(orderId);
  return payment_collections[0]?.payments[0]?.id ?? "";
}

/** Compares the order as the admin shows it. */
const look = ({ call }: Shopper, orderId: string) =>
  call(
    "the order",
    "GET",
    `/admin/orders/${orderId}?fields=id,status,payment_status,fulfillment_status,total,summary.*,*items,*items.detail,*transactions,*credit_lines,*payment_collections,*payment_collections.payments,*payment_collections.payments.captures,*payment_collections.payments.refunds,*payment_collections.payment_sessions`,
  );

/** Sends a webhook of the bank, and waits until Medusa has handled it. @param isDone asks whether it has; by default a second passes */
async function tell({ call, shop }: Shopper, body: object, isDone?: () => Promise<boolean>): Promise<void> {
  const before = (await shop.ok("GET", "/store-events")).heard.length;
  await call("webhook", "POST", "/hooks/payment/bank_bank", body);
  for (let tries = 0; tries < 100; tries++) {
    if ((await shop.ok("GET", "/store-events")).heard.length > before) break;
    await sleep(50);
  }
  if (isDone === undefined) await sleep(1000);
  else for (let tries = 0; tries < 200 && !(await isDone()); tries++) await sleep(100);
}

const outcomes = [
  "authorized",
  "captured",
  "requires_more",
  "asks",
  "pending_authorization",
  "pending",
  "error",
  "canceled",
] as const;

/** Pays by a method with this outcome, twice, and then by another method. */
const pays =
  (behaviour: string): Scene =>
  async (shopper) => {
    const cart = await makeCart(shopper);
    await start(shopper, cart, { behaviour });
    const first = await complete(shopper, cart);
    const second = await complete(shopper, cart, "complete again");
    const orderId = first.order?.id ?? second.order?.id;
    if (orderId) await look(shopper, orderId);
    // An order that holds money is a scene of its own.
    if (orderId && behaviour !== "pending_authorization") return;
    await start(shopper, cart, {}, MANUAL);
    const { order } = await complete(shopper, cart, "complete by another method");
    if (order) await look(shopper, order.id);
  };

const paysAnew: Scene = async (shopper) => {
  const bought = await buy(shopper);
  await start(shopper, bought, {}, MANUAL);
  const path = `/admin/payment-collections/${bought.collectionId}/payment-sessions`;
  await shopper.call("session by the admin", "POST", path, { provider_id: MANUAL });
};

const captures: Scene = async (shopper) => {
  const { call } = shopper;
  const { orderId, paymentId } = await buy(shopper, { quantity: 2 });
  const capture = (amount?: unknown) =>
    call(`capture ${amount}`, "POST", `/admin/payments/${paymentId}/capture`, amount === undefined ? {} : { amount });
  const refund = (amount?: unknown) =>
    call(`refund ${amount}`, "POST", `/admin/payments/${paymentId}/refund`, amount === undefined ? {} : { amount });
  await refund(1);
  for (const amount of [-1, "x", 10, 1000, undefined, undefined]) await capture(amount);
  await look(shopper, orderId);
  for (const amount of [-1, 0, "x", null, 10.5, 1000, undefined, 1]) await refund(amount);
  await look(shopper, orderId);
};

const cancels: Scene = async (shopper) => {
  const { call } = shopper;
  for (const isCaptured of [false, true]) {
    const { orderId, paymentId } = await buy(shopper);
    if (isCaptured) await call("capture", "POST", `/admin/payments/${paymentId}/capture`, {});
    await call("cancel", "POST", `/admin/orders/${orderId}/cancel`, {});
    await call("cancel again", "POST", `/admin/orders/${orderId}/cancel`, {});
    await look(shopper, orderId);
  }
};

const edits: Scene = async (shopper) => {
  const { call, shop } = shopper;
  const { orderId, paymentId } = await buy(shopper, { quantity: 3 });
  await call("capture", "POST", `/admin/payments/${paymentId}/capture`, {});
  const { order } = await shop.ok("GET", `/admin/orders/${orderId}?fields=id,items.id`);
  for (const quantity of [2, 4]) {
    await call("edit", "POST", "/admin/order-edits", { order_id: orderId });
    await call("edit twice", "POST", "/admin/order-edits", { order_id: orderId });
    await call("units", "POST", `/admin/order-edits/${orderId}/items/item/${order.items[0].id}`, { quantity });
    await call("request", "POST", `/admin/order-edits/${orderId}/request`, {});
    await call("confirm", "POST", `/admin/order-edits/${orderId}/confirm`, {});
    await look(shopper, orderId);
    if (quantity === 2) await call("refund", "POST", `/admin/payments/${paymentId}/refund`, { amount: 37.49 });
  }
  await call("edit", "POST", "/admin/order-edits", { order_id: orderId });
  await call("drop the edit", "DELETE", `/admin/order-edits/${orderId}`);
  await call("credit", "POST", `/admin/orders/${orderId}/credit-lines`, {
    ...{ amount: 5, reference: "refund", reference_id: orderId },
  });
  await look(shopper, orderId);
};

/** Refunds and cancels while a change is open. */
const openChanges: Scene = async (shopper) => {
  const { call } = shopper;
  for (const begin of ["/admin/order-edits", "/admin/exchanges", "/admin/claims", "/admin/returns"]) {
    const { orderId } = await buy(shopper);
    const type = begin.endsWith("claims") ? { type: "refund" } : {};
    await call(begin, "POST", begin, { order_id: orderId, ...type });
    await call(`cancel during ${begin}`, "POST", `/admin/orders/${orderId}/cancel`, {});
  }
};

const returns: Scene = async (shopper) => {
  const { call, shop } = shopper;
  const { orderId, paymentId } = await buy(shopper, { quantity: 2 });
  await call("capture", "POST", `/admin/payments/${paymentId}/capture`, {});
  const { order } = await shop.ok("GET", `/admin/orders/${orderId}?fields=id,items.id`);
  const { stock_locations } = await shop.ok("GET", "/admin/stock-locations");
  const location_id = stock_locations[0].id;
  const items = [{ id: order.items[0].id, quantity: 2 }];
  await call("fulfil", "POST", `/admin/orders/${orderId}/fulfillments`, { items, location_id });
  const one = [{ id: order.items[0].id, quantity: 1 }];
  const begun = await call("return", "POST", "/admin/returns", { order_id: orderId, location_id });
  const path = `/admin/returns/${begun.return.id}`;
  await call("units of the return", "POST", `${path}/request-items`, { items: one });
  await call("request the return", "POST", `${path}/request`, {});
  await call("receive", "POST", `${path}/receive`, {});
  await call("units received", "POST", `${path}/receive-items`, { items: one });
  await call("confirm the receipt", "POST", `${path}/receive/confirm`, {});
  await look(shopper, orderId);
  await call("refund", "POST", `/admin/payments/${paymentId}/refund`, { amount: 37.49 });
  const { exchange } = await call("exchange", "POST", "/admin/exchanges", { order_id: orderId });
  await call("inbound", "POST", `/admin/exchanges/${exchange.id}/inbound/items`, { items: one });
  const { variants } = (await shop.ok("GET", `/store/products?handle=${SHOW}&fields=variants.id`)).products[0];
  const out = [{ variant_id: variants[0].id, quantity: 1 }];
  await call("outbound", "POST", `/admin/exchanges/${exchange.id}/outbound/items`, { items: out });
  await call("request the exchange", "POST", `/admin/exchanges/${exchange.id}/request`, {});
  await look(shopper, orderId);
};

const webhooks: Scene = async (shopper) => {
  const { call, shop } = shopper;
  const before = await shop.ok("GET", "/store-events");
  for (const action of ["authorized", "captured", "failed", "canceled", "not_supported", "pending", "requires_more"]) {
    const cart = await makeCart(shopper);
    const session_id = await start(shopper, cart);
    const path = `/store/carts/${cart.cartId}?fields=id,completed_at`;
    const isOrdered = async () => (await shop.ok("GET", path)).cart.completed_at !== null;
    const places = action === "authorized" || action === "captured";
    await tell(shopper, { action, session_id, amount: 74.98 }, places ? isOrdered : undefined);
    await call(`the cart after ${action}`, "GET", path);
  }
  const promised = await makeCart(shopper);
  const session_id = await start(shopper, promised, { behaviour: "pending_authorization" });
  const { order } = await complete(shopper, promised);
  const isPaid = async () => (await shop.order(order.id)).summary.paid_total > 0;
  await tell(shopper, { action: "captured", session_id, amount: 74.98 }, isPaid);
  await look(shopper, order.id);
  await tell(shopper, { action: "captured", amount: 1 });
  await tell(shopper, { action: "captured", session_id: "a foreign session", amount: 1 });
  await tell(shopper, { note: "no action" });
  const { heard, read } = await shop.ok("GET", "/store-events");
  shopper.note("webhooks that the shop's own subscriber has received", tally(heard.slice(before.heard.length)));
  shopper.note("webhooks that the provider has read", tally(read.slice(before.read.length)));
};

const tally = (webhooks: { action?: string; session_id?: string }[]) =>
  webhooks.map(({ action, session_id }) => `${action} ${session_id?.replace(/_.*/, "")}`).sort();

/** Creates a product of which there are this many. */
async function createScarce({ shop }: Shopper, stocked_quantity: number): Promise<string> {
  const handle = `scarce-${Date.now()}-${stocked_quantity}`;
  const { stock_locations } = await shop.ok("GET", "/admin/stock-locations");
  const prices = [{ currency_code: "eur", amount: 20 }];
  const variant = { title: "One", options: { Kind: "One" }, sku: handle, manage_inventory: true, prices };
  await shop.createProduct(handle, 20, { title: "Scarce", variants: [variant] });
  const { inventory_items } = await shop.ok("GET", `/admin/inventory-items?sku=${handle}`);
  const level = { location_id: stock_locations[0].id, stocked_quantity };
  await shop.ok("POST", `/admin/inventory-items/${inventory_items[0].id}/location-levels`, level);
  return handle;
}

/** The last unit is reserved by an order that waits for its bank transfer. */
const reserved: Scene = async (shopper) => {
  const handle = await createScarce(shopper, 1);
  const [first, second] = [await makeCart(shopper, handle), await makeCart(shopper, handle)];
  await start(shopper, first, { behaviour: "pending_authorization" });
  await start(shopper, second);
  await complete(shopper, first);
  await complete(shopper, second, "complete without stock");
};

/** Six carts are completed at once, for as many units or for one. */
const atOnce =
  (units: number): Scene =>
  async (shopper) => {
    const handle = await createScarce(shopper, units);
    const carts: Cart[] = [];
    for (let count = 0; count < 6; count++) carts.push(await makeCart(shopper, handle));
    for (const cart of carts) await start(shopper, cart);
    const finish = async ({ cartId }: Cart) => {
      for (let tries = 0; ; tries++) {
        const answer = await shopper.shop.complete(cartId);
        if (answer.status !== 409 || tries > 20) return answer;
        await sleep(1000);
      }
    };
    const answers = await Promise.all(carts.map(finish));
    const orders = answers.filter(({ body }) => body.type === "order");
    const refused = answers.filter(({ body }) => body.type !== "order");
    shopper.note("orders", orders.length);
    shopper.note("refusals", {
      status: refused.map(({ status }) => status),
      type: refused.map(({ body }) => body.type),
    });
  };

const oddIds = ["%00", "cart%00x", "x", "..%2f..", "%F0%9F%98%80", "%27%22--", "null", "%20", "x".repeat(3000)];

const routes = [
  ["POST", "/store/carts/ID/complete"],
  ["POST", "/store/carts/ID"],
  ["POST", "/store/carts/ID/line-items"],
  ["DELETE", "/store/carts/ID/line-items/ID"],
  ["POST", "/store/carts/ID/promotions"],
  ["POST", "/store/carts/ID/shipping-methods"],
  ["POST", "/store/carts/ID/taxes"],
  ["POST", "/store/carts/ID/customer"],
  ["POST", "/store/payment-collections/ID/payment-sessions"],
  ["POST", "/store/orders/ID/transfer/request"],
  ["POST", "/admin/payments/ID/capture"],
  ["POST", "/admin/payments/ID/refund"],
  ["POST", "/admin/orders/ID/cancel"],
  ["POST", "/admin/orders/ID/transfer"],
  ["POST", "/admin/order-edits/ID/confirm"],
  ["POST", "/admin/returns/ID/receive/confirm"],
  ["POST", "/admin/exchanges/ID/request"],
  ["POST", "/admin/claims/ID/request"],
  ["POST", "/admin/payment-collections/ID/payment-sessions"],
] as const;

const bodies: Readonly<Record<string, object>> = {
  "/store/payment-collections/ID/payment-sessions": { provider_id: BANK },
  "/admin/payment-collections/ID/payment-sessions": { provider_id: BANK },
  "/store/carts/ID/promotions": { promo_codes: ["TEN"] },
  "/store/carts/ID/shipping-methods": { option_id: "x" },
};

const ids =
  (odd: string): Scene =>
  async ({ call }) => {
    for (const [method, path] of routes) {
      const body = method === "POST" ? (bodies[path] ?? {}) : undefined;
      await call(`${method} ${path}`, method, path.replaceAll("ID", odd), body);
    }
  };

const oddValues = [null, 1, true, [], {}, "", "\0", "x\0", "x", "\ud800"];

const oddBodies: Scene = async (shopper) => {
  const { call } = shopper;
  const cart = await makeCart(shopper);
  const targets = [
    ["/store/payment-collections", "cart_id"],
    [`/store/payment-collections/${cart.collectionId}/payment-sessions`, "provider_id"],
    ["/admin/order-edits", "order_id"],
    ["/admin/returns", "order_id"],
    ["/admin/exchanges", "order_id"],
    ["/admin/claims", "order_id"],
  ] as const;
  for (const [path, field] of targets) {
    const name = path.replace(/pay_col_\w+/, "ID");
    for (const value of oddValues)
      await call(`${name} ${JSON.stringify({ [field]: value })}`, "POST", path, { [field]: value });
    for (const text of ["", "null", "[]", "{", '"x"', "1"]) await call(`${name} ${text}`, "POST", path, text);
  }
  for (const text of ["null", "[]", "{", '{"x":1}'])
    await call(`complete ${text}`, "POST", `/store/carts/${cart.cartId}/complete`, text);
};

/** Every scene, with the ones that a short run plays. */
export const scenes: readonly (readonly [name: string, scene: Scene, isShort?: boolean])[] = [
  ...outcomes.map((outcome) => [`paid, ${outcome}`, pays(outcome), outcome === "pending_authorization"] as const),
  ["paid anew", paysAnew, true],
  ["captures and refunds", captures, true],
  ["cancels", cancels],
  ["edits", edits],
  ["open changes", openChanges],
  ["returns and exchanges", returns],
  ["webhooks", webhooks, true],
  ["reserved by a promise", reserved, true],
  ["six carts at once", atOnce(6)],
  ["six carts at once for one unit", atOnce(1)],
  ...oddIds.map((odd, index) => [`the id ${odd.slice(0, 10)}`, ids(odd), index === 0] as const),
  ["odd bodies", oddBodies],
];
