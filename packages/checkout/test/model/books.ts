import { CheckoutError } from "../../src/index.js";
import type { OrderStory } from "./shop-calls.js";
import type { Row } from "./stage.js";
import type { World } from "./world.js";

const MOST_RECOVERIES = 12;
const settled = ["paid", "failed", "canceled", "refunded"];
const ended = ["committed", "captured", "reversed", "refused"];
const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);
const isHeld = ({ state }: Row) => state === "committed" || state === "captured";
const ofRun = ({ external_id }: Row, run: string) => String(external_id).startsWith(`${run}:`);

/** Recovers in a new process, then compares all books. */
export async function checkBooks(world: World): Promise<void> {
  await world.calm();
  await recoverAll(world);
  // A page stays open for a while, and some methods can't close it.
  world.other.closePages();
  for (const request of await world.other.lastNotifications()) {
    const { status } = await world.start().checkout.webhook(request);
    if (status !== 204) world.violate("a last notification is refused", String(status));
  }
  await recoverAll(world);
  await cancelDisputed(world);
  const { purchases, refunds } = await world.stage.rows();
  world.begunOrders = purchases.length;
  world.other.expect({ purchases, refunds });
  await checkCards(world);
  await checkPurchases(world);
  await checkRefunds(world);
  await checkStories(world);
  world.other.check({ purchases, refunds, violate: (kind, text) => world.violate(kind, text) });
  await checkStillSells(world);
}

/** Recovers, as every minute, until nothing changes any more. */
async function recoverAll(world: World): Promise<void> {
  const states = async () => {
    const { purchases, charges, tenders } = await world.stage.rows();
    return JSON.stringify([purchases, charges, tenders].map((rows) => rows.map(({ state }) => state)));
  };
  for (let before = ""; ; ) {
    for (let times = 0; ; times += 1) {
      const now = await states();
      if (now === before) return;
      if (times === MOST_RECOVERIES) return world.violate("recovery never ends", now);
      before = now;
      // Longer than any page, lease and delay.
      await world.stage.advance(61);
      await world
        .start()
        .checkout.recover()
        .catch((error: unknown) => world.violate("recover throws", String(error)));
    }
  }
}

/** A person cancels the orders whose payment has another amount or currency. The books name them. */
async function cancelDisputed(world: World): Promise<void> {
  const { purchases } = await world.stage.rows();
  const isDisputed = ({ last_error: code }: Row) => /wrong_(amount|currency)$/.test(String(code));
  for (const { order_id: orderId } of purchases.filter(isDisputed)) {
    const story = world.orders.find(({ id }) => id === orderId);
    if (story) story.isReverseAsked = true;
    await world.start().checkout.cancel(String(orderId));
  }
  await recoverAll(world);
}

/** Checks that each refund is done, and that its parts add up. */
async function checkRefunds(world: World): Promise<void> {
  const { refunds, charges } = await world.stage.rows();
  for (const refund of refunds) {
    const references = JSON.parse(String(refund.charge_references)) as string[];
    const own = charges.filter(({ reference }) => references.includes(String(reference)));
    const cardCents = sum(own.map((a) => Number(a.amount_cents)));
    if (cardCents + Number(refund.remainder_cents) !== Number(refund.amount_cents))
      world.violate("a refund is not its parts", `${refund.id}: ${cardCents} + ${refund.remainder_cents}`);
    if (refund.done_at === null) world.violate("a refund stays open", String(refund.id));
    if (own.some(({ state }) => state !== "reversed"))
      world.violate("a refunded card is still charged", String(refund.id));
  }
}

/** Checks that the service took from each card what the open charges show. */
async function checkCards(world: World): Promise<void> {
  const { charges, tenders } = await world.stage.rows();
  for (const [index, card] of world.cards.entries()) {
    const takenCents = card.issuedCents - (world.spentElsewhere[index] ?? 0) - (await card.balanceCents());
    const held = charges.filter((a) => a.last_four === card.lastFour && isHeld(a));
    const heldCents = sum(held.map((a) => Number(a.deducted_cents)));
    if (takenCents !== heldCents)
      world.violate("card and journal differ", `card ${index}: ${takenCents} taken, ${heldCents} booked`);
  }
  for (const { state, reason, reference } of charges)
    if (!ended.includes(String(state))) world.violate(`a charge stays ${state}`, `${reference} (${reason})`);
  for (const { state, id } of tenders) if (state === "charging") world.violate("a card stays charging", String(id));
  for (const a of charges)
    if (isHeld(a) && a.deducted_cents !== a.amount_cents)
      world.violate("charged other than booked", `${a.deducted_cents} for ${a.amount_cents}`);
  world.checkDevalues();
}

/** Checks that paid orders have cards and remainder exactly once, and all others nothing. */
async function checkPurchases(world: World): Promise<void> {
  const { purchases, refunds, charges, tenders } = await world.stage.rows();
  for (const charge of charges.filter(isHeld)) {
    const owner = purchases.find((p) => ofRun(charge, String(p.attempt_id)));
    if (owner?.state !== "paid")
      world.violate("charged for no paid order", `${charge.reference}, the purchase is ${owner?.state ?? "none"}`);
  }
  for (const purchase of purchases) {
    const { state } = purchase;
    const run = String(purchase.attempt_id);
    const parts = charges.filter((a) => ofRun(a, run));
    const returns = refunds.filter((refund) => refund.order_id === purchase.order_id);
    const returned = returns.flatMap(({ charge_references }) => JSON.parse(String(charge_references)) as string[]);
    const bankCents = world.other.heldCents(run) + sum(returns.map((refund) => Number(refund.remainder_cents)));
    const story = world.orders.find(({ id }) => id === purchase.order_id);
    if (!settled.includes(String(state))) world.violate(`a purchase stays ${state}`, String(purchase.order_id));
    if (state === "paid") {
      const cardCents = sum(parts.map((a) => Number(a.amount_cents)));
      if (cardCents + bankCents !== Number(purchase.total_cents))
        world.violate("paid is not the total", `${cardCents} + ${bankCents} for ${purchase.total_cents}`);
      const isAsked = (a: Row) =>
        story?.isRefundAsked ||
        story?.refundedReferences.has(String(a.reference)) ||
        returned.includes(String(a.reference));
      const lost = parts.filter((a) => !isHeld(a) && !isAsked(a));
      if (lost.length > 0) world.violate("paid by a card that is whole", `${lost.length} of ${parts.length}`);
    }
    if ((state === "paid" || state === "refunded") && bankCents !== Number(purchase.remainder_cents))
      world.violate("the bank has another remainder", `${bankCents}, not ${purchase.remainder_cents}`);
    if (state === "failed") {
      const isLost = (a: Row) => tenders.some(({ id, state }) => id === a.tender_id && state === "spent");
      const spent = parts.filter((a) => !isHeld(a) && isLost(a));
      // Spent by another order, which has it or was refunded since.
      const isSpent = (b: Row) =>
        isHeld(b) ||
        purchases.some(
          (p) => ofRun(b, String(p.attempt_id)) && ["paid", "canceled", "refunded"].includes(String(p.state)),
        );
      const isFresh = (a: Row) => !charges.some((b) => b.tender_id === a.tender_id && isSpent(b));
      if (spent.some(isFresh) && !story?.isReverseAsked && !story?.isRefundAsked)
        world.violate("a failed order keeps the card", String(spent[0]?.last_four));
    }
  }
}

/** Checks that earlier results are still true. */
async function checkStories(world: World): Promise<void> {
  const { purchases, charges } = await world.stage.rows();
  for (const story of world.orders) {
    const purchase = purchases.find((p) => p.order_id === story.id);
    const state = String(purchase?.state ?? "none");
    checkTold(world, story, purchase, state);
    if (story.isReverseDone && state !== "canceled") world.violate("canceled, and isn't", `the purchase is ${state}`);
    const kept = charges.filter((a) => isHeld(a) && ofRun(a, String(purchase?.attempt_id)));
    if (story.isRefundDone && kept.length > 0)
      world.violate("refunded, and isn't", `${kept.length} charges are held, the purchase is ${state}`);
    const isSure = world.other.isSureOf(String(purchase?.attempt_id));
    const isAsked = story.isReverseAsked || story.isRefundAsked;
    if (state === "failed" && isSure && !isAsked && !world.hasDatabaseFailed)
      world.violate("voided though the bank said authorized", story.id);
  }
}

function checkTold(world: World, story: OrderStory, purchase: Row | undefined, state: string): void {
  const allowed = ["paid"];
  if (story.isReverseAsked) allowed.push("canceled");
  if (story.isRefundAsked || story.isReturnAsked || story.refundedReferences.size > 0) allowed.push("refunded");
  for (const { cartId, totalCents } of story.paid) {
    if (!allowed.includes(state)) world.violate("told paid, and isn't", `the purchase is ${state}`);
    if (cartId && purchase?.cart_id !== cartId) world.violate("paid for another cart", story.id);
    if (totalCents !== Number(purchase?.total_cents))
      world.violate("paid for another total", `${totalCents}, and the purchase is of ${purchase?.total_cents}`);
  }
}

/** Checks that a failed order can still be paid: without its cards, by the bank alone. */
async function checkStillSells(world: World): Promise<void> {
  const { purchases } = await world.stage.rows();
  const { checkout } = world.start();
  for (const { id } of world.orders) {
    const purchase = purchases.find((p) => p.order_id === id);
    if (purchase?.state !== "failed") continue;
    const cart = world.carts.find((c) => c.id === purchase.cart_id);
    if (!cart) continue;
    const { purchases: now } = await world.stage.rows();
    const isSold = now.some((p) => p.cart_id === cart.id && p.order_id !== id && p.state === "paid");
    try {
      for (const card of (await checkout.list(cart)).cards) await checkout.remove(cart, card.id);
      let { status } = await checkout.pay({ id, cart }, { input: world.other.inputOf("authorize") });
      if (status === "pending") {
        world.other.settle(id, "authorized");
        ({ status } = await checkout.confirm(id));
      }
      if (status !== "paid") world.violate("can't be paid any more", status);
      if (isSold) world.violate("a cart is paid twice", cart.id);
    } catch (error) {
      if (isSold && error instanceof CheckoutError && error.code === "cart_completed") continue;
      world.violate("can't be paid any more", String(error));
    }
    world.other.expect(await world.stage.rows());
    const run = String((await world.stage.rows()).purchases.find((p) => p.order_id === id)?.attempt_id);
    if (world.other.heldCents(run) !== cart.totalCents) world.violate("paid anew is not the total", id);
  }
}
