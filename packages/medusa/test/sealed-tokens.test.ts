import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SharedShop, sharedShop } from "./support/shop.js";
import type { Answer } from "./support/storefront.js";

let shop: SharedShop;
let database: pg.Client;
/** A logged-in customer. */
let customer: Record<string, string>;
beforeAll(async () => {
  shop = await sharedShop("whole");
  database = new pg.Client({ connectionString: shop.databaseUrl });
  await database.connect();
  customer = await shop.storefront.logIn("sealed@example.org");
});
afterAll(() => database?.end());

/** A cart of the customer's for 74.98, with a card of 75.00 and a session for the remainder. */
async function createReadyCart(data?: Record<string, unknown>) {
  const { storefront, service } = shop;
  const cartId = await storefront.createCart();
  const taken = await storefront.send("POST", `/store/carts/${cartId}/customer`, {}, customer);
  expect(taken.status).toBe(200);
  await storefront.apply(cartId, await service.issueCard({ balanceCents: 7500 }));
  const { body } = await storefront.initiate(cartId, "pp_bank_bank", data);
  return { cartId, collectionId: body.payment_collection.id as string };
}

async function tokensOf(cartId: string): Promise<string[]> {
  const { rows } = await database.query("select sealed_token from giftcard_charge where cart_id = $1", [cartId]);
  const tokens = rows.map((row) => String(row.sealed_token));
  expect(tokens.length).toBeGreaterThan(0);
  for (const token of tokens) expect(token.split(".")).toHaveLength(5);
  return tokens;
}

function expectHidden({ status, body }: Answer, tokens: readonly string[], what: string) {
  const text = JSON.stringify(body);
  expect(status, `${what}: ${text}`).toBe(200);
  expect(text, what).not.toContain("sealed_token");
  for (const token of tokens) expect(text, what).not.toContain(token);
  return text;
}

test("no store route returns a sealed cancel token of a placed order, whatever fields are requested", async () => {
  const { storefront } = shop;
  const { cartId, collectionId } = await createReadyCart();
  const read = (path: string) => storefront.send("GET", path, undefined, customer);
  const write = (path: string, body: object) => storefront.send("POST", path, body, customer);

  const inCollection = [
    "*payments",
    "+payments.data",
    "*payment_sessions",
    "+payment_sessions.data",
    "*payment_sessions.payment",
    "*payments.payment_session",
  ];
  const ofOrder = inCollection.map((field) => field.replace(/^[*+]/, "$&payment_collections."));
  const ofCart = inCollection.map((field) => field.replace(/^[*+]/, "$&payment_collection."));

  const completed = await write(`/store/carts/${cartId}/complete?fields=${encodeURIComponent(ofOrder.join(","))}`, {});
  const tokens = await tokensOf(cartId);
  expectHidden(completed, tokens, "completion");
  const orderId: string = completed.body.order.id;
  // The payment's data keeps a sealed copy for staff.
  const { order } = await storefront.ok("GET", `/admin/orders/${orderId}?fields=*payment_collections.payments`);
  expect(JSON.stringify(order)).toContain(tokens[0]);

  const query = (field: string) => `fields=${encodeURIComponent(field)}`;
  const answers: [string, Answer][] = [];
  const ask = async (what: string, answer: Promise<Answer>) => void answers.push([what, await answer]);
  await ask("cart", read(`/store/carts/${cartId}`));
  await ask("cart, without login", storefront.send("GET", `/store/carts/${cartId}`));
  await ask("cart, in capitals", read(`/STORE/Carts/${cartId}/`));
  for (const field of ofCart) await ask(`cart ${field}`, read(`/store/carts/${cartId}?${query(field)}`));
  await ask("order", read(`/store/orders/${orderId}`));
  for (const field of ofOrder) {
    await ask(`order ${field}`, read(`/store/orders/${orderId}?${query(field)}`));
    await ask(`orders ${field}`, read(`/store/orders?${query(field)}`));
    await ask(`order through its cart ${field}`, read(`/store/orders/${orderId}?${query(`cart.${field}`)}`));
    await ask(`completion ${field}`, write(`/store/carts/${cartId}/complete?${query(field)}`, {}));
  }
  for (const field of inCollection)
    await ask(`collection ${field}`, write(`/store/payment-collections?${query(field)}`, { cart_id: cartId }));
  const other = await storefront.logIn("other@example.org");
  const transfer = `/store/orders/${orderId}/transfer/request?${query(ofOrder.join(","))}`;
  await ask("transfer", storefront.send("POST", transfer, {}, other));
  await ask("paid by", read(`/store/giftcard-pay/orders/${orderId}`));

  const showingData = answers.filter(([what, answer]) => expectHidden(answer, tokens, what).includes('"last_four"'));
  // These routes still return the payment's other data, so without the filter they would show the token.
  expect(showingData.map(([what]) => what)).toEqual(
    expect.arrayContaining(["cart", "cart, without login", "cart, in capitals"]),
  );
  for (const name of ["order ", "orders ", "completion ", "collection ", "transfer"])
    expect(showingData.filter(([what]) => what.startsWith(name)).length, name).toBeGreaterThan(0);
  expect(collectionId).toBe(order.payment_collections[0].id);
});

test("the cart's route returns no sealed token while the bank authorizes the remainder", { tags: "long" }, async () => {
  const { storefront } = shop;
  const { cartId } = await createReadyCart({ behaviour: "slow" });
  const completing = storefront.complete(cartId);
  const readCart = () => storefront.send("GET", `/store/carts/${cartId}`);
  await expect.poll(async () => JSON.stringify((await readCart()).body)).toContain('"last_four"');
  expectHidden(await readCart(), await tokensOf(cartId), "cart");
  expect((await completing).body.type).toBe("order");
});

test("a response without a token is sent unchanged", async () => {
  const { storefront } = shop;
  const { products } = await storefront.ok("GET", "/store/products?fields=handle");
  expect(products.length).toBeGreaterThan(0);
  const unknown = await storefront.send("GET", "/store/orders/order_sealed_token");
  expect(unknown).toMatchObject({ status: 404, body: { message: expect.stringContaining("sealed_token") } });
});
