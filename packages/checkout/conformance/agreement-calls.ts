import { cents } from "@giftcard-pay/client";
import type { Charge, ChargeState, Move } from "../src/store/charge.js";
import { chargedStates, chargeStates } from "../src/store/charge-states.js";
import { type PurchaseState, purchaseStates } from "../src/store/purchase-states.js";
import type { CheckoutStore } from "../src/store/purchase-store.js";
import { type NewRefund, refundRules } from "../src/store/purchase-store.js";
import type { Tender, TenderState } from "../src/store/tender.js";

/** A store for random calls, whose clock can be moved. */
export interface PlayedStore extends CheckoutStore {
  /** Advances the clock, by moving every stored time into the past. */
  passTime(ms: number): Promise<void>;
}

/** A sequence of calls on two stores, and the records that it has made so far. */
export interface Play {
  /** A part of every name, so that sequences don't share records. */
  readonly run: string;
  readonly carts: string[];
  readonly tenders: { readonly id: string; readonly cartId: string }[];
  /** Tenders as each store returned them, to put back. */
  readonly seen: Map<CheckoutStore, Tender>[];
  readonly charges: string[];
  readonly externalIds: string[];
  readonly orders: string[];
  readonly refunds: string[];
  /** The number of names so far. */
  count: number;
  /** Picks an item of a list by the next choice. */
  pick<T>(list: readonly T[]): T;
  /** Makes a call on both stores, and compares the results. */
  both(name: string, call: (store: PlayedStore) => Promise<unknown>): Promise<void>;
}

type Call = (play: Play) => Promise<void>;

const HOUR_MS = 60 * 60_000;
const lives = [HOUR_MS, 4 * HOUR_MS];
const owners = ["ada", "bob"];
const sealed = (keyId: string, text: string) =>
  `${Buffer.from(JSON.stringify({ kid: keyId })).toString("base64url")}.${text}`;

/** Returns a new name. Names are in alphabetical order, which is the same in all stores. */
const newId = (play: Play, what: string) => `${what}-${String(play.count++).padStart(4, "0")}-${play.run}`;
const leaseOf = ({ pick }: Play) => ({ owner: pick(owners), forMs: pick(lives) });

const quote: Call = async (play) => {
  const { pick, both } = play;
  const tender = {
    id: newId(play, "tender"),
    cartId: pick(play.carts),
    lastFour: "6789",
    fingerprint: `${pick(["one", "two", "three"])}-${play.run}`,
    balanceCents: cents(pick([7500, 900, 0])),
    expiryDate: pick(["2027-05-31", ""]),
    sealedCard: sealed(pick(["new", "old"]), "card"),
  };
  const lifeMs = pick(lives);
  play.tenders.push(tender);
  await both(`addQuote ${tender.id} ${tender.fingerprint} ${lifeMs}`, ({ journal }) =>
    journal.addQuote(tender, lifeMs),
  );
  await both("holdsCard", ({ journal }) => journal.holdsCard(tender.cartId, tender.fingerprint));
};

const apply: Call = async (play) => {
  const { pick, both, tenders, carts } = play;
  const { id, cartId } = pick(tenders) ?? { id: "none", cartId: "none" };
  const cart = pick([cartId, cartId, cartId, pick(carts)]);
  const limits = { quoteLifeMs: HOUR_MS, maxCards: pick([5, 2, 1]) };
  await both(`applyQuote ${id} of ${limits.maxCards}`, ({ journal }) => journal.applyQuote(cart, id, limits));
};

const remove: Call = async ({ pick, both, tenders }) => {
  const { id, cartId } = pick(tenders) ?? { id: "none", cartId: "none" };
  await both(`removeTender ${id}`, ({ journal }) => journal.removeTender(cartId, id));
};

const see: Call = async ({ pick, both, tenders, seen }) => {
  const { id } = pick(tenders) ?? { id: "none" };
  const found = new Map<CheckoutStore, Tender>();
  await both(`tender ${id}`, async (store) => {
    const tender = await store.journal.tender(id);
    if (tender) found.set(store, tender);
    return tender;
  });
  if (found.size === 2) seen.push(found);
};

const putBack: Call = async ({ pick, both, seen }) => {
  const found = pick(seen);
  const from = pick<TenderState>(["removed", "applied", "quoted", "charging", "spent"]);
  const maxCards = pick([5, 2, 1]);
  if (!found) return;
  const { id, state } = [...found.values()][0] as Tender;
  await both(`putBack ${id} as ${state} from ${from} of ${maxCards}`, (store) =>
    store.journal.putBack(found.get(store) as Tender, from, maxCards),
  );
};

const begin: Call = async (play) => {
  const { pick, both, tenders, externalIds, charges } = play;
  const { id: tenderId, cartId } = pick(tenders) ?? { id: "none", cartId: "none" };
  const fresh = newId(play, "external");
  const externalId = pick([fresh, fresh, fresh, pick(externalIds) ?? fresh]);
  const lease = leaseOf(play);
  const amounts = pick([[900], [5000], [5001], [900, 900], [1200, 800, 700]]);
  const newCharges = amounts.map((amountCents, index) => ({
    reference: newId(play, "gc"),
    amountCents: cents(amountCents),
    sealedCard: sealed("old", "charged"),
    pieces: amounts.length > 1 ? [{ line: "ticket", unit: index + 1, cents: amountCents }] : undefined,
  }));
  const payment = {
    ...{ tenderId, cartId, externalId, orderId: pick([undefined, "order"]), charges: newCharges },
    state: pick(["intent", "sent"] as const),
    ...{ environment: "sandbox", baseUrl: "https://cards.example", companyId: 1 },
  };
  externalIds.push(externalId);
  charges.push(...newCharges.map(({ reference }) => reference));
  await both(`begin ${externalId} on ${tenderId} for ${lease.owner}`, ({ journal }) => journal.begin(payment, lease));
  await both("chargesOfPayment", ({ journal }) => journal.chargesOfPayment(externalId));
};

/** Changes a charge's state, usually from its current one. */
function changeOf(play: Play, now: Charge | null): Move {
  const { pick } = play;
  const from = pick<ChargeState>([now?.state ?? "intent", now?.state ?? "sent", pick(chargeStates)]);
  const to = pick(chargeStates);
  const amountCents = now?.amountCents ?? 900;
  const token = {
    deductedCents: cents(pick([amountCents, amountCents, 1])),
    sealedToken: sealed("old", "token"),
  };
  return {
    ...{ from: pick([[from], [from], [from, pick(chargeStates)]]), to },
    ...(chargedStates.includes(to) || to === "reversing" ? token : {}),
    ...pick([{}, {}, { owner: pick(owners) }]),
    ...pick([{}, { orderId: "order" }, { orderId: null }]),
    ...pick([{}, { sealedCard: null }]),
    ...pick([{}, { reason: "card_no_balance" }, { reason: "completion_failed" }]),
    ...pick([{}, {}, { refundId: "refund" }]),
    ...pick([{}, {}, {}, { refundIdWas: pick([null, "refund"]) }]),
    ...pick([{}, { balanceAfterCents: cents(100) }]),
    ...pick([{}, { lease: null }, { lease: leaseOf(play) }]),
    ...pick([{}, { retryInMs: HOUR_MS }]),
    ...pick([{}, { lastError: "timeout" }]),
    ...pick([{}, { restore: { maxCards: pick([5, 1]) } }]),
  };
}

const change: Call = async (play) => {
  const { pick, both, charges } = play;
  const reference = pick(charges) ?? "none";
  let now: Charge | null = null;
  await both(`charge ${reference}`, async ({ journal }) => (now = await journal.charge(reference)));
  const move = changeOf(play, now);
  const action = pick(["none", "none", "none", "retry", "mark_taken"] as const);
  await both(`${action} ${reference} ${JSON.stringify(move)}`, ({ journal }) =>
    action === "none" ? journal.move(reference, move) : journal.act(reference, move, { action, actor: "ada" }),
  );
};

/** Changes the charges of a payment together, usually from their current state. */
const changeAll: Call = async (play) => {
  const { pick, both, externalIds } = play;
  const externalId = pick(externalIds) ?? "none";
  let now: Charge[] = [];
  await both(`payment ${externalId}`, async ({ journal }) => (now = await journal.chargesOfPayment(externalId)));
  const references = now.map(({ reference }) => reference);
  const move: Move = {
    ...{
      from: pick([[now[0]?.state ?? "devalued"], [pick(chargeStates)]]),
      to: pick(["committed", "captured", "reversing"]),
    },
    ...pick([{}, {}, { owner: pick(owners) }]),
    ...pick([{}, { refundId: "refund" }, { orderId: "order" }]),
    ...pick([{}, { lease: null }, { lease: leaseOf(play) }]),
  };
  await both(`changeAll ${references} ${JSON.stringify(move)}`, ({ journal }) => journal.moveAll(references, move));
};

const lease: Call = async (play) => {
  const { pick, both, charges, carts } = play;
  const reference = pick(charges) ?? "none";
  const { owner, forMs } = leaseOf(play);
  const cartId = pick([undefined, ...carts]);
  await both(`renew ${owner} ${forMs}`, ({ journal }) => journal.renew(owner, forMs));
  await both(`nextDue of ${cartId}`, ({ journal }) => journal.nextDue("", cartId));
  await both(`nextDue after ${reference}`, ({ journal }) => journal.nextDue(reference));
  const states = pick([undefined, chargeStates, [pick(chargeStates)]]);
  await both(`claim ${reference} for ${owner}`, ({ journal }) => journal.claim(reference, { owner, forMs }, states));
  if (pick([true, false])) await both("release", ({ journal }) => journal.release(reference, owner));
};

const guess: Call = async ({ pick, both, run }) => {
  const limitOf = (key: string) => ({ key: `${key}-${run}`, max: pick([0, 1, 3]) });
  const limits = pick([["a"], ["b"], ["a", "b"], []]).map(limitOf);
  const windowMs = pick(lives);
  await both(`takeGuess ${JSON.stringify(limits)}`, async ({ journal }) => {
    const seconds = await journal.takeGuess(limits, windowMs);
    return new Date(Date.now() + seconds * 1000);
  });
  if (pick([true, false])) await both("returnGuess", ({ journal }) => journal.returnGuess(limits));
};

const keep: Call = async ({ pick, both, run, count }) => {
  const name = `${pick(["a", "b"])}-${run}`;
  const text = sealed(pick(["new", "old"]), `secret-${count}`);
  await both(`keepSecret ${name}`, ({ journal }) => journal.keepSecret(name, text));
  await both("replaceSealed", async ({ journal }) => {
    const values = await journal.sealedUnderOther("new", 10_000);
    const mine = values.filter((value) => value.id.endsWith(run));
    const sorted = mine.toSorted((a, b) => (`${a.id}${a.column}` < `${b.id}${b.column}` ? -1 : 1));
    const [first] = sorted;
    return [sorted, first && (await journal.replaceSealed(first, sealed("new", "anew")))];
  });
};

/** A search, often for something that exists. */
const matchOf = ({ pick, charges, carts }: Play) => ({
  ...pick([{}, { reference: pick(charges) ?? "none" }]),
  ...pick([{}, {}, { lastFour: pick(["6789", "0000"]) }]),
  ...pick([{}, { orderIds: ["order", "none"] }]),
  ...pick([{}, { cartIds: [pick(carts), "none"] }]),
  ...pick([{}, { amountCents: pick([400, 600, 1000, 5000]) }]),
});

const read: Call = async (play) => {
  const { pick, both, charges, carts } = play;
  let nowMs = 0;
  await both("now", async ({ journal }) => {
    nowMs = (await journal.now()).getTime();
  });
  // Half an hour away from all stored times, so that both stores find them on the same side.
  const moment = () => new Date(nowMs + pick([-12.25, -1.25, 0.25]) * HOUR_MS);
  const filter = {
    ...pick([{}, { states: [pick(chargeStates), pick(chargeStates)] }, { states: [] }]),
    ...pick([{}, {}, { orderIds: ["order", "none"] }]),
    ...pick([{}, {}, { externalIds: [pick(play.externalIds) ?? "none", "none"] }]),
    ...pick([{}, { from: moment() }]),
    ...pick([{}, { to: moment() }]),
    ...pick([{}, { moved: { from: moment(), to: moment() } }]),
    ...pick([{}, {}, { environment: pick(["sandbox", "live"]) }]),
    ...pick([{}, {}, { companyId: pick([1, 2]) }]),
    ...pick([{}, {}, { anyOf: matchOf(play) }]),
  };
  const page = { limit: pick([1, 3, 20]), offset: pick([0, 1]) };
  const sort = pick([{}, { sort: "newest" }, { sort: "oldest", byPayment: true }, { byPayment: true }] as const);
  const after = pick(["", pick(charges) ?? ""]);
  const text = JSON.stringify(filter);
  await both(`list ${text} ${JSON.stringify(sort)}`, ({ journal }) => journal.list({ ...filter, ...page, ...sort }));
  await both(`readPage ${text} after ${after}`, ({ journal }) => journal.readPage(filter, after, page.limit));
  const minTries = pick([0, 1]);
  await both(`list from ${minTries} tries`, ({ purchases }) => purchases.list({ ...page, minTries }));
  const cartId = pick(carts);
  await both("tenders", ({ journal }) => journal.tenders(cartId));
};

const passTime: Call = async ({ pick, both }) => {
  const ms = pick([0.5, 1.5, 5, 31 * 24]) * HOUR_MS;
  await both(`passTime ${ms}`, (store) => store.passTime(ms));
  if (pick([true, false, false])) await both("purge", ({ journal }) => journal.purge());
};

const purchase: Call = async (play) => {
  const { pick, both, orders } = play;
  const orderId = pick([newId(play, "order"), pick(orders) ?? newId(play, "order")]);
  if (!orders.includes(orderId)) orders.push(orderId);
  const lines = pick([null, [{ id: "ticket", quantity: 2, totalCents: cents(7498) }]]);
  const remainderCents = cents(pick([0, 2498]));
  const amounts = { totalCents: cents(7498), currency: "EUR", remainderCents, plan: `plan ${remainderCents}`, lines };
  const begun = { orderId, cartId: pick(play.carts), attemptId: newId(play, "run"), ...amounts };
  const lease = leaseOf(play);
  await both(`begin ${orderId} for ${lease.owner}`, ({ purchases }) => purchases.begin(begun, lease));
};

/** Makes a refund to record with a change. Sometimes its id, number or amount is invalid. */
function refundOf(play: Play): NewRefund {
  const { pick, refunds } = play;
  const fresh = newId(play, "refund");
  const id = pick([fresh, fresh, pick(refunds) ?? fresh]);
  if (!refunds.includes(id)) refunds.push(id);
  return {
    ...{ id, number: pick([1, 1, 2, 2, 3]), rule: pick(refundRules), lines: pick([null, { ticket: 1 }]) },
    ...{ amountCents: pick([3749, 900, 0]), remainderCents: pick([0, 900]), references: pick([[], ["gc"]]) },
  };
}

const decide: Call = async (play) => {
  const { pick, both, orders } = play;
  const orderId = pick(orders) ?? "none";
  let now: PurchaseState = "charging";
  let attemptId = "none";
  await both(`read ${orderId}`, async ({ purchases }) => {
    const there = await purchases.read(orderId);
    if (there) ({ state: now, attemptId } = there);
    return there;
  });
  const change = {
    ...{ from: pick([[now], [now], [pick(purchaseStates), pick(purchaseStates)]]), to: pick(purchaseStates) },
    ...pick([{}, {}, { attemptId }, { attemptId: "none" }]),
    ...pick([{}, {}, { owner: pick(owners) }]),
    ...pick([{}, { remainderData: "{}" }]),
    ...pick([{}, { lease: null }, { lease: leaseOf(play) }]),
    ...pick([{}, { retryInMs: HOUR_MS }]),
    ...pick([{}, { lastError: "cancel:down" }]),
    ...pick([{}, { lastActor: "ada" }]),
    ...pick([{}, {}, { refund: refundOf(play) }]),
    ...pick([{}, {}, { isRefundDone: true as const }]),
  };
  await both(`change ${orderId} ${JSON.stringify(change)}`, ({ purchases }) => purchases.change(orderId, change));
  await both(`refunds of ${orderId}`, ({ purchases }) => purchases.refunds(orderId));
};

const claim: Call = async (play) => {
  const { pick, both, orders } = play;
  const orderId = pick([undefined, pick(orders)]);
  const limit = pick([1, 9]);
  const lease = leaseOf(play);
  await both(`claim ${limit} of ${orderId}`, async ({ purchases }) => {
    const claimed = await purchases.claim(lease, limit, orderId);
    return claimed.toSorted((a, b) => (a.orderId < b.orderId ? -1 : 1));
  });
  await both("list", ({ purchases }) => purchases.list({ limit: 20 }));
};

/** All calls of a sequence. Those that change most occur most often. */
export const calls: readonly Call[] = [
  ...[quote, apply, apply, begin, change, change, change, change, changeAll],
  ...[quote, apply, remove, see, putBack, begin, lease, passTime, guess, keep, read],
  ...[purchase, decide, decide, claim],
];
