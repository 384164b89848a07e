/** The gallery's shop: the same one that the tests have. */
export const endpoint = "/shop/store/giftcard-pay";

/** More than the limit on it. */
export const rich = {
  number: "6064350000000001234",
  pin: "012345",
  balanceCents: 7500,
  expiryDate: "2027-05-31",
};

/** Less than any order here. */
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

/** @returns the id of a new cart that knows both cards */
export async function makeCart(options: object = {}): Promise<string> {
  return (await post("/shop/carts", { cards: [rich, poor], ...options })).id;
}

/** Changes what the shop knows of a cart, or which faults its next calls meet. */
export async function changeCart(id: string, to: object): Promise<void> {
  await post(`/shop/carts/${id}`, to);
}
