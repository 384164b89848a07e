import { inCents } from "../../../scripts/shops/whole-cents.mjs";
import { sum } from "../books/cents.js";
import { centsOff } from "../books/issuer.js";
import type { IssuedCard } from "../faults/service.js";
import type { CartPlan } from "./make-cart.js";
import { type CartShop, setInclusive } from "./open-shop.js";

/** A paid order, with the cards that paid for it. */
export interface Bought {
  readonly orderId: string;
  readonly cartId: string;
  readonly paidCents: number;
  readonly cards: readonly (IssuedCard & { readonly issuedCents: number })[];
  /** The price of one unit of each line in fractional cents, by product handle. */
  readonly unitCents: Readonly<Record<string, number>>;
}

export type Expect = (isRight: boolean, what: string) => void;

/**
 * Buys a cart over HTTP, and captures its payments.
 *
 * @param expect is called to check that quote, session, charges, payments, bank and order have the same whole cents
 * @throws if a call fails
 */
export async function buy(shop: CartShop, plan: CartPlan, expect: Expect): Promise<Bought> {
  const { storefront, giftcards, bank } = shop.world;
  await setInclusive(shop, plan.isInclusive);
  const cartId = await fill(shop, plan);
  let quote = await storefront.ok("GET", `/store/giftcard-pay/carts/${cartId}`);
  const cards: Bought["cards"][number][] = [];
  for (const issuedCents of plan.cardsCents) {
    if (quote.remainderCents === 0) break;
    const card = await giftcards.issueCard(issuedCents);
    const { status, body } = await storefront.apply(cartId, card);
    if (status !== 200) throw new Error(`Applying a card failed with ${status} ${JSON.stringify(body)}.`);
    cards.push({ ...card, issuedCents });
    quote = body;
  }
  const { totalCents, coveredCents, remainderCents } = quote;
  const { cart } = await storefront.ok("GET", `/store/carts/${cartId}?fields=total`);
  expect(inCents(cart.total) === totalCents, `the cart costs ${cart.total}, and is quoted ${totalCents}`);
  expect(coveredCents + remainderCents === totalCents, `${coveredCents} + ${remainderCents} of ${totalCents}`);
  if (remainderCents > 0) {
    const { status, body } = await storefront.initiate(cartId, "pp_bank_bank", { cart: cartId });
    if (status !== 200) throw new Error(`The payment failed with ${status} ${JSON.stringify(body)}.`);
    const [session] = body.payment_collection.payment_sessions;
    expect(session.amount === remainderCents / 100, `the session asks for ${session.amount}`);
  }
  const { body } = await storefront.complete(cartId);
  if (body?.type !== "order") throw new Error(`No order was placed: ${JSON.stringify(body)}`);
  const orderId: string = body.order.id;

  const { order } = await storefront.ok(
    "GET",
    `/admin/orders/${orderId}?fields=total,*items,*payment_collections.payments`,
  );
  expect(inCents(order.total) === totalCents, `the order costs ${order.total}, and was quoted ${totalCents}`);
  const { payments } = order.payment_collections[0];
  const booked = payments.map(({ amount }: { amount: number }) => amount) as number[];
  expect(
    booked.every((amount) => amount === inCents(amount) / 100),
    `payments of ${booked}, which are not whole cents`,
  );
  expect(sum(booked.map(inCents)) === totalCents, `${totalCents} are booked as ${booked}`);
  const held = bank.heldCents(cartId);
  expect(sum(held) === remainderCents, `the bank holds ${held}, not ${remainderCents}`);
  const spent = await centsOff(shop.world.giftcards, cards);
  expect(spent === coveredCents, `the cards paid ${spent}, not ${coveredCents}`);
  for (const { id } of payments) await storefront.ok("POST", `/admin/payments/${id}/capture`, {});
  const unitCents = Object.fromEntries(
    order.items.map((item: { product_handle: string; total: number; quantity: number }) => [
      item.product_handle,
      (item.total * 100) / item.quantity,
    ]),
  );
  return { orderId, cartId, paidCents: totalCents, cards, unitCents };
}

/** Creates the planned cart, with its delivery. @returns its id */
async function fill(shop: CartShop, plan: CartPlan): Promise<string> {
  const { ok } = shop.world.storefront;
  const address = {
    ...{ first_name: "Ada", last_name: "Jansen", address_1: "Gracht 1" },
    ...{ city: "Amsterdam", postal_code: "1011 AB", country_code: plan.country },
  };
  const { cart } = await ok("POST", "/store/carts", {
    ...{ region_id: shop.regionId, email: "ada@example.com" },
    ...{ shipping_address: address, billing_address: address, promo_codes: plan.codes },
    items: plan.lines.map(({ good, quantity }) => ({ variant_id: shop.variantIds[good], quantity })),
  });
  const option_id = shop.deliveryIds[plan.isPosted ? 1 : 0];
  await ok("POST", `/store/carts/${cart.id}/shipping-methods`, { option_id });
  return cart.id;
}
