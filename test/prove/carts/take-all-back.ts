import { editTo, fulfil, refundOf, takeBack } from "../../../packages/medusa/test/support/order-admin.js";
import { inCents } from "../../../scripts/shops/whole-cents.mjs";
import { list, sum } from "../books/cents.js";
import { readCards } from "../books/issuer.js";
import { pause } from "../faults/run-cell.js";
import type { Bought, Expect } from "./buy.js";
import type { CartPlan, Line } from "./make-cart.js";
import type { CartShop } from "./open-shop.js";

/** Medusa itself treats a cent or less as nothing outstanding. */
const TOLERATED_CENTS = 1;
const RUN_MS = 60_000;

interface Scene {
  readonly shop: CartShop;
  readonly plan: CartPlan;
  readonly bought: Bought;
  readonly expect: Expect;
}

/**
 * Refunds the units of an order step by step, with Medusa's admin API and the plugin's refund button. Then refunds the
 * remainder. Calls `expect` to check that each unit is refunded at the price paid for it, and that in the end all money
 * is back on the card or at the bank that paid it.
 *
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
    // The price of a unit is in whole cents, so it differs from its share of the line by less than one cent.
    scene.expect(
      Math.abs(cents - worthCents) < quantity + 0.001,
      `${quantity} ${line.good} by ${line.way}: ${cents} refunded of ${worthCents.toFixed(2)}`,
    );
    backCents += cents;
    await judgeOrder(scene, backCents);
  }
  if (backCents < bought.paidCents) await end(scene, bought.paidCents - backCents);
  await judgeAll(scene);
}

/** Takes the units of a step off the order and refunds them. @returns the refunded cents */
async function giveBack(scene: Scene, { good, way }: Line, quantity: number, left: number): Promise<number> {
  const { shop, bought } = scene;
  const { storefront } = shop.world;
  if (way === "return") await takeBack(storefront, bought.orderId, good, quantity);
  else if (way === "edit") await editTo(storefront, bought.orderId, good, left);
  else {
    const cents = await runRefund(scene, { productId: shop.productIds[good] });
    if (way === "show") return cents;
    // The bulk refund has already paid for these units, so the edit must not owe anything.
    await editTo(storefront, bought.orderId, good, 0);
    const { owedCents } = await refundOf(storefront, bought.orderId);
    scene.expect(owedCents === 0, `${owedCents} are owed for units that the bulk refund has already paid`);
    return cents;
  }
  const refund = await refundOf(storefront, bought.orderId);
  const { owedCents, isPossible, splits } = refund;
  scene.expect(isPossible, `a refund isn't possible: ${JSON.stringify(refund)}`);
  const [split] = splits;
  if (!split) return 0;
  const path = `/admin/giftcard-pay/orders/${bought.orderId}/refund`;
  const { status, body } = await storefront.send("POST", path, split);
  if (status !== 200) throw new Error(`A refund failed with ${status} ${JSON.stringify(body)}.`);
  scene.expect(split.amountCents === owedCents, `${owedCents} were owed, and ${split.amountCents} refunded`);
  return split.amountCents;
}

/** Runs a bulk refund whose plan must contain this order alone. @returns the refunded cents */
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
    const { open, waiting, doneCents } = (await ok("GET", `${path}/bulk-refunds/${bulkRefund.id}`)).bulkRefund;
    if (waiting.length > 0) throw new Error(`The bulk refund waits for a person: ${JSON.stringify(waiting)}`);
    if (open === 0) {
      expect(doneCents === amountCents, `${amountCents} were planned, and ${doneCents} refunded`);
      return doneCents;
    }
    if (performance.now() > giveUpAt) throw new Error(`The bulk refund is not finished after ${RUN_MS} ms.`);
    await pause(200);
  }
}

/** Refunds the remainder after all units, such as delivery. */
async function end(scene: Scene, leftCents: number): Promise<void> {
  const { shop, plan, bought, expect } = scene;
  if (plan.end === "cancel") {
    await shop.world.storefront.ok("POST", `/admin/orders/${bought.orderId}/cancel`, {});
    return;
  }
  const cents = await runRefund(scene, { orderIds: [bought.orderId] });
  expect(cents === leftCents, `the remainder of the order is ${cents}, not ${leftCents}`);
}

/** Checks the refunded and outstanding amounts that Medusa shows for the order. */
async function judgeOrder({ shop, bought, expect }: Scene, backCents: number): Promise<void> {
  const { summary } = await shop.world.storefront.order(bought.orderId);
  const { refunded_total: refunded, pending_difference: pending } = summary;
  expect(inCents(refunded) === backCents, `the order shows ${refunded} refunded of ${backCents} cents`);
  expect(Math.abs(inCents(pending)) <= TOLERATED_CENTS, `the order shows ${pending} outstanding`);
}

/** Checks that all money is back on the cards and at the bank that paid it. */
async function judgeAll({ shop, bought, expect }: Scene): Promise<void> {
  const { storefront, bank, shopBooks } = shop.world;
  const balances = (await readCards(shop.world.giftcards, bought.cards)).map((card) => card.balanceCents);
  const issued = bought.cards.map(({ issuedCents }) => issuedCents);
  expect(list(balances) === list(issued), `the cards hold ${list(balances)} of ${list(issued)}`);
  const held = bank.heldCents(bought.cartId);
  expect(held.length === 0, `the bank holds ${list(held)}`);
  const { payment_collections } = await storefront.order(bought.orderId);
  for (const { amount, refunds, canceled_at } of payment_collections[0].payments) {
    const back = sum(refunds.map((refund: { amount: number }) => inCents(refund.amount)));
    expect(canceled_at !== null || back === inCents(amount), `${back} cents were refunded of a payment of ${amount}`);
  }
  const { rows } = await shopBooks.query(
    "select state from giftcard_charge where cart_id = $1 and state <> 'reversed'",
    [bought.cartId],
  );
  expect(rows.length === 0, `charges are ${list(rows.map(({ state }) => state))}`);
}
