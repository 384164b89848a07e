import pg from "pg";
import { holdOrder } from "../../../../scripts/shops/vendure-shop.mjs";
import type { Fault, FaultProxy } from "../../../support/fault-proxy.js";
import { serviceFaults } from "../cells.js";
import type { Outcome } from "../verdict.js";
import { begin, type Kind, kinds, type Purchase, pause, pay, until } from "./purchase.js";
import type { World } from "./world.js";

/** One purchase with one thing that goes wrong. */
export interface VendureCell {
  readonly name: string;
  readonly shop: "vendure";
  readonly place: "none" | "service" | "bank" | "kill shop" | "shopper" | "two shops";
  readonly kind: Kind;
  /** How it may end. One that ends whole, and isn't cancelled, is paid once more, and has to end paid. */
  readonly ends: readonly Outcome[];
  act(world: World, purchase: Purchase): Promise<void>;
}

type Act = VendureCell["act"];
const undecided = ["whole", "paid"] as const;

/** The fault of the cell. */
const attempt = (call: Promise<unknown>) => call.catch(() => {});

const cell = (
  place: VendureCell["place"],
  what: string,
  kind: Kind,
  ends: readonly Outcome[],
  act: Act,
): VendureCell => ({
  name: `vendure / ${place} / ${what} / ${kind}`,
  shop: "vendure",
  place,
  kind,
  ends,
  act,
});

/** Lets one operation fail while something is done. */
async function failing(proxy: FaultProxy, operation: string, fault: string, doIt: () => Promise<unknown>) {
  if (fault === "refuse") await proxy.listen(false);
  else proxy.set(operation, fault as Fault);
  await attempt(doIt());
}

const cancel: Act = async (world, { id }) => (await world.admin()).cancel(id);

/** Refunds each payment that still holds something. */
const refund =
  (methods: readonly string[]): Act =>
  async (world, { code }) => {
    const admin = await world.admin();
    const { payments } = await admin.look(code);
    for (const one of payments)
      if (one.state === "Settled" && one.refunds.length === 0 && methods.includes(one.method))
        await admin.refund(one.id, one.amount);
  };

function* plainCells(): Generator<VendureCell> {
  for (const kind of kinds) yield cell("none", "buy", kind, ["paid"], (_, purchase) => pay(purchase));
  yield cell("none", "cancel", "card + bank", ["whole"], async (world, purchase) => {
    await pay(purchase);
    await cancel(world, purchase);
  });
  yield cell("none", "refund", "card + bank", ["refunded"], async (world, purchase) => {
    await pay(purchase);
    await refund(["giftcard", "bank"])(world, purchase);
  });
}

function* networkCells(): Generator<VendureCell> {
  for (const fault of serviceFaults) {
    for (const kind of kinds)
      yield cell("service", `${fault} / charge`, kind, undecided, (world, { shopper }) =>
        failing(world.giftcards.proxy, "devalue", fault, shopper.payByCard),
      );
    yield cell("bank", `${fault} / take`, "card + bank", undecided, async (world, { shopper, bankCents }) => {
      await shopper.payByCard();
      await failing(world.bankProxy, "take", fault, () => shopper.payByBank(bankCents));
    });
    yield cell("service", `${fault} / cancel`, "card + bank", ["whole"], async (world, purchase) => {
      await pay(purchase);
      await failing(world.giftcards.proxy, "canceldevalue", fault, () => cancel(world, purchase));
      await pause(1000);
    });
    yield cell("bank", `${fault} / cancel`, "card + bank", ["whole"], async (world, purchase) => {
      await pay(purchase);
      world.bankProxy.set("close", fault === "refuse" ? "cut-before" : fault);
      await failing(world.bankProxy, "refund", fault, () => cancel(world, purchase));
      await pause(1000);
    });
    yield cell("service", `${fault} / refund`, "card + bank", ["refunded"], async (world, purchase) => {
      await pay(purchase);
      await failing(world.giftcards.proxy, "canceldevalue", fault, () => refund(["giftcard"])(world, purchase));
      await world.calm();
      await refund(["giftcard", "bank"])(world, purchase);
    });
  }
}

/** Holds what a statement locks until it is let go. */
async function holding(world: World, statement: string, params: readonly unknown[] = []) {
  const client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
  await client.query("begin");
  await client.query(statement, [...params]);
  return () => client.end();
}

const purchaseIs = async ({ books }: World, { code }: Purchase, ...states: string[]) => {
  const sql = "select state from giftcard.giftcard_purchase where order_id = $1";
  return states.includes((await books.query(sql, [code])).rows[0]?.state);
};

/** The first process dies once the purchase is at the point; then whoever was kept waiting may go on. */
async function dies(world: World, doIt: () => Promise<unknown>, isThere: () => boolean | Promise<boolean>) {
  const doing = attempt(doIt());
  await until(isThere, "the point was never reached");
  await world.kill();
  await doing;
}

const seen = (proxy: FaultProxy, operation: string, since: number) =>
  proxy.seen.slice(since).some((call) => call.operation === operation);

function* deathCells(): Generator<VendureCell> {
  for (const kind of kinds) {
    yield cell("kill shop", "the charge is on its way", kind, undecided, async (world, { shopper }) => {
      const { proxy } = world.giftcards;
      const since = proxy.seen.length;
      proxy.set("devalue", "hold");
      await dies(world, shopper.payByCard, () => seen(proxy, "devalue", since));
    });
    yield cell("kill shop", "charged, and not written by Vendure", kind, undecided, async (world, purchase) => {
      const release = await holdOrder(world.databaseUrl, purchase.code);
      await dies(world, purchase.shopper.payByCard, () => purchaseIs(world, purchase, "paid", "pending"));
      await release();
    });
  }
  const byBank = (
    what: string,
    act: (world: World, purchase: Purchase, doIt: () => Promise<unknown>) => Promise<void>,
  ) =>
    cell("kill shop", what, "card + bank", undecided, async (world, purchase) => {
      await purchase.shopper.payByCard();
      await act(world, purchase, () => purchase.shopper.payByBank(purchase.bankCents));
    });
  yield byBank("the bank is asked", async (world, _, doIt) => {
    const since = world.bankProxy.seen.length;
    world.bankProxy.set("take", "hold");
    await dies(world, doIt, () => seen(world.bankProxy, "take", since));
  });
  yield byBank("the bank has taken, and Vendure hasn't written it", async (world, { code }, doIt) => {
    const release = await holding(world, "lock table payment in share mode");
    await dies(world, doIt, () => world.bank.heldCents(code) > 0);
    await release();
  });
  yield byBank("both are written, and nothing is decided", async (world, { code }, doIt) => {
    const release = await holding(world, "lock table giftcard.giftcard_purchase in exclusive mode");
    const admin = await world.admin();
    await dies(world, doIt, async () => (await admin.look(code)).payments.some(({ method }) => method === "bank"));
    await release();
  });
  yield byBank("decided, and not settled by Vendure", async (world, purchase, doIt) => {
    const sql = `select 1 from payment where method = 'giftcard' and "orderId" = (select id from "order" where code = $1) for update`;
    const release = await holding(world, sql, [purchase.code]);
    await dies(world, doIt, () => purchaseIs(world, purchase, "paid"));
    await release();
  });
  for (const [what, operation] of [
    ["the cards are being reversed", "canceldevalue"],
    ["the bank gives back", "refund"],
  ] as const)
    yield cell("kill shop", `cancelled, and ${what}`, "card + bank", ["whole"], async (world, purchase) => {
      await pay(purchase);
      const proxy = operation === "refund" ? world.bankProxy : world.giftcards.proxy;
      const since = proxy.seen.length;
      proxy.set(operation, "hold");
      await dies(
        world,
        () => cancel(world, purchase),
        () => seen(proxy, operation, since),
      );
    });
}

/** As if the shopper had taken half an hour. */
const lapse = ({ books }: World, { code }: Purchase) =>
  books.query("update giftcard.giftcard_purchase set next_try_at = now() where order_id = $1", [code]);

function* shopperCells(): Generator<VendureCell> {
  yield cell(
    "shopper",
    "waits until recovery gave the card back, then pays the rest",
    "card + bank",
    ["whole"],
    async (world, purchase) => {
      await purchase.shopper.payByCard();
      await lapse(world, purchase);
      await until(() => purchaseIs(world, purchase, "failed"), "the card isn't given back");
      await purchase.shopper.payByBank(purchase.bankCents);
    },
  );
  yield cell(
    "shopper",
    "pays while recovery gives the card back",
    "card + bank",
    undecided,
    async (world, purchase) => {
      await purchase.shopper.payByCard();
      world.bankProxy.set("take", "hold");
      const since = world.bankProxy.seen.length;
      const paying = attempt(purchase.shopper.payByBank(purchase.bankCents));
      await until(() => seen(world.bankProxy, "take", since), "the bank isn't asked");
      await lapse(world, purchase);
      await pause(3000);
      await world.calm();
      await paying;
    },
  );
  yield cell(
    "shopper",
    "pays the rest while the card is on its way back, and Vendure isn't told yet",
    "card + bank",
    ["whole"],
    async (world, purchase) => {
      await purchase.shopper.payByCard();
      world.giftcards.proxy.set("canceldevalue", "hold");
      await lapse(world, purchase);
      await until(() => purchaseIs(world, purchase, "voiding"), "the card isn't given back");
      await attempt(purchase.shopper.payByBank(purchase.bankCents));
    },
  );
  yield cell("shopper", "goes back to the cart", "card + bank", ["whole"], async (world, purchase) => {
    await purchase.shopper.payByCard();
    await purchase.shopper.moveTo("AddingItems");
    await until(() => purchaseIs(world, purchase, "failed"), "the card isn't given back");
    await purchase.shopper.moveTo("ArrangingPayment");
  });
}

function* doubleCells(): Generator<VendureCell> {
  const both = (...calls: Promise<unknown>[]) => Promise.all(calls.map(attempt));
  for (const kind of kinds)
    yield cell("two shops", "the cards twice", kind, undecided, async (_, { shopper, beside }) => {
      await both(shopper.payByCard(), beside.payByCard(), shopper.payByCard());
    });
  yield cell("two shops", "the bank twice", "card + bank", ["paid"], async (_, purchase) => {
    const { shopper, beside, bankCents } = purchase;
    await shopper.payByCard();
    await both(shopper.payByBank(bankCents), beside.payByBank(bankCents));
  });
  yield cell("two shops", "cancel twice", "card + bank", ["whole"], async (world, purchase) => {
    await pay(purchase);
    await both(cancel(world, purchase), cancel(world, purchase));
  });
  for (const times of [1, 2, 3])
    yield cell(
      "two shops",
      `cancel beside a refund of the card, ${times}`,
      "card + bank",
      ["whole"],
      async (world, purchase) => {
        await pay(purchase);
        await both(cancel(world, purchase), refund(["giftcard"])(world, purchase));
      },
    );
  yield cell("two shops", "one card in two orders", "card + bank", undecided, async (world, purchase) => {
    const other = await begin(world, "card + bank", purchase.cards[0]);
    await both(purchase.shopper.payByCard(), other.beside.payByCard());
    await attempt(other.beside.moveTo("AddingItems"));
    const isOpen = () => purchaseIs(world, other, "charging", "pending", "voiding");
    await until(async () => !(await isOpen()), "the other order keeps the card");
  });
}

/** Every cell, in the order of a purchase. */
export const vendureCells = (): VendureCell[] => [
  ...plainCells(),
  ...networkCells(),
  ...shopperCells(),
  ...deathCells(),
  ...doubleCells(),
];
