import { randomUUID } from "node:crypto";
import { cents } from "@giftcard-pay/client";
import { afterAll, beforeAll, beforeEach, describe, expect } from "vitest";
import { type CartView, type Checkout, type CheckoutOptions, createCheckout, type OrderLine } from "../src/index.js";
import type { RemainderMethod } from "../src/remainder.js";
import type { ChargeState, PurchaseState } from "../src/store/index.js";
import { Bank, gate } from "./bank.js";
import { withRival } from "./rival.js";
import { newCart, type Shop, sealingKeys, startShop, type TestCard } from "./shop.js";
import { stores, type TestStore } from "./stores.js";

/** An order to be paid: its cart has the test's card. */
export interface TestOrder {
  readonly id: string;
  readonly cart: CartView;
  readonly lines?: readonly OrderLine[];
  /** As the last answer about its cart has shown it. */
  readonly plan: string;
}

/** Matches the refusal of a shopper's call. */
export const refusal = (code: string) => expect.objectContaining({ name: "CheckoutError", code });

/** The error of a database whose connection is lost. */
export const down = Object.assign(new Error("the connection was lost"), { code: "ECONNRESET" });
/** Fails as a database does that is down. */
export const fail = () => {
  throw down;
};

/** Stands for a value that is replaced before each test. */
export function latest<T extends object>(read: () => T): T {
  return new Proxy({} as T, {
    get(_, name) {
      const value: unknown = Reflect.get(read(), name);
      return typeof value === "function" ? value.bind(read()) : value;
    },
    set: (_, name, value) => Reflect.set(read(), name, value),
  });
}

/**
 * Runs tests on each store with a shop, a bank, and a card of 75.00. Bank and card are new in each test, and the store has
 * no purchase. The short run has them on PostgreSQL alone, as both stores share their SQL, and `agreement.test.ts` and
 * `journals.test.ts` compare the two.
 */
export function onEachStore(title: string, tests: (stage: Stage) => void): void {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop();
  });
  beforeEach(() => shop.proxy.clear());
  afterAll(() => shop.stop());
  for (const [name, open] of Object.entries(stores))
    describe(`${title} on ${name}`, { tags: name === "PostgreSQL" ? [] : ["long"] }, () =>
      tests(createStage(() => shop, open)),
    );
}

/** The parts that the tests of purchases share. */
export type Stage = ReturnType<typeof createStage>;

function createStage(readShop: () => Shop, open: () => Promise<TestStore>) {
  const current = {} as { store: TestStore; bank: Bank; card: TestCard };
  const shop = latest(readShop);
  const store = latest(() => current.store);
  const bank = latest(() => current.bank);
  const card = latest(() => current.card);
  const newCard = async () => {
    current.card = await shop.card(7500);
  };
  const newBank = () => {
    current.bank = new Bank();
  };
  beforeAll(async () => {
    current.store = await open();
  });
  afterAll(() => store.close());
  beforeEach(async () => {
    newBank();
    await newCard();
    await store.sql("delete from giftcard_refund; delete from giftcard_purchase");
  });

  /** Starts a process of its own, as far as the library can tell. */
  const checkout = (options: Partial<CheckoutOptions> = {}): Checkout =>
    createCheckout({
      issuer: shop.client,
      environment: "sandbox",
      store,
      sealingKeys,
      remainder: bank.method,
      onFailure: () => {},
      ...options,
    });

  /** Starts a process that another one overtakes, or whose database fails; keeps what it announces and reports. */
  function newProcess(options: Partial<CheckoutOptions> = {}) {
    const purchases = withRival(store.purchases);
    const journal = withRival(store.journal);
    const announced: PurchaseState[] = [];
    const failures: unknown[] = [];
    const start = (more: Partial<CheckoutOptions> = {}) =>
      checkout({
        store: { purchases: purchases.part, journal: journal.part },
        onPurchase: ({ state }) => announced.push(state),
        onFailure: (failure) => failures.push(failure),
        ...options,
        ...more,
      });
    const by = start();
    /** Acts right before this process moves the purchase to a state. */
    const before = (to: PurchaseState, act: () => unknown) =>
      purchases.before("change", act, (_, change) => change.to === to && !change.from.includes(to));
    /** Acts right before this process moves a charge to a state. */
    const beforeCharge = (to: ChargeState, act: () => unknown) =>
      journal.before("move", act, (_, move) => move.to === to);
    return { by, start, announced, failures, purchases, journal, before, beforeCharge };
  }

  /** Applies the card, and any more cards, to a new cart of this total or of these lines. */
  async function order(
    ordered: number | readonly OrderLine[] = 7498,
    ...more: readonly TestCard[]
  ): Promise<TestOrder> {
    const lines = typeof ordered === "number" ? undefined : ordered;
    const totalCents = typeof ordered === "number" ? ordered : ordered.reduce((sum, line) => sum + line.totalCents, 0);
    const cart = newCart(totalCents);
    let plan = "";
    for (const { cardNumber, pin } of [card, ...more]) ({ plan } = await checkout().apply(cart, { cardNumber, pin }));
    return { id: `order_${randomUUID()}`, cart, plan, ...(lines && { lines }) };
  }

  const pay = (o: TestOrder, by = checkout()) => by.pay(o);
  /** Loads the page of an order again, perhaps with another total. */
  const reload = async (o: TestOrder, totalCents: number = o.cart.totalCents): Promise<TestOrder> => {
    const cart = { ...o.cart, totalCents: cents(totalCents) };
    return { ...o, cart, plan: (await checkout().list(cart)).plan };
  };
  /** Comes back from the bank's page with another total: the first call gives that payment up, and the page shows its cards. */
  const comeBack = async (o: TestOrder, totalCents: number, by = checkout()): Promise<TestOrder> => {
    const seen = await reload(o, totalCents);
    await expect(pay(seen, by)).rejects.toEqual(refusal("amount_changed"));
    return reload(seen);
  };

  /** Begins to pay an order, and stops at the bank: before it is asked, or once it has answered. */
  async function stopAtBank(
    o: TestOrder,
    {
      start = checkout,
      asked = false,
      answer = bank.authorize,
    }: { start?: typeof checkout; asked?: boolean; answer?: RemainderMethod["authorize"] } = {},
  ) {
    const bankGate = gate();
    const remainder = bank.with(async (...asking) => {
      if (asked) return bankGate.pass(await answer(...asking));
      await bankGate.pass(null);
      return answer(...asking);
    });
    const ended = start({ remainder })
      .pay(o)
      .catch((error: unknown) => error);
    await bankGate.arrived;
    return { goOn: bankGate.open, ended };
  }

  /** Recovers in another process, once all leases have run out. */
  async function recoverElsewhere(options?: Partial<CheckoutOptions>) {
    await store.letLeasesRunOut();
    return checkout(options).recover();
  }

  return {
    shop,
    store,
    bank,
    card,
    newCard,
    newBank,
    checkout,
    newProcess,
    order,
    pay,
    reload,
    comeBack,
    stopAtBank,
    recoverElsewhere,
    stateOf: async (o: TestOrder) => (await store.purchases.read(o.id))?.state,
    /** In the order in which they were charged. */
    chargesOf: async (o: TestOrder) => (await store.journal.chargesOfCart(o.cart.id)).toReversed(),
    /** The cents that the shopper has paid by now: of the card, and at the bank. */
    paid: async () => [7500 - (await card.balanceCents()), bank.heldCents],
  };
}
