import { openShopper } from "../../../scripts/shops/vendure-shopper.mjs";
import { startPostgres } from "../../support/postgres.js";
import { bookedCents } from "../../support/vendure-books.js";
import { centsOff } from "../books/issuer.js";
import type { IssuedCard } from "../faults/service.js";
import { createRandom } from "../people/random.js";
import { channels, coupons, openShop, type Shop } from "./shop.js";

const FAULT = "... on ErrorResult { errorCode message }";
const ORDER = `{ ... on Order { id } ${FAULT} }`;

/** A cart's result. */
export interface VendureCart {
  readonly seed: number;
  readonly about: string;
  readonly wrong: readonly string[];
}

export interface VendureCartsOptions {
  /** The first cart's seed; each further one takes the next. */
  readonly seed: number;
  readonly carts: number;
  readonly signal?: AbortSignal;
  /** A PostgreSQL server to use. Default: a new one. */
  readonly postgresUrl?: string;
  onCart?(result: VendureCart, done: number): void;
}

/** Buys random carts with VAT and coupons by cards and the bank, and refunds them charge by charge. */
export async function runVendureCarts({ seed, carts, signal, postgresUrl, onCart }: VendureCartsOptions) {
  const postgres = postgresUrl === undefined ? await startPostgres() : null;
  const results: VendureCart[] = [];
  let shop: Shop | undefined;
  try {
    shop = await openShop(postgresUrl ?? (postgres?.url as string));
    while (results.length < carts && !signal?.aborted) {
      const result = await buyAndReturn(shop, seed + results.length);
      results.push(result);
      onCart?.(result, results.length);
    }
    return results;
  } finally {
    await shop?.close();
    await postgres?.stop();
  }
}

async function buyAndReturn(shop: Shop, seed: number): Promise<VendureCart> {
  const random = createRandom(seed);
  const { world, variantIds } = shop;
  const channel = random.pick(channels);
  const shopper = openShopper(random.pick(world.urls()), undefined, undefined, channel);
  const { code, id } = await shopper.order();
  await shopper.moveTo("AddingItems");
  for (const variant of random.shuffle(variantIds).slice(0, random.int(0, 3)))
    await shopper.call(
      `mutation { addItemToOrder(productVariantId: "${variant}", quantity: ${random.int(1, 7)}) ${ORDER} }`,
    );
  const used = random.shuffle(coupons).slice(0, random.int(0, 2));
  for (const coupon of used) await shopper.call(`mutation { applyCouponCode(couponCode: "${coupon}") ${ORDER} }`);
  const shipping = random.pick<{ id: string }>(await shopper.call("{ eligibleShippingMethods { id } }"));
  await shopper.call(`mutation { setOrderShippingMethod(shippingMethodId: ["${shipping.id}"]) ${ORDER} }`);
  const { totalWithTax } = await shopper.moveTo("ArrangingPayment");
  const cards: IssuedCard[] = [];
  for (let left = random.int(1, 5); left > 0; left -= 1) {
    const card = await world.giftcards.issueCard(random.chance(0.5) ? 5000 : random.int(100, 7500));
    const isApplied = await shopper.apply(card).then(
      () => true,
      () => false,
    );
    if (isApplied) cards.push(card);
  }
  const offCards = () => centsOff(world.giftcards, cards);
  const wrong: string[] = [];
  const expect = (what: string, found: number, wanted: number) =>
    void (found === wanted || wrong.push(`${what}: ${found} instead of ${wanted}`));
  await shopper.payByCard();
  const covered = await offCards();
  if (covered < totalWithTax) await shopper.payByBank(totalWithTax - covered);
  const admin = await world.admin();
  const placed = await admin.look(code);
  if (placed.state !== "PaymentSettled") wrong.push(`it is ${placed.state}`);
  expect("the bank", world.bank.heldCents(code), totalWithTax - covered);
  const query = `{ giftcardCharges(options: { orderCode: "${code}", take: 200 }) { items { state amount } } }`;
  const readCharges = async (): Promise<{ state: string; amount: number }[]> => (await admin.call(query)).items;
  const charges = await readCharges();
  expect(
    "the sum of charges",
    charges.reduce((sum, { amount }) => sum + amount, 0),
    covered,
  );
  const paymentOf = (method: string) => placed.payments.find((one) => one.method === method && one.state === "Settled");
  let held = covered;
  // A refund may take other charges of the same sum, so each amount is one that is left.
  for (let tries = charges.length; held > 0 && tries > 0; tries -= 1) {
    const open = (await readCharges()).filter(({ state }) => /^(devalued|committed|captured)$/.test(state));
    const { amount } = random.pick(open);
    await admin.refund(paymentOf("giftcard")?.id ?? "", amount).catch((error: Error) => wrong.push(error.message));
    held -= amount;
    expect("the cards after a refund", await offCards(), held);
  }
  for (let left = totalWithTax - covered; left > 0; ) {
    const cents = random.chance(0.5) ? left : random.int(1, left);
    await admin.refund(paymentOf("bank")?.id ?? "", cents).catch((error: Error) => wrong.push(error.message));
    left -= cents;
    expect("the bank after a refund", world.bank.heldCents(code), left);
  }
  const { payments } = await admin.look(code);
  for (const method of ["giftcard", "bank"]) expect(`${method} in Vendure`, bookedCents(payments, method), 0);
  const goods = `${placed.payments.length} payments, ${charges.length} charges`;
  return {
    seed,
    about: `order ${id}, ${(totalWithTax / 100).toFixed(2)}, ${channel ?? "gross"}, ${used.join(" and ") || "no coupon"}, ${goods}`,
    wrong,
  };
}
