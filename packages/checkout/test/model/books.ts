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
  await checkCards(world);
  await checkPurchases(world);
  await checkStories(world);
  checkBank(world, (await world.stage.rows()).purchases);
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
  const { purchases, charges, tenders } = await world.stage.rows();
  for (const charge of charges.filter(isHeld)) {
    const owner = purchases.find((p) => ofRun(charge, String(p.attempt_id)));
    if (owner?.state !== "paid")
      world.violate("charged for no paid order", `${charge.reference}, the purchase is ${owner?.state ?? "none"}`);
  }
  for (const purchase of purchases) {
    const { state } = purchase;
    const run = String(purchase.attempt_id);
    const parts = charges.filter((a) => ofRun(a, run));
    const bankCents = world.bank.heldCents(run);
    const story = world.orders.find(({ id }) => id === purchase.order_id);
    if (!settled.includes(String(state))) world.violate(`a purchase stays ${state}`, String(purchase.order_id));
    if (state === "paid") {
      const cardCents = sum(parts.map((a) => Number(a.amount_cents)));
      if (cardCents + bankCents !== Number(purchase.total_cents))
        world.violate("paid is not the total", `${cardCents} + ${bankCents} for ${purchase.total_cents}`);
      const isAsked = (a: Row) => story?.isRefundAsked || story?.refundedReferences.has(String(a.reference));
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

/** Checks that the bank has only the remainders of paid orders, and none is pending. */
function checkBank(world: World, purchases: readonly Row[]): void {
  for (const [run, { state, cents }] of world.bank.payments) {
    const owner = purchases.find((p) => p.attempt_id === run);
    const isPaid = owner?.state === "paid" || owner?.state === "refunded";
    if (state === "authorized" && !isPaid)
      world.violate("the bank holds for nothing", `${cents}, the purchase is ${owner?.state ?? "another"}`);
    if (state === "open") world.violate("the bank still waits", `${cents}`);
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
    const payment = world.bank.payments.get(String(purchase?.attempt_id));
    const isAsked = story.isReverseAsked || story.isRefundAsked;
    if (state === "failed" && payment?.isClean && payment.isToldAuthorized && !isAsked && !world.hasDatabaseFailed)
      world.violate("voided though the bank said authorized", story.id);
  }
}

function checkTold(world: World, story: OrderStory, purchase: Row | undefined, state: string): void {
  const allowed = ["paid"];
  if (story.isReverseAsked) allowed.push("canceled");
  if (story.isRefundAsked || story.refundedReferences.size > 0) allowed.push("refunded");
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
    try {
      for (const card of (await checkout.list(cart)).cards) await checkout.remove(cart, card.id);
      const { status } = await checkout.pay({ id, cart }, { input: "authorize" });
      if (status !== "paid") world.violate("can't be paid any more", status);
    } catch (error) {
      world.violate("can't be paid any more", String(error));
    }
    const run = String((await world.stage.rows()).purchases.find((p) => p.order_id === id)?.attempt_id);
    if (world.bank.heldCents(run) !== cart.totalCents) world.violate("paid anew is not the total", id);
  }
}
