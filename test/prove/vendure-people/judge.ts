import type { OrderView } from "../../../scripts/shops/vendure-shopper.mjs";
import { compare } from "../books/books.js";
import { sum } from "../books/cents.js";
import { centsOff } from "../books/issuer.js";
import { readVendure } from "../books/vendure.js";
import type { Round, Sale } from "./people.js";
import type { Shop } from "./shop.js";

const heldStates = ["devalued", "committed", "captured", "taken"];
const methods = ["giftcard", "bank", "stripe", "naive", "naive-pending"] as const;
type Method = (typeof methods)[number];

/** Returns the cents that Stripe holds for an order. */
const atStripe = ({ stripe }: Shop, code: string) =>
  sum(
    stripe.intents
      .all()
      .filter(({ metadata }) => metadata.orderCode === code)
      .map(({ id }) => stripe.intents.takenCents(id)),
  );

const pendingOfCards = ({ payments }: OrderView): number =>
  sum(
    payments
      .filter(({ method }) => method === "giftcard" || method === "stripe" || method === "bank")
      .flatMap(({ refunds }) => refunds.flatMap(({ state, total }) => (state === "Pending" ? total : []))),
  );

/** An order with what each side says about its money. */
export interface Standing {
  readonly order: OrderView;
  readonly booked: Readonly<Record<Method, number>>;
  readonly wrong: readonly string[];
  /** The cents that a person still has to refund, because an old intent was paid. */
  readonly overcollected: number;
}

/** Reads Vendure, the checkout, the bank and Stripe, and says what doesn't add up for an order. */
export async function judgeSale(
  shop: Shop,
  sale: Sale,
  admin: Awaited<ReturnType<Shop["world"]["admin"]>>,
): Promise<Standing> {
  const { world } = shop;
  const { code } = sale;
  const { order, charges, booked } = await readVendure({ books: world.books, admin }, code, methods);
  const purchase: { state: string; total: number; overcollected: number } | null = await admin.call(
    `{ giftcardPurchase(orderCode: "${code}") { state total overcollected } }`,
  );
  const ofCards = charges.filter(({ state }) => heldStates.includes(state));
  // Three methods take money at the bank. One of them has promised refunds that it doesn't make.
  const promised = sum(
    order.payments.flatMap(({ refunds }) => refunds.flatMap(({ state, total }) => (state === "Pending" ? total : []))),
  );
  const atBank = world.bank.heldCents(code) - (promised - pendingOfCards(order));
  const held: Record<Method, number> = {
    giftcard: sum(ofCards.map(({ amount_cents }) => Number(amount_cents))),
    bank: atBank - booked.naive - booked["naive-pending"],
    ...{ naive: booked.naive, "naive-pending": booked["naive-pending"] },
    stripe: atStripe(shop, code),
  };
  const wrong: string[] = [];
  const expect = (isRight: boolean, what: string) => void (isRight || wrong.push(what));
  const overcollected = purchase?.state === "pending" ? purchase.overcollected : 0;
  // A refunded order can't leave Modifying, because Vendure doesn't count it as covered any more.
  const isPlaced = /^(PaymentSettled|Modifying)$/.test(order.state);
  expect(
    isPlaced || /^(AddingItems|ArrangingPayment|AwaitingTransfer|Cancelled)$/.test(order.state),
    `the order is ${order.state}`,
  );
  const recorded: { transactionId: string }[] = (
    await admin.call(`{ order(id: "${sale.id}") { payments { transactionId } } }`)
  ).payments;
  const history: { type: string; data: { from?: string; to?: string; note?: string } }[] = (
    await admin.call(`{ order(id: "${sale.id}") { history(options: { take: 200 }) { items { type data } } } }`)
  ).history.items;
  // An order that no card was charged for, or whose cards were reversed before it was placed, is Vendure's own business.
  const hasCard = order.payments.some(({ method, state }) => method === "giftcard" && state === "Settled");
  const isReversed = purchase?.state === "canceled" && !(order.state === "Cancelled" && hasCard);
  const isOurs = purchase !== null && purchase.state !== "failed" && !isReversed;
  // Paid by an old intent once the order was placed: staff is told, and refunds it at Stripe.
  const told = history.flatMap(({ data }) => /^Stripe has collected .* \((\w+)\),/.exec(data.note ?? "")?.[1] ?? []);
  const unrecorded = new Set(told.filter((id) => recorded.every(({ transactionId }) => transactionId !== id)));
  held.stripe -= sum([...unrecorded].map((id) => shop.stripe.intents.takenCents(id)));
  // Vendure itself can detach a payment from an order, if the shopper goes back to the cart at the same moment.
  for (const method of methods)
    if (purchase || method === "giftcard")
      expect(
        held[method] === booked[method],
        `${method}: ${held[method]} held, ${booked[method]} in Vendure: ${JSON.stringify(order.payments)}`,
      );
  const bookedAll = sum(Object.values(booked));
  if (overcollected > 0) {
    expect(!isPlaced, "it is placed and overcollected");
    return { order, booked, wrong, overcollected };
  }
  wrong.push(...compare({ charges, purchases: purchase ? [purchase.state] : [] }));
  if (!isOurs) return { order, booked, wrong, overcollected };
  if (!isPlaced)
    expect(
      bookedAll === 0,
      `it is ${order.state}, ${purchase.state}, and ${bookedAll} are held: ${JSON.stringify(order.payments)}`,
    );
  else {
    // Vendure can overwrite an order's lines, if a coupon is removed at the moment of payment.
    const totalCents = sale.isModified ? order.totalWithTax : purchase.total;
    const missing = totalCents - bookedAll;
    const { min, max } = sale.refunded;
    expect(missing >= min && missing <= max, `${missing} of ${totalCents} aren't held; ${min} to ${max} were refunded`);
  }
  const placed = history.filter(
    ({ data }) =>
      /^(ArrangingPayment|AwaitingTransfer)$/.test(data.from ?? "") &&
      /^Payment(Authorized|Settled)$/.test(data.to ?? ""),
  ).length;
  expect(placed <= 1 && (!isPlaced || placed === 1), `it was placed ${placed} times`);
  return { order, booked, wrong, overcollected };
}

/** Says what doesn't add up for all orders of a round together. */
export async function judgeRound(
  { shop, cards, sales, ...round }: Round,
  standings: readonly Standing[],
  callsBefore: number,
) {
  const wrong: string[] = [];
  const off = await centsOff(shop.world.giftcards, cards);
  const booked = sum(standings.map((one) => one.booked.giftcard));
  if (off !== booked) wrong.push(`${off} are off the cards, ${booked} in Vendure`);
  const lost = `select method, amount from payment where "orderId" is null and state in ('Authorized', 'Settled')
    and (method = 'giftcard' or metadata like '%giftcardAttemptId%')`;
  for (const { method, amount } of (await shop.world.books.query(lost)).rows)
    wrong.push(`a payment of ${amount} by ${method} belongs to no order`);
  const sent = shop.world.giftcards.proxy.seen.slice(callsBefore).filter(({ operation }) => operation === "devalue");
  const secrets = cards.flatMap(({ cardNumber }) => [cardNumber]);
  if (shop.world.logs().some((log) => secrets.some((secret) => log.includes(secret))))
    wrong.push("a card number is in a log");
  return { wrong, devalues: sent.length, sales: sales.length, steps: round.entries.length };
}
