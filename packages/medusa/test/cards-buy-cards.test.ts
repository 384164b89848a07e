import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { paymentsOf } from "./support/figures.js";
import { type SharedShop, sharedShop, startShop } from "./support/shop.js";

/** The products: a print for 20.00, and two gift cards, one by Medusa's flag and one by metadata. */
async function withProducts<Shop extends Pick<SharedShop, "storefront">>(shop: Shop): Promise<Shop> {
  const { storefront } = shop;
  await storefront.createProduct("print", 20);
  await storefront.createProduct("gift-card", 25, { is_giftcard: true });
  await storefront.createProduct("voucher", 30, { metadata: { giftcard: true } });
  return shop;
}

let shop: Omit<SharedShop, "peer">;
beforeAll(async () => {
  shop = await withProducts(await sharedShop("whole"));
});

const issue = (balanceCents = 7500) => shop.service.issueCard({ balanceCents });
const read = (cartId: string) => shop.storefront.ok("GET", `/store/giftcard-pay/carts/${cartId}`);
const notPayable = {
  status: 409,
  body: { code: "giftcard_not_payable", message: expect.stringContaining("can't pay for a gift card") },
};

async function complete(cartId: string): Promise<string> {
  const { body } = await shop.storefront.complete(cartId);
  expect(body.type, JSON.stringify(body)).toBe("order");
  return body.order.id;
}

const amountsOf = async (orderId: string) => {
  const { gifts, others } = paymentsOf(await shop.storefront.order(orderId));
  const amounts = (payments: { amount: number }[]) => payments.map(({ amount }) => amount);
  return { byCard: amounts(gifts), byBank: amounts(others) };
};

describe.each(["gift-card", "voucher"])("a cart with a %s", (handle) => {
  const priceCents = handle === "voucher" ? 3000 : 2500;

  test("and nothing else rejects a card, at the quote and on apply", async () => {
    const { storefront } = shop;
    const card = await issue();
    const cartId = await storefront.createCart(handle);
    const quote = { cardNumber: card.cardNumber, pin: card.pin };
    expect(await storefront.send("POST", `/store/giftcard-pay/carts/${cartId}/quote`, quote)).toMatchObject(notPayable);
    expect(await storefront.apply(cartId, card)).toMatchObject(notPayable);
    expect(await read(cartId)).toMatchObject({ coveredCents: 0, notByCardCents: priceCents, cards: [] });
  });

  test("and a print: the card pays for the print only", async () => {
    const { storefront } = shop;
    const card = await issue();
    const cartId = await storefront.createCart("print");
    await storefront.addItem(cartId, handle);
    const quote = { cardNumber: card.cardNumber, pin: card.pin };
    const quoted = await storefront.send("POST", `/store/giftcard-pay/carts/${cartId}/quote`, quote);
    expect(quoted.body).toMatchObject({ usableCents: 2000, remainderCents: priceCents });
    const applied = await storefront.apply(cartId, card);
    expect(applied.body).toMatchObject({
      ...{ totalCents: 2000 + priceCents, coveredCents: 2000 },
      ...{ remainderCents: priceCents, notByCardCents: priceCents },
    });
    expect(await storefront.apply(cartId, await issue())).toMatchObject(notPayable);
    await storefront.initiate(cartId);
    expect(await amountsOf(await complete(cartId))).toEqual({ byCard: [20], byBank: [priceCents / 100] });
    expect(await shop.balanceCents(card)).toBe(5500);
  });
});

describe("a gift card product added after a card was applied", () => {
  test("is not paid by the card: the old session is rejected, and a new one covers the product", {
    tags: "long",
  }, async () => {
    const { storefront } = shop;
    const card = await issue();
    const cartId = await storefront.createCart("print");
    expect((await storefront.apply(cartId, card)).body).toMatchObject({ remainderCents: 0 });
    await storefront.addItem(cartId, "gift-card");
    expect(await read(cartId)).toMatchObject({
      ...{ coveredCents: 2000, remainderCents: 2500, notByCardCents: 2500 },
    });
    expect(await storefront.complete(cartId)).toMatchObject({
      status: 400,
      body: { code: "amount_changed" },
    });
    expect(await shop.balanceCents(card)).toBe(7500);
    await storefront.initiate(cartId);
    expect(await amountsOf(await complete(cartId))).toEqual({ byCard: [20], byBank: [25] });
    expect(await shop.balanceCents(card)).toBe(5500);
  });

  test("is never paid by the card, even if it is the last item left; the order stands", { tags: "long" }, async () => {
    const { storefront } = shop;
    const card = await issue();
    const cartId = await storefront.createCart("print");
    await storefront.apply(cartId, card);
    const { items } = await storefront.addItem(cartId, "gift-card");
    const print = items.find((item: { product_handle: string }) => item.product_handle === "print");
    await storefront.ok("DELETE", `/store/carts/${cartId}/line-items/${print.id}`);
    expect(await read(cartId)).toMatchObject({ coveredCents: 0, remainderCents: 2500 });
    await storefront.initiate(cartId);
    const orderId = await complete(cartId);
    await shop.passTime(60 * 60_000);
    await storefront.ok("POST", "/admin/giftcard-pay/recover", {});
    expect((await storefront.order(orderId)).status).toBe("pending");
    expect(await amountsOf(orderId)).toEqual({ byCard: [], byBank: [25] });
    expect(await shop.balanceCents(card)).toBe(7500);
  });
});

test("a product that becomes a gift card while in the cart is judged at completion", async () => {
  const { storefront } = shop;
  const card = await issue();
  const id = await storefront.createProduct("becomes-one", 20);
  const cartId = await storefront.createCart("becomes-one");
  expect((await storefront.apply(cartId, card)).body).toMatchObject({ remainderCents: 0 });
  await storefront.ok("POST", `/admin/products/${id}`, { metadata: { giftcard: "true" } });
  expect(await storefront.complete(cartId)).toMatchObject({ status: 400, body: { code: "amount_changed" } });
  expect(await shop.balanceCents(card)).toBe(7500);
  await storefront.initiate(cartId);
  expect(await amountsOf(await complete(cartId))).toEqual({ byCard: [], byBank: [20] });
});

test("by line, no charge is for a gift card product", { tags: "long" }, async () => {
  shop = await withProducts(await sharedShop("by-line"));
  const cartId = await shop.storefront.createCart("gift-card");
  await shop.storefront.addItem(cartId, "print", 2);
  await shop.storefront.apply(cartId, await issue());
  await shop.storefront.initiate(cartId);
  const orderId = await complete(cartId);
  expect(await amountsOf(orderId)).toEqual({ byCard: [40], byBank: [25] });
  const { charges } = await shop.storefront.ok("GET", `/admin/giftcard-pay/orders/${orderId}`);
  const { items } = (await shop.storefront.ok("GET", `/admin/orders/${orderId}?fields=id,*items`)).order;
  const print = items.find((item: { product_handle: string }) => item.product_handle === "print");
  expect(charges.map(({ pieces }: { pieces: { line: string; cents: number }[] }) => pieces)).toEqual([
    [expect.objectContaining({ line: print.id, cents: 2000 })],
    [expect.objectContaining({ line: print.id, cents: 2000 })],
  ]);
});

test("with cardsBuyCards, the card pays for everything", { tags: "long" }, async () => {
  const own = await withProducts(await startShop({}, { cardsBuyCards: true }));
  onTestFinished(() => own.stop());
  shop = own;
  const card = await issue();
  const giftCart = await shop.storefront.createCart("gift-card");
  const applied = await shop.storefront.apply(giftCart, card);
  expect(applied.body).toMatchObject({ coveredCents: 2500, remainderCents: 0 });
  expect(applied.body.notByCardCents).toBeUndefined();
  expect(await amountsOf(await complete(giftCart))).toEqual({ byCard: [25], byBank: [] });
  expect(await shop.balanceCents(card)).toBe(5000);
});
