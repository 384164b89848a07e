/** The URL of the shop's gift card routes. The tests use the same shop. */
export const endpoint = "/shop/store/giftcard-pay";

/** A card whose balance is above the limit per order. */
export const rich = {
  number: "6064350000000001234",
  pin: "012345",
  balanceCents: 7500,
  expiryDate: "2027-05-31",
};

/** A card whose balance is below every order in the gallery. */
export const poor = {
  number: "6064350000000005678",
  pin: "000007",
  balanceCents: 1000,
  expiryDate: "2026-12-31",
};

async function post(path: string, body: unknown): Promise<{ id: string }> {
  const response = await fetch(path, { method: "POST", body: JSON.stringify(body) });
  return response.json();
}

/** Creates a cart that both cards can pay. @returns its id */
export async function makeCart(options: object = {}): Promise<string> {
  return (await post("/shop/carts", { cards: [rich, poor], ...options })).id;
}

/** Changes a cart in the shop, or injects faults into its next calls. */
export async function changeCart(id: string, to: object): Promise<void> {
  await post(`/shop/carts/${id}`, to);
}
