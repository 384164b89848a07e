import { openShopper } from "../../../scripts/shops/vendure-shopper.mjs";
import type { Fault } from "../../support/fault-proxy.js";
import type { IssuedCard } from "../faults/service.js";
import type { Random } from "../people/random.js";
import { channels, coupons, type Shop } from "./shop.js";

const VISA = "4242424242424242";
const FAULT = "... on ErrorResult { errorCode message }";
const ORDER = `{ ... on Order { id code state } ${FAULT} }`;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

type Shopper = ReturnType<typeof openShopper>;

/** A step that someone did, and how it was answered. */
export interface Entry {
  readonly atMs: number;
  readonly who: string;
  readonly what: string;
  readonly answer: string;
}

/** An order, as its people know it. */
export interface Sale {
  readonly index: number;
  id: string;
  code: string;
  channel: string | undefined;
  /** The client secrets of its intents at Stripe. */
  readonly secrets: string[];
  /** Whether staff may have modified it. */
  isModified: boolean;
  /** The cents that staff refunded and took off the total by modifications: at least, and at most. */
  refunded: { min: number; max: number };
}

/** A round: several orders at the same time. */
export interface Round {
  readonly shop: Shop;
  readonly sales: Sale[];
  readonly cards: IssuedCard[];
  readonly entries: Entry[];
  readonly startedAt: number;
  /** Whether nothing fails. A method that tells nobody what it is about to take loses money in a crash, also without cards. */
  readonly isCalm: boolean;
}

interface Scene {
  readonly round: Round;
  readonly sale: Sale;
  readonly random: Random;
  readonly who: string;
}

/** Does a step, and records its answer. @returns the answer, or undefined if it was refused or lost */
async function act<T>({ round, sale, who }: Omit<Scene, "random">, what: string, call: () => Promise<T>) {
  const atMs = Math.round(performance.now() - round.startedAt);
  const record = (answer: string) =>
    void round.entries.push({ atMs, who: `${who} of order ${sale.index} (${sale.code})`, what, answer });
  try {
    const value = await call();
    const { state, errorCode, paymentErrorMessage, code } = Object(value);
    record(String([errorCode, paymentErrorMessage, state].filter(Boolean).join(" ") || code || "ok"));
    return value;
  } catch (error) {
    record(`refused: ${(error as Error).message.slice(0, 160)}`);
    return undefined;
  }
}

const urlOf = ({ round, random }: Scene) => random.pick(round.shop.world.urls());

/** The same shopper at any of the servers, as behind a load balancer. */
const anywhere = (scene: Scene, shopper: Shopper, channel: string | undefined) =>
  openShopper(urlOf(scene), undefined, shopper.bearer(), channel);

const pay = (shopper: Shopper, method: string, metadata: object = {}) =>
  shopper.call(
    `mutation ($input: PaymentInput!) { addPaymentToOrder(input: $input)
      { ... on Order { id code state } ... on PaymentDeclinedError { paymentErrorMessage } ${FAULT} } }`,
    { input: { method, metadata } },
  );

/** The amounts of cards and remainder that the page shows. */
const shownTo = (shopper: Shopper) => shopper.call("{ giftcards { ... on GiftcardSummary { plan } } }");

/** The amount that the page shows as left to pay. */
async function remainderOf(shopper: Shopper): Promise<number> {
  const order = await shopper.call("{ activeOrder { totalWithTax giftcardPayment { state remainder } } }");
  return order.giftcardPayment?.state === "pending" ? order.giftcardPayment.remainder : order.totalWithTax;
}

/** Pays an intent of Stripe, whose webhook arrives late, several times, at any server, or only with Stripe's repetition. */
async function payByStripe(scene: Scene, secret: string) {
  const { random, round } = scene;
  const { stripe } = round.shop;
  const { status } = await stripe.confirm(secret, VISA);
  if (status !== 200) throw new Error(`Stripe: ${status}`);
  const isOf = ({ client_secret }: { client_secret: string }) => client_secret === secret;
  const intent = stripe.intents.all().find(isOf);
  const event = stripe.events.find(
    ({ type, data }) => type === "payment_intent.succeeded" && data.object.id === intent?.id,
  );
  if (!event || random.chance(0.1)) return;
  const deliver = async () => {
    await pause(random.int(0, 1500));
    await stripe.deliver(event, `${urlOf(scene)}/payments/stripe`).catch(() => 0);
  };
  await Promise.all(Array.from({ length: random.pick([1, 1, 2, 3]) }, deliver));
}

/** The steps of a shopper at the checkout, by name. */
function stepsOf(scene: Scene, shopper: Shopper, cardOf: () => Promise<IssuedCard>) {
  const { random } = scene;
  const { variantIds } = scene.round.shop;
  const lines = async (): Promise<{ id: string; quantity: number }[]> =>
    (await shopper.call("{ activeOrder { lines { id quantity } } }"))?.lines ?? [];
  return {
    "add item": () =>
      shopper.call(
        `mutation { addItemToOrder(productVariantId: "${random.pick(variantIds)}", quantity: ${random.int(1, 3)}) ${ORDER} }`,
      ),
    quantity: async () => {
      const line = random.pick(await lines());
      return shopper.call(
        `mutation { adjustOrderLine(orderLineId: "${line?.id}", quantity: ${random.int(1, 4)}) ${ORDER} }`,
      );
    },
    coupon: () => shopper.call(`mutation { applyCouponCode(couponCode: "${random.pick(coupons)}") ${ORDER} }`),
    "no coupon": () =>
      shopper.call(`mutation { removeCouponCode(couponCode: "${random.pick(coupons)}") { id state } }`),
    shipping: async () => {
      const { id } = random.pick<{ id: string }>(await shopper.call("{ eligibleShippingMethods { id } }"));
      return shopper.call(`mutation { setOrderShippingMethod(shippingMethodId: ["${id}"]) ${ORDER} }`);
    },
    "apply card": async () => shopper.apply(await cardOf()),
    "remove card": async () => {
      const { cards } = await shopper.call("{ giftcards { ... on GiftcardSummary { cards { id } } } }");
      const id = random.pick<{ id: string }>(cards)?.id;
      return shopper.call(
        `mutation { removeGiftcard(id: "${id}") { ... on GiftcardSummary { covered } ... on GiftcardError { code } } }`,
      );
    },
    address: () =>
      shopper.call(
        `mutation { setOrderShippingAddress(input: { streetLine1: "Street ${random.int(1, 99)}", countryCode: "NL" }) ${ORDER} }`,
      ),
    "back to the cart": () => shopper.moveTo("AddingItems"),
    "to payment": () => shopper.moveTo("ArrangingPayment"),
    "pay by card": async () => pay(shopper, "giftcard", await shownTo(shopper)),
    "pay by bank": async () => pay(shopper, "bank", { amountCents: await remainderOf(shopper) }),
    // It takes what Vendure names. Its ids repeat for an order.
    "pay by a naive method": () => pay(shopper, "naive"),
    // The same, and its refunds stay pending, or fail.
    "pay by a slow refunder": () => pay(shopper, "naive-pending"),
    "pay a part": () => pay(shopper, random.pick(["naive", "naive-pending"]), { amountCents: random.int(100, 2000) }),
    "promise a transfer": () => shopper.moveTo("AwaitingTransfer"),
    "pay by Stripe": async () => {
      const secret = await shopper.call("mutation { createStripePaymentIntent }");
      scene.sale.secrets.push(secret);
      // Some shoppers leave the page, and may pay later.
      if (random.chance(0.8)) await payByStripe(scene, secret);
    },
    "pay an old intent": () => payByStripe(scene, random.pick(scene.sale.secrets)),
  };
}

type Step = keyof ReturnType<typeof stepsOf>;

const changes: Readonly<Partial<Record<Step, number>>> = {
  ...{ "add item": 10, quantity: 15, coupon: 10, "no coupon": 5, shipping: 8, "apply card": 20, "remove card": 20 },
};
const moves: Readonly<Partial<Record<Step, number>>> = {
  ...{ "back to the cart": 20, "to payment": 10, "pay by card": 20, "pay by bank": 15, "pay by Stripe": 10 },
  ...{ "pay an old intent": 8, address: 15, "promise a transfer": 6 },
};
const naively = ["pay by a naive method", "pay by a slow refunder", "pay a part"] as const;

/** A shopper who fills a cart, applies cards, and pays, with second thoughts and second tabs. */
export async function shop(round: Round, sale: Sale, random: Random, sharedCard: () => Promise<IssuedCard>) {
  const scene: Scene = { round, sale, random, who: "shopper" };
  const channel = random.pick(channels);
  sale.channel = channel;
  const cardOf = async () => {
    if (random.chance(0.2)) return sharedCard();
    const cents = random.chance(0.6) ? random.pick([1000, 2500, 5000, 7500]) : random.int(100, 12_000);
    const card = await round.shop.world.giftcards.issueCard(cents);
    round.cards.push(card);
    return card;
  };
  const shopper = openShopper(urlOf(scene), undefined, undefined, channel);
  const order = await shopper.order();
  Object.assign(sale, { id: order.id, code: order.code });
  const doesAs = (who: string) => (name: Step) =>
    act({ ...scene, who }, name, () => stepsOf({ ...scene, who }, anywhere(scene, shopper, channel), cardOf)[name]());
  const does = doesAs("shopper");
  await does("back to the cart");
  for (let left = random.int(1, 4); left > 0; left -= 1)
    await does(random.pick(["add item", "quantity", "coupon", "shipping"]));
  for (let left = random.pick([1, 1, 1, 2, 3]); left > 0; left -= 1) await does("apply card");
  await does("to payment");
  // An intent that is older than the cards' charge: it is for the total, and the shopper still has it.
  let early: string | undefined;
  if (random.chance(0.15)) {
    early = await act(scene, "an early intent", async () => {
      const { call, apply } = anywhere(scene, shopper, channel);
      const { cards } = await call("{ giftcards { ... on GiftcardSummary { cards { id } } } }");
      for (const { id } of cards)
        await call(`mutation { removeGiftcard(id: "${id}") { ... on GiftcardSummary { covered } } }`);
      const secret = await call("mutation { createStripePaymentIntent }");
      sale.secrets.push(secret);
      await apply(await cardOf());
      return secret;
    });
  }
  const doesInTab = doesAs("second tab");
  const tab = async () => {
    if (!random.chance(0.5)) return;
    for (let left = random.int(1, 3); left > 0; left -= 1) {
      await pause(random.int(0, 1200));
      await doesInTab(random.weighted<Step>({ ...changes, ...moves }));
    }
  };
  const first = async () => {
    const tries = random.pick([1, 1, 2, 3]);
    for (let left = tries; left > 0; left -= 1) {
      await Promise.all([does("pay by card"), random.chance(0.3) && does("pay by card")]);
      if (early && random.chance(0.7))
        await act(scene, "pay the early intent", () => payByStripe(scene, String(early)));
      if (random.chance(0.15)) await pause(random.int(0, 12_000));
      if (random.chance(0.15)) {
        await does("back to the cart");
        await does(random.weighted<Step>(changes));
        await pause(random.int(0, 1500));
        await does("to payment");
        continue;
      }
      if (random.chance(0.1)) return;
      if (random.chance(0.15)) await does(random.pick<Step>(["coupon", "no coupon", "promise a transfer"]));
      const others = round.isCalm ? naively : [];
      const how = random.pick<Step>(["pay by bank", "pay by bank", "pay by Stripe", ...others]);
      await Promise.all([does(how), random.chance(0.3) && does(how)]);
      const now = await anywhere(scene, shopper, channel)
        .look(sale.code)
        .catch(() => undefined);
      if (now && !now.active) return;
    }
  };
  await Promise.all([first(), tab()]);
}

/** Staff who refund, cancel and modify an order once it is placed. */
export async function administer(round: Round, sale: Sale, random: Random, isOver: () => boolean) {
  const scene: Scene = { round, sale, random, who: "admin" };
  const look = await round.shop.world.admin();
  for (;;) {
    await pause(200);
    if (sale.code && (await look.look(sale.code))?.state === "PaymentSettled") break;
    if (isOver()) return;
  }
  const admin = await round.shop.world.admin(sale.channel);
  const live = async () => {
    const { payments } = await admin.look(sale.code);
    return payments.filter(({ state }) => state === "Settled");
  };
  const refund = async (cents: (payment: { id: string; method: string; amount: number }) => Promise<number>) => {
    const payment = random.pick(await live());
    if (!payment) throw new Error("nothing to refund");
    const amount = await cents(payment);
    return counted(sale, amount, () => admin.refund(payment.id, amount));
  };
  const steps = {
    "refund a charge": () =>
      refund(async ({ method, amount }) => {
        if (method !== "giftcard") return random.int(1, amount);
        const query = `{ giftcardCharges(options: { orderCode: "${sale.code}" }) { items { amount } } }`;
        return random.pick<{ amount: number }>((await admin.call(query)).items).amount;
      }),
    "refund some": () => refund(async ({ amount }) => random.int(1, amount)),
    "refund a payment": () => refund(async ({ amount }) => amount),
    cancel: () => admin.cancel(sale.id),
    modify: () => modify(admin, sale, random),
  };
  const does = (name: keyof typeof steps) => act(scene, name, steps[name]);
  type Step = keyof typeof steps;
  const one = () =>
    random.weighted<Step>({ "refund a charge": 30, "refund some": 20, "refund a payment": 15, cancel: 10 });
  for (let left = random.int(1, 4); left > 0; left -= 1) {
    // Vendure doesn't lock an order for a modification, so staff does nothing else meanwhile.
    if (random.chance(0.2)) await does("modify");
    else {
      const name = one();
      await Promise.all([does(name), random.chance(0.25) && does(random.chance(0.5) ? name : one())]);
    }
  }
}

/** Counts what a step refunds: exactly if it is answered, and as possible if the answer is lost or unclear. */
async function counted<T extends object>(sale: Sale, cents: number, call: () => Promise<T>): Promise<T> {
  try {
    const answer = await call();
    const isMade = "state" in answer && answer.state !== "Failed" && !("errorCode" in answer);
    if (isMade) sale.refunded.min += cents;
    if (isMade) sale.refunded.max += cents;
    return answer;
  } catch (error) {
    const isRefused = /Possible: |can't be refunded|have only|PaymentOrderMismatch|[Rr]efund|REFUND/.test(
      (error as Error).message,
    );
    if (!isRefused) sale.refunded.max += cents;
    throw error;
  }
}

/** Takes one unit off a placed order, and refunds its price to one of the payments. */
async function modify(admin: Awaited<ReturnType<Shop["world"]["admin"]>>, sale: Sale, random: Random) {
  const query = `{ order(id: "${sale.id}") { state totalWithTax lines { id quantity } payments { id state refunds { id } } } }`;
  const before = await admin.call(query);
  // Vendure's modifications don't count earlier refunds.
  if (before.payments.some((one: { refunds: object[] }) => one.refunds.length > 0)) throw new Error("refunded before");
  const line = random.pick<{ id: string; quantity: number }>(before.lines);
  const payment = random.pick<{ id: string }>(
    before.payments.filter((one: { state: string }) => one.state === "Settled"),
  );
  await admin.call(`mutation { transitionOrderToState(id: "${sale.id}", state: "Modifying") ${ORDER} }`);
  const mutation = `mutation ($input: ModifyOrderInput!) { modifyOrder(input: $input) { ... on Order { id code state totalWithTax } ${FAULT} } }`;
  const input = {
    orderId: sale.id,
    adjustOrderLines: [{ orderLineId: line.id, quantity: Math.max(0, line.quantity - 1) }],
  };
  try {
    const tried = await admin.call(mutation, { input: { ...input, dryRun: true } });
    const amount = before.totalWithTax - tried.totalWithTax;
    const refunds = amount > 0 ? [{ paymentId: payment.id, amount, reason: "one less" }] : [];
    sale.isModified = true;
    return await admin.call(mutation, { input: { ...input, dryRun: false, refunds } });
  } finally {
    await admin.call(`mutation { transitionOrderToState(id: "${sale.id}", state: "PaymentSettled") ${ORDER} }`);
  }
}

/** The faults of a round. */
export async function storm(round: Round, random: Random, isOver: () => boolean) {
  const { world } = round.shop;
  const scene = {
    round,
    sale: {
      index: -1,
      id: "",
      code: "all",
      channel: undefined,
      secrets: [],
      isModified: false,
      refunded: { min: 0, max: 0 },
    },
    who: "weather",
  };
  for (let left = random.int(1, 4); left > 0 && !isOver(); left -= 1) {
    await pause(random.int(200, 2500));
    const what = random.weighted({ "lose a card's answer": 50, "lose the bank's answer": 30, "kill a server": 20 });
    const fault = random.pick<Fault>(["cut-before", "cut-after", "error", "busy", "garbage", "half", "delay"]);
    await act(scene, `${what} ${fault}`, async () => {
      if (what === "kill a server") {
        await world.kill();
        await world.restore();
      } else if (what === "lose a card's answer")
        world.giftcards.proxy.set(random.pick(["devalue", "devalue", "canceldevalue"]), fault, random.int(1, 3));
      else world.bankProxy.set(random.pick(["take", "take", "refund", "close"]), fault, random.int(1, 2));
    });
  }
}
