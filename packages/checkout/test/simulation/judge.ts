import type { Row } from "./memory-store.js";
import type { Story } from "./story.js";
import type { World } from "./world.js";

/** After so many runs of recovery, nothing may be left to do. */
const MOST_RECOVERIES = 12;
/** Longer than any page, lease and delay. */
const LONG_MS = 61 * 60_000;
const STAFF = "the last";

const settled = ["paid", "failed", "canceled", "refunded"];
const ended = ["committed", "captured", "reversed", "refused", "taken"];
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
const isHeld = ({ state }: Row) => state === "committed" || state === "captured" || state === "taken";

/** Lets recovery and people settle what is left after a history, without further faults. */
export async function settle(world: World): Promise<void> {
  world.log("all processes end, and nothing fails any more");
  world.endAll();
  world.network.hasFaults = false;
  // Calls that were sent still arrive.
  if (!(await world.clock.run())) return world.violate("it never ends", "after all processes have ended");
  for (const card of world.issuer.cards) card.isBlocked = false;
  await recoverAll(world);
  for (const payment of [...world.bank.payments.values()]) {
    // Its page has expired by now.
    if (payment.isGivenUp && payment.state === "open") payment.state = "declined";
    if (!world.plan.hasLastNotices) continue;
    const status = await world.ask(0, (checkout) => checkout.webhook(world.noticeOf(payment)).then((r) => r.status));
    const isKept = world.bank.keeps && payment.state === "authorized";
    if (status !== 204 && !payment.lie && !isKept) world.violate("a last notice is refused", String(status));
  }
  await recoverAll(world);
  await decideAll(world);
}

/** Recovers, as every hour, until nothing is left, or nothing changes any more. */
async function recoverAll(world: World): Promise<void> {
  let before: string | undefined;
  for (let times = 0; times < MOST_RECOVERIES; times += 1) {
    const [purchases, charges, refunds] = [
      "select state from giftcard_purchase order by order_id",
      "select state from giftcard_charge order by reference",
      "select done_at from giftcard_refund where done_at is null",
    ].map((text) => world.memory.read(text)) as [Row[], Row[], Row[]];
    const isOpen =
      refunds.length > 0 ||
      purchases.some(({ state }) => !settled.includes(String(state))) ||
      charges.some(({ state }) => !ended.includes(String(state)));
    const now = JSON.stringify([purchases, charges, refunds.length]);
    if (!isOpen || now === before) return;
    before = now;
    await world.clock.run(world.clock.now + LONG_MS);
    const recovered = await world.ask(0, (checkout) => checkout.recover());
    if (!recovered) world.violate("recover throws", "");
  }
  world.violate("recovery never ends", String(before));
}

/** A person decides what the lists of the operator say. */
async function decideAll(world: World): Promise<void> {
  const attention = await world.ask(0, ({ operator }) => operator.charges({ states: ["needs_attention"] }));
  for (const { reference, reason } of attention?.charges ?? []) {
    if (world.plan.hasKeys) world.violate("a charge needs attention", `${reference}: ${reason}`);
    const isTaken = world.issuer.heldCents([reference]) > 0;
    await world.ask(0, ({ operator }) =>
      isTaken ? operator.markTaken(reference, STAFF) : operator.markNotTaken(reference, STAFF),
    );
  }
  const open = async () => (await world.ask(0, ({ operator }) => operator.purchases()))?.purchases ?? [];
  for (const { orderId, lastError } of await open())
    if (/wrong_(amount|currency)$/.test(lastError ?? "")) await world.ask(0, (checkout) => checkout.cancel(orderId));
  await recoverAll(world);
  if (!world.bank.keeps) return;
  for (const { orderId, lastError } of await open()) {
    await world.clock.run(world.clock.now + LONG_MS);
    if (lastError !== null) await world.ask(0, ({ operator }) => operator.markRemainderSettled(orderId, STAFF));
  }
  await recoverAll(world);
}

/** Compares the books of the issuer, the journal, the purchases and the bank. */
export async function compare(world: World): Promise<void> {
  const { memory } = world;
  const charges = memory.read("select * from giftcard_charge");
  const purchases = memory.read("select * from giftcard_purchase");
  const refunds = memory.read("select * from giftcard_refund");
  compareCards(world, charges);
  for (const { state, reference, reason } of charges)
    if (!ended.includes(String(state))) world.violate(`a charge stays ${state}`, `${reference} (${reason})`);
  for (const { state, order_id: id, last_error: error } of purchases)
    if (!settled.includes(String(state))) world.violate(`a purchase stays ${state}`, `${id} (${error})`);
  for (const story of world.stories) {
    const purchase = purchases.find(({ order_id }) => order_id === story.id);
    const own = refunds.filter(({ order_id }) => order_id === story.id);
    compareOrder(world, story, purchase, own, charges);
    if (purchase) await comparePaidBy(world, story, purchase, own, charges);
  }
  compareBank(world, purchases);
  comparePages(world, purchases);
  const carts = purchases.filter(({ state }) => state === "paid").map(({ cart_id }) => cart_id);
  if (new Set(carts).size < carts.length) world.violate("a cart is paid twice", carts.join(" "));
  compareTenders(world, charges);
}

/** The journal knows every devalue that took money, and each card has what no order holds. */
function compareCards(world: World, charges: readonly Row[]): void {
  const { issuer } = world;
  for (const { reference, takenCents, isReversed } of issuer.ledger.values()) {
    const charge = charges.find((one) => one.reference === reference);
    if (!charge) world.violate("the journal has no such charge", reference);
    else if (isHeld(charge) === isReversed)
      world.violate("issuer and journal differ", `${reference} is ${charge.state}, reversed: ${isReversed}`);
    // If both answers were lost, the journal has what was asked for: as much was returned as was taken.
    else if (
      world.plan.hasKeys &&
      charge.deducted_cents !== takenCents &&
      charge.deducted_cents !== charge.amount_cents
    )
      world.violate("issuer and journal differ", `${reference}: ${takenCents}, booked ${charge.deducted_cents}`);
  }
  for (const charge of charges)
    if (isHeld(charge) && !issuer.ledger.has(String(charge.reference)) && charge.state !== "taken")
      world.violate("the issuer has no such charge", String(charge.reference));
}

function compareOrder(
  world: World,
  story: Story,
  purchase: Row | undefined,
  refunds: readonly Row[],
  allCharges: readonly Row[],
): void {
  const charges = allCharges.filter(({ order_id }) => order_id === story.id);
  const attempt = purchase?.attempt_id;
  const isSold = purchase?.state === "paid" || purchase?.state === "refunded";
  for (const charge of charges)
    if ((charge.state === "committed" || charge.state === "captured") && !(isSold && charge.attempt_id === attempt))
      world.violate("charged for no paid order", `${charge.reference}, the order is ${purchase?.state}`);
  if (story.isCanceled && purchase?.state !== "canceled")
    world.violate("canceled, and isn't", `${story.id} is ${purchase?.state}`);
  if (!purchase || !isSold) return;
  const own = charges.filter(({ attempt_id }) => attempt_id === attempt);
  const returned = refunds.flatMap(({ charge_references }) => JSON.parse(String(charge_references)) as string[]);
  const cardCents = sum(own.map(({ amount_cents }) => Number(amount_cents)));
  if (cardCents + Number(purchase.remainder_cents) !== purchase.total_cents)
    world.violate("paid is not the total", `${cardCents} + ${purchase.remainder_cents} for ${purchase.total_cents}`);
  if (new Set(returned).size < returned.length) world.violate("a charge is refunded twice", story.id);
  for (const charge of own) {
    const isBack = returned.includes(String(charge.reference));
    if (!isBack && !isHeld(charge))
      world.violate("paid by a card that is whole", `${charge.reference}: ${charge.state}`);
    if (isBack && charge.state !== "reversed" && charge.state !== "taken")
      world.violate("refunded to a card that isn't", `${charge.reference}: ${charge.state}`);
  }
  const backCents = sum(refunds.map(({ remainder_cents }) => Number(remainder_cents)));
  const { attempt_id: id, remainder_settled_by: settledBy } = purchase;
  const heldCents = world.bank.heldCents(String(id));
  if (settledBy === null && heldCents !== Number(purchase.remainder_cents) - backCents)
    world.violate("bank and purchase differ", `${heldCents}, booked ${purchase.remainder_cents} - ${backCents}`);
  compareRefunds(world, story, refunds, own);
  compareUnits(world, purchase, refunds, own);
}

function compareRefunds(world: World, story: Story, refunds: readonly Row[], charges: readonly Row[]): void {
  for (const refund of refunds) {
    const references = JSON.parse(String(refund.charge_references)) as string[];
    const cardCents = sum(
      charges.filter(({ reference }) => references.includes(String(reference))).map((one) => Number(one.amount_cents)),
    );
    if (refund.done_at === null) world.violate("a refund stays open", String(refund.id));
    if (cardCents + Number(refund.remainder_cents) !== refund.amount_cents)
      world.violate("a refund is not its parts", `${cardCents} + ${refund.remainder_cents} for ${refund.amount_cents}`);
  }
  for (const [id, cents] of story.refunded) {
    const refund = refunds.find((one) => one.id === id);
    if (refund?.amount_cents !== cents) world.violate("a refund is gone", `${id}: ${cents}, ${refund?.amount_cents}`);
  }
}

/** If units were returned, and nothing else, exactly the charges of these units are reversed. */
function compareUnits(world: World, purchase: Row, refunds: readonly Row[], charges: readonly Row[]): void {
  const isByUnits = refunds.length > 0 && refunds.every(({ lines, rule }) => lines !== null && rule === "as-paid");
  if (!isByUnits || !world.plan.byLine || world.plan.maxChargesPerCard < 50) return;
  const back = new Set<string>();
  const lines = JSON.parse(String(purchase.lines)) as { id: string; quantity: number }[];
  for (const { id, quantity } of lines) {
    const units = sum(refunds.map((refund) => (JSON.parse(String(refund.lines)) as Record<string, number>)[id] ?? 0));
    if (Number.isInteger(quantity)) for (let more = 0; more < units; more += 1) back.add(`${id} ${quantity - more}`);
    else if (units >= quantity) back.add(`${id} 1`);
  }
  for (const { reference, pieces, state } of charges) {
    const units = JSON.parse(String(pieces)) as { line: string; unit: number }[];
    const isBack = units.every(({ line, unit }) => back.has(`${line} ${unit}`));
    if (isBack !== (state === "reversed"))
      world.violate("a unit is refunded to another payer", `${reference} is ${state}, ${[...back].join(", ")}`);
  }
}

/** Compares what the shop is told about a payment with the books of issuer and bank. */
async function comparePaidBy(
  world: World,
  { id }: Story,
  purchase: Row,
  refunds: readonly Row[],
  charges: readonly Row[],
): Promise<void> {
  const told = await world.ask(0, (checkout) => checkout.paidBy(id));
  if (!told || !["paid", "refunded"].includes(String(purchase.state))) return;
  const own = charges.filter(({ attempt_id }) => attempt_id === purchase.attempt_id);
  const backCents = sum(own.filter((charge) => !isHeld(charge)).map(({ amount_cents }) => Number(amount_cents)));
  const toldCents = sum(told.cards.map(({ refundedCents, owedCents }) => refundedCents + owedCents));
  if (toldCents !== backCents) world.violate("told another refund of the cards", `${toldCents}, not ${backCents}`);
  const remainderBackCents = sum(refunds.map(({ remainder_cents }) => Number(remainder_cents)));
  const toldRemainderCents = told.remainder.refundedCents + told.remainder.owedCents;
  if (toldRemainderCents !== remainderBackCents)
    world.violate("told another refund of the remainder", `${toldRemainderCents}, not ${remainderBackCents}`);
}

/** The bank holds nothing of attempts that don't pay, and waits for nobody. */
function compareBank(world: World, purchases: readonly Row[]): void {
  const gentle = ["stalls", "stalls-after", "late", "answered-late", "twice"];
  const isPaced = world.plan.faults.every(({ kind }) => gentle.includes(kind));
  for (const payment of world.bank.payments.values()) {
    const { attemptId, orderId, state } = payment;
    // A process that is suspended meanwhile ignores the answer about a page.
    const isInTime = world.plan.faults.every(({ kind }) => kind === "late" || kind === "twice");
    const isAnswered = isPaced && (!payment.isPage || (payment.isSeen && isInTime));
    const purchase = purchases.find(({ order_id }) => order_id === orderId);
    const isCurrent = purchase?.attempt_id === attemptId;
    if (isPaced && payment.isTold && isCurrent && purchase?.state === "failed" && purchase.remainder_data === null)
      world.violate("the data of the bank's answer is lost", orderId);
    const isSold = isCurrent && (purchase?.state === "paid" || purchase?.state === "refunded");
    if (state === "open") world.violate("the bank still waits", `${orderId}, ${purchase?.state}`);
    // Without a notice, nobody knows of a payment that arrives after a cancel, unless its own call is answered.
    const isUnknown = payment.isTakenLate && !world.plan.hasLastNotices && !isAnswered;
    if (isSold || isUnknown || world.bank.keeps || world.isSettled(purchase, attemptId)) continue;
    const heldCents = world.bank.heldCents(attemptId);
    if (heldCents > 0)
      world.violate(
        "the bank holds for nothing",
        `${heldCents}, ${orderId} is ${purchase?.state}, current: ${isCurrent}`,
      );
  }
}

/** A card whose charges are all settled isn't shown as being charged. */
function compareTenders(world: World, charges: readonly Row[]): void {
  for (const { id, state } of world.memory.read("select * from giftcard_tender")) {
    const own = charges.filter(({ tender_id }) => tender_id === id);
    if (state === "charging") world.violate("a card stays charging", String(id));
    if (state === "spent" && !own.some((charge) => isHeld(charge) || charge.order_id !== null))
      world.violate("a card is spent for nothing", String(id));
  }
}

/** If nothing fails and nobody interferes, an order is paid that its shopper has paid in time. */
function comparePages(world: World, purchases: readonly Row[]): void {
  const { orders, deeds, faults } = world.plan;
  const isQuiet = ({ act }: (typeof deeds)[number]) =>
    ["recover", "confirm", "notify", "assert paid", "paid by", "retry purchase"].includes(act.do);
  if (faults.length > 0 || orders.length > 1 || !deeds.every(isQuiet)) return;
  for (const { id, refusals } of world.stories)
    if (refusals.some((code) => code === "payment_in_progress" || code === "outcome_unknown"))
      world.violate("a payment is refused for nothing", `${id}: ${refusals.join(" ")}`);
  for (const { orderId, attemptId, state, cents } of world.bank.payments.values()) {
    const purchase = purchases.find(({ order_id }) => order_id === orderId);
    if (purchase?.attempt_id !== attemptId) continue;
    const isInTime = world.inTime.has(attemptId);
    if (isInTime && (state !== "authorized" || purchase.state !== "paid"))
      world.violate(
        "paid in time, and isn't paid",
        `${orderId} is ${purchase.state}, the bank's ${cents} are ${state}`,
      );
  }
}
