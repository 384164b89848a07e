import { editTo, fulfil, refundOf, takeBack } from "../../packages/medusa/test/support/order-admin.js";
import { inCents } from "../../scripts/shops/whole-cents.mjs";
import { list, sum } from "../faults/books.js";
import { pause } from "../faults/run-cell.js";
import { type Bought, balancesOf, type Expect } from "./buy.js";
import type { CartPlan, Line } from "./make-cart.js";
import type { CartShop } from "./open-shop.js";

/** Medusa itself takes a cent or less for nothing. */
const TOLERATED_CENTS = 1;
const RUN_MS = 60_000;

interface Scene {
  readonly shop: CartShop;
  readonly plan: CartPlan;
  readonly bought: Bought;
  readonly expect: Expect;
}

/**
 * Takes an order's units back one after the other, by Medusa's admin API and the plugin's refund button, then the rest.
 *
 * @param expect hears whether each unit can go back for what was paid for it, and whether in the end everything is back
 *   where it came from
 * @throws if a call fails
 */
export async function takeAllBack(scene: Scene): Promise<void> {
  const { shop, plan, bought } = scene;
  const { storefront } = shop.world;
  const handedOver = plan.lines.filter(({ way }) => way === "return").map(({ good }) => good);
  if (handedOver.length > 0) await fulfil(storefront, bought.orderId, handedOver);
  const left = plan.lines.map(({ quantity }) => quantity);
  let backCents = 0;
  for (const { line: index, quantity } of plan.steps) {
    const line = plan.lines[index] as Line;
    left[index] = (left[index] ?? 0) - quantity;
    const cents = await giveBack(scene, line, quantity, left[index]);
    const worthCents = (bought.unitCents[line.good] ?? 0) * quantity;
    // Each unit is of whole cents, so it differs from its share by less than one.
    scene.expect(
      Math.abs(cents - worthCents) < quantity + 0.001,
      `${quantity} ${line.good} by ${line.way}: ${cents} came back of ${worthCents.toFixed(2)}`,
    );
    backCents += cents;
    await judgeOrder(scene, backCents);
  }
  if (backCents < bought.paidCents) await end(scene, bought.paidCents - backCents);
  await judgeAll(scene);
}

/** @returns how many cents came back */
async function giveBack(scene: Scene, { good, way }: Line, quantity: number, left: number): Promise<number> {
  const { shop, bought } = scene;
  const { storefront } = shop.world;
  if (way === "return") await takeBack(storefront, bought.orderId, good, quantity);
  else if (way === "edit") await editTo(storefront, bought.orderId, good, left);
  else {
    const cents = await runRefund(scene, { productId: shop.productIds[good] });
    if (way === "show") return cents;
    // It is back already.
    await editTo(storefront, bought.orderId, good, 0);
    const { owedCents } = await refundOf(storefront, bought.orderId);
    scene.expect(owedCents === 0, `${owedCents} are owed for what its show gave back`);
    return cents;
  }
  const refund = await refundOf(storefront, bought.orderId);
  const { owedCents, isPossible, splits } = refund;
  scene.expect(isPossible, `a return isn't possible: ${JSON.stringify(refund)}`);
  const [split] = splits;
  if (!split) return 0;
  const path = `/admin/giftcard-pay/orders/${bought.orderId}/refund`;
  const { status, body } = await storefront.send("POST", path, split);
  if (status !== 200) throw new Error(`A refund was answered ${status} ${JSON.stringify(body)}.`);
  scene.expect(split.amountCents === owedCents, `${owedCents} were owed, and ${split.amountCents} came back`);
  return split.amountCents;
}

/** Refunds what was sold of something, of which this order is the only one that isn't back. @returns how many cents */
async function runRefund({ shop, bought, expect }: Scene, what: object): Promise<number> {
  const { ok } = shop.world.storefront;
  const path = "/admin/giftcard-pay";
  const { plan } = await ok("POST", `${path}/refund-plan`, what);
  const ids = plan.orders.map(({ orderId }: { orderId: string }) => orderId);
  expect(list(ids) === list([bought.orderId]), `the plan is for ${list(ids)}`);
  expect(plan.refused.length === 0, `the plan refuses ${JSON.stringify(plan.refused)}`);
  const { sold, title, amountCents } = plan;
  if (ids.length === 0) return 0;
  const { bulkRefund } = await ok("POST", `${path}/bulk-refunds`, { sold, title, amountCents });
  const giveUpAt = performance.now() + RUN_MS;
  for (;;) {
    await ok("POST", `${path}/recover`, {});
    const { open, waiting, doneCents } = (await ok("GET", `${path}/bulk-refunds/${bulkRefund.id}`))
      .bulkRefund;
    if (waiting.length > 0) throw new Error(`The show's refund waits: ${JSON.stringify(waiting)}`);
    if (open === 0) {
      expect(doneCents === amountCents, `${amountCents} were planned, and ${doneCents} came back`);
      return doneCents;
    }
    if (performance.now() > giveUpAt) throw new Error("The show's refund doesn't end.");
    await pause(200);
  }
}

/** Gives back what is left once no unit is, such as delivery. */
async function end(scene: Scene, leftCents: number): Promise<void> {
  const { shop, plan, bought, expect } = scene;
  if (plan.end === "cancel") {
    await shop.world.storefront.ok("POST", `/admin/orders/${bought.orderId}/cancel`, {});
    return;
  }
  const cents = await runRefund(scene, { orderIds: [bought.orderId] });
  expect(cents === leftCents, `the rest of the order is ${cents}, not ${leftCents}`);
}

/** What Medusa's page shows meanwhile. */
async function judgeOrder({ shop, bought, expect }: Scene, backCents: number): Promise<void> {
  const { summary } = await shop.world.storefront.order(bought.orderId);
  const { refunded_total: refunded, pending_difference: pending } = summary;
  expect(inCents(refunded) === backCents, `the order shows ${refunded} refunded of ${backCents} cents`);
  expect(Math.abs(inCents(pending)) <= TOLERATED_CENTS, `the order shows ${pending} outstanding`);
}

/** Everything is back, on the card and at the bank that it came from. */
async function judgeAll({ shop, bought, expect }: Scene): Promise<void> {
  const { storefront, bank, shopBooks } = shop.world;
  const balances = await balancesOf(shop, bought.cards);
  const issued = bought.cards.map(({ issuedCents }) => issuedCents);
  expect(list(balances) === list(issued), `the cards hold ${list(balances)} of ${list(issued)}`);
  const held = bank.heldCents(bought.cartId);
  expect(held.length === 0, `the bank holds ${list(held)}`);
  const { payment_collections } = await storefront.order(bought.orderId);
  for (const { amount, refunds, canceled_at } of payment_collections[0].payments) {
    const back = sum(refunds.map((refund: { amount: number }) => inCents(refund.amount)));
    expect(
      canceled_at !== null || back === inCents(amount),
      `${back} cents came back of a payment of ${amount}`,
    );
  }
  const { rows } = await shopBooks.query(
    "select state from giftcard_charge where cart_id = $1 and state <> 'reversed'",
    [bought.cartId],
  );
  expect(rows.length === 0, `charges are ${list(rows.map(({ state }) => state))}`);
}
