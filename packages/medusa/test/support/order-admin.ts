import type { Storefront } from "./storefront.js";

/* Admin actions on an order's units. */

/** The order's items, by their product's handle. */
export async function itemsOf(
  s: Storefront,
  orderId: string,
): Promise<Record<string, { id: string; quantity: number }>> {
  const { order } = await s.ok("GET", `/admin/orders/${orderId}?fields=id,*items`);
  return Object.fromEntries(
    order.items.map((item: { product_handle: string }) => [item.product_handle, item]),
  );
}

/** Removes units of an order by an edit. @param quantity the remaining quantity */
export async function editTo(
  s: Storefront,
  orderId: string,
  handle: string,
  quantity: number,
): Promise<void> {
  const items = await itemsOf(s, orderId);
  await s.ok("POST", "/admin/order-edits", { order_id: orderId });
  await s.ok("POST", `/admin/order-edits/${orderId}/items/item/${items[handle]?.id}`, { quantity });
  await s.ok("POST", `/admin/order-edits/${orderId}/confirm`, {});
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
): Promise<void> {
  const items = [{ id: (await itemsOf(s, orderId))[handle]?.id, quantity }];
  const location_id = await locationOf(s);
  const { return: begun } = await s.ok("POST", "/admin/returns", { order_id: orderId, location_id });
  const path = `/admin/returns/${begun.id}`;
  await s.ok("POST", `${path}/request-items`, { items });
  await s.ok("POST", `${path}/request`, {});
  await s.ok("POST", `${path}/receive`, {});
  await s.ok("POST", `${path}/receive-items`, { items });
  await s.ok("POST", `${path}/receive/confirm`, {});
}

const locationOf = async (s: Storefront): Promise<string> =>
  (await s.ok("GET", "/admin/stock-locations")).stock_locations[0].id;
