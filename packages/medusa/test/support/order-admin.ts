import type { Storefront } from "./storefront.js";

/* Admin actions on an order's units. */

/** The order's items, by their product's handle. */
export async function itemsOf(
  s: Storefront,
  orderId: string,
): Promise<Record<string, { id: string; quantity: number }>> {
  const { order } = await s.ok("GET", `/admin/orders/${orderId}?fields=id,*items`);
  return Object.fromEntries(order.items.map((item: { product_handle: string }) => [item.product_handle, item]));
}

/** Changes one item of an order by an edit. @returns what Medusa announces as outstanding before the edit is confirmed */
export async function editItem(
  s: Storefront,
  orderId: string,
  handle: string,
  change: { readonly quantity: number; readonly unit_price?: number },
  { isCarried = false }: { readonly isCarried?: boolean } = {},
): Promise<number> {
  const items = await itemsOf(s, orderId);
  const { order_change } = await s.ok("POST", "/admin/order-edits", { order_id: orderId });
  if (isCarried) await s.ok("POST", `/admin/order-changes/${order_change.id}`, { carry_over_promotions: true });
  await s.ok("POST", `/admin/order-edits/${orderId}/items/item/${items[handle]?.id}`, change);
  return confirmEdit(s, orderId);
}

/** Confirms an order's open edit. @returns what Medusa announced as outstanding */
export async function confirmEdit(s: Storefront, orderId: string): Promise<number> {
  const { order } = await s.ok("GET", `/admin/orders/${orderId}/preview`);
  await s.ok("POST", `/admin/order-edits/${orderId}/confirm`, {});
  return Math.round(order.summary.pending_difference * 100) / 100;
}

/** Removes units of an order by an edit. @param quantity the remaining quantity */
export async function editTo(s: Storefront, orderId: string, handle: string, quantity: number): Promise<void> {
  await editItem(s, orderId, handle, { quantity });
}

/** Exchanges a fulfilled unit of one product for a unit of another, and receives it. */
export async function exchange(
  s: Storefront,
  orderId: string,
  handle: string,
  { variantId, isCarried = false }: { readonly variantId: string; readonly isCarried?: boolean },
): Promise<void> {
  const items = [{ id: (await itemsOf(s, orderId))[handle]?.id, quantity: 1 }];
  const { exchange: begun } = await s.ok("POST", "/admin/exchanges", { order_id: orderId });
  const path = `/admin/exchanges/${begun.id}`;
  const { order_preview } = await s.ok("POST", `${path}/inbound/items`, { items });
  const change = `/admin/order-changes/${order_preview.order_change.id}`;
  if (isCarried) await s.ok("POST", change, { carry_over_promotions: true });
  await s.ok("POST", `${path}/outbound/items`, { items: [{ variant_id: variantId, quantity: 1 }] });
  const { exchange: asked } = await s.ok("POST", `${path}/request`, {});
  await receive(s, asked.return_id, items);
}

/** Asks for one fulfilled unit back, and promises another product instead, by an exchange or a claim. */
export async function requestSwap(
  s: Storefront,
  orderId: string,
  { kind, back, instead }: { readonly kind: "exchange" | "claim"; readonly back: string; readonly instead: string },
) {
  const items = [{ id: (await itemsOf(s, orderId))[back]?.id, quantity: 1 }];
  const { products } = await s.ok("GET", `/store/products?handle=${instead}&fields=variants.id`);
  const begun = await s.ok("POST", `/admin/${kind}s`, {
    order_id: orderId,
    ...(kind === "claim" && { type: "replace" }),
  });
  const path = `/admin/${kind}s/${begun[kind].id}`;
  await s.ok("POST", `${path}/inbound/items`, { items });
  await s.ok("POST", `${path}/outbound/items`, { items: [{ variant_id: products[0].variants[0].id, quantity: 1 }] });
  const asked = await s.ok("POST", `${path}/request`, {});
  return { returnId: asked[kind].return_id as string, items };
}

/** Receives units of a requested return. */
export async function receive(s: Storefront, returnId: string, items: unknown): Promise<void> {
  await s.ok("POST", `/admin/returns/${returnId}/receive`, {});
  await s.ok("POST", `/admin/returns/${returnId}/receive-items`, { items });
  await s.ok("POST", `/admin/returns/${returnId}/receive/confirm`, {});
}

/** Marks what an order's customer still has to pay as paid. */
export async function markPaid(s: Storefront, orderId: string): Promise<void> {
  const { order } = await s.ok("GET", `/admin/orders/${orderId}?fields=id,summary.*,payment_collections.*`);
  const open = order.payment_collections.find(({ status }: { status: string }) => status === "not_paid");
  const amount = order.summary.pending_difference;
  const made =
    open ?? (await s.ok("POST", "/admin/payment-collections", { order_id: orderId, amount })).payment_collection;
  await s.ok("POST", `/admin/payment-collections/${made.id}/mark-as-paid`, { order_id: orderId });
}

/** The refund that the order's page offers. */
export const refundOf = async (s: Storefront, orderId: string) =>
  (await s.ok("GET", `/admin/giftcard-pay/orders/${orderId}/refund`)).refund;

/** Fulfils all units of some of an order's products. */
export async function fulfil(s: Storefront, orderId: string, handles: readonly string[]): Promise<void> {
  const items = await itemsOf(s, orderId);
  const location_id = await locationOf(s);
  const all = handles.flatMap((handle) => items[handle] ?? []);
  await s.ok("POST", `/admin/orders/${orderId}/fulfillments`, {
    items: all.map(({ id, quantity }) => ({ id, quantity })),
    location_id,
  });
}

/** Returns fulfilled units. */
export async function takeBack(
  s: Storefront,
  orderId: string,
  handle: string,
  quantity: number,
  { feeCents = 0 }: { readonly feeCents?: number } = {},
): Promise<void> {
  const items = [{ id: (await itemsOf(s, orderId))[handle]?.id, quantity }];
  const location_id = await locationOf(s);
  const { return: begun } = await s.ok("POST", "/admin/returns", { order_id: orderId, location_id });
  const path = `/admin/returns/${begun.id}`;
  await s.ok("POST", `${path}/request-items`, { items });
  if (feeCents > 0) {
    const { shipping_options } = await s.ok("GET", "/admin/shipping-options?limit=1");
    const fee = { shipping_option_id: shipping_options[0].id, custom_amount: feeCents / 100 };
    await s.ok("POST", `${path}/shipping-method`, fee);
  }
  await s.ok("POST", `${path}/request`, {});
  await receive(s, begun.id, items);
}

const locationOf = async (s: Storefront): Promise<string> =>
  (await s.ok("GET", "/admin/stock-locations")).stock_locations[0].id;
