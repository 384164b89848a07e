import { expect, test } from "vitest";
import { shopApiTransport } from "../src/storefront.mjs";
import { useStage } from "./support/stage.js";

const stage = useStage();

const SUMMARY = "... on GiftcardSummary { orderCode total covered remainder cards { id lastFour amount state } }";
const ERROR = "... on GiftcardError { errorCode code message retryAfterSeconds }";
const QUOTE = `mutation ($input: GiftcardInput!) {
  quoteGiftcard(input: $input) { ... on GiftcardQuote { id lastFour balance usable remainder limitedBy } ${ERROR} }
}`;
const APPLY = `mutation ($input: ApplyGiftcardInput!) { applyGiftcard(input: $input) { ${SUMMARY} ${ERROR} } }`;
const REMOVE = `mutation ($id: String!) { removeGiftcard(id: $id) { ${SUMMARY} ${ERROR} } }`;
const LIST = `{ giftcards { ${SUMMARY} ${ERROR} } }`;
const entry = ({ cardNumber, pin }: { cardNumber: string; pin: string }) => ({ cardNumber, pin });

test("quotes, applies and removes a card of the active order", async () => {
  const shopper = await stage().order();
  const card = await stage().issueCard(7500);
  const quote = await shopper.ask(QUOTE, { input: entry(card) });
  expect(quote).toMatchObject({ balance: 7500, usable: 5000, remainder: 2498, limitedBy: "limit" });
  const applied = await shopper.ask(APPLY, { input: { quoteId: quote.id } });
  expect(applied).toMatchObject({ orderCode: shopper.code, total: 7498, covered: 5000, remainder: 2498 });
  const [{ id }] = applied.cards;
  expect(await shopper.ask(REMOVE, { id })).toMatchObject({ covered: 0, cards: [] });
  expect(await shopper.ask(LIST)).toMatchObject({ covered: 0, remainder: 7498 });
});

test("returns refusals as typed results with a code", async () => {
  const shopper = await stage().order();
  const wrong = { ...entry(await stage().issueCard(1000)), pin: "0000" };
  const refusal = await shopper.ask(QUOTE, { input: wrong });
  expect(refusal).toMatchObject({ errorCode: "GIFTCARD_ERROR", code: "invalid_card" });
  expect(await shopper.ask(REMOVE, { id: "nothing" })).toMatchObject({ code: "applied_card_not_found" });
  expect(await shopper.ask(APPLY, { input: {} })).toMatchObject({ code: "invalid_request" });
  expect(await shopper.ask(APPLY, { input: { quoteId: "a\0b" } })).toMatchObject({ code: "invalid_request" });
});

test("refuses a session without an active order, and one session can't reach the cards of another", async () => {
  const owner = await stage().order(5000);
  const { cards } = await owner.ask(LIST);
  const nobody = stage().shopper();
  expect(await nobody.ask(LIST)).toMatchObject({ code: "cart_not_found" });
  const other = await stage().order();
  expect(await other.ask(REMOVE, { id: cards[0].id })).toMatchObject({ code: "applied_card_not_found" });
  expect(await owner.ask(LIST)).toMatchObject({ covered: 5000 });
});

test("limits wrong PINs per order", async () => {
  const shopper = await stage().order();
  const card = await stage().issueCard(1000);
  const guess = (n: number) => shopper.ask(QUOTE, { input: { ...entry(card), pin: `${1000 + n}` } });
  let refusal = await guess(0);
  for (let n = 1; n < 12 && refusal.code !== "too_many_attempts"; n += 1) refusal = await guess(n);
  expect(refusal).toMatchObject({ code: "too_many_attempts" });
  expect(refusal.retryAfterSeconds).toBeGreaterThan(0);
});

test("limits wrong PINs by the shopper's address, which the shop's own proxy sends", async () => {
  /** Enters numbers of no card for a new order. */
  let round = 0;
  const guess = async (address: string, count: number) => {
    round += 1;
    const { bearer } = await stage().order();
    const codes: string[] = [];
    for (let n = 0; n < count; n += 1) {
      const response = await fetch(`${stage().shop().url}/shop-api`, {
        method: "POST",
        headers: {
          ...{ "content-type": "application/json", authorization: `Bearer ${bearer()}` },
          "x-forwarded-for": `203.0.113.99, ${address}`,
        },
        body: JSON.stringify({
          query: QUOTE,
          variables: { input: { cardNumber: `${address.slice(-1)}${round}00000000000${n}`, pin: "1234" } },
        }),
      });
      const { data } = (await response.json()) as { data: { quoteGiftcard: { code: string } } };
      codes.push(data.quoteGiftcard.code);
    }
    return codes;
  };
  const codes = [
    ...(await guess("203.0.113.7", 8)),
    ...(await guess("203.0.113.7", 8)),
    ...(await guess("203.0.113.7", 8)),
  ];
  expect(codes.slice(0, 20)).not.toContain("too_many_attempts");
  expect(codes.slice(20)).toEqual(Array(4).fill("too_many_attempts"));
  expect(await guess("203.0.113.8", 1)).not.toContain("too_many_attempts");
});

test("returns the placed order from the payment that completes it", async () => {
  const shopper = await stage().order(7500);
  expect(await shopper.payByCard()).toMatchObject({ state: "ArrangingPayment" });
  expect(await shopper.payByBank(2498)).toMatchObject({ state: "PaymentSettled", active: false });
  await stage().expectHeld(shopper, { state: "PaymentSettled", cards: 5000, bank: 2498 });
  const query = `{ orderByCode(code: "${shopper.code}") {
    giftcardPayment { state remainder cards { lastFour amount refunded } }
  } }`;
  const lastFour = shopper.cards[0]?.cardNumber.slice(-4);
  expect(await shopper.ask(query)).toEqual({
    giftcardPayment: { state: "paid", remainder: 2498, cards: [{ lastFour, amount: 5000, refunded: 0 }] },
  });
});

test("declines a payment of the remainder while applied cards are not charged", async () => {
  const shopper = await stage().order(7500);
  expect(await shopper.payByBank(7498)).toMatchObject({ errorCode: "PAYMENT_DECLINED_ERROR" });
  await stage().expectHeld(shopper, { state: "ArrangingPayment", cards: 0, bank: 0 });
});

test("serves every call of <giftcard-pay>", async () => {
  const shopper = await stage().order();
  const card = await stage().issueCard(7500);
  const transport = shopApiTransport({
    url: `${stage().shop().url}/shop-api`,
    headers: () => ({ authorization: `Bearer ${shopper.bearer()}` }),
  });
  const call = async (method: string, path: string, body?: object) => {
    const response = await transport(`/giftcards${path}`, { method, ...(body && { body: JSON.stringify(body) }) });
    return { status: response.status, ...((await response.json()) as Record<string, unknown>) };
  };
  const cart = `/carts/${shopper.code}`;
  const quote = await call("POST", `${cart}/quote`, entry(card));
  expect(quote).toMatchObject({ status: 200, balanceCents: 7500, usableCents: 5000, remainderCents: 2498 });
  const applied = await call("POST", `${cart}/cards`, { quoteId: quote.quoteId });
  expect(applied).toMatchObject({ cartId: shopper.code, currency: "EUR", coveredCents: 5000, maxPerCardCents: 5000 });
  const [first] = applied.cards as { id: string; amountCents: number }[];
  expect(first).toMatchObject({ amountCents: 5000, balanceCents: 7500, state: "applied" });
  expect(await call("GET", cart)).toMatchObject({ status: 200, coveredCents: 5000 });
  expect(await call("DELETE", `${cart}/cards/${first?.id}`)).toMatchObject({ coveredCents: 0, cards: [] });
  expect(await call("POST", "/balance", entry(card))).toMatchObject({ status: 200, balanceCents: 7500 });
  const wrong = { ...entry(card), pin: "0000" };
  expect(await call("POST", `${cart}/quote`, wrong)).toMatchObject({ status: 409, code: "invalid_card" });
});

test("writes no card number or PIN into Vendure's log", async () => {
  const shopper = await stage().order();
  const card = await stage().issueCard(1000);
  stage().proxy.set("balance", "cut-before");
  expect(await shopper.ask(QUOTE, { input: entry(card) })).toMatchObject({ code: "service_unavailable" });
  stage().proxy.clear();
  expect(stage().shop().logs()).not.toContain(card.cardNumber);
});

/** Creates a customer. @returns the mutation that logs in */
async function newCustomer(): Promise<string> {
  const emailAddress = `${crypto.randomUUID()}@example.com`;
  const create = 'createCustomer(input: $input, password: "a-long-password") { ... on Customer { id } }';
  const input = { emailAddress, firstName: "Ada", lastName: "L" };
  await stage().admin().call(`mutation ($input: CreateCustomerInput!) { ${create} }`, { input });
  return `mutation { login(username: "${emailAddress}", password: "a-long-password") { ... on CurrentUser { id } } }`;
}

const APPLIED = "{ giftcards { ... on GiftcardSummary { orderCode total covered } } }";

async function addTicket(shopper: ReturnType<ReturnType<typeof stage>["shopper"]>) {
  const { items } = await shopper.call("{ products { items { variants { id } } } }");
  const id = items[0].variants[0].id;
  return shopper.call(`mutation { addItemToOrder(productVariantId: "${id}", quantity: 1) { ... on Order { code } } }`);
}

test("applied cards survive a log-in with a merged order, except for one that can't be applied again", async () => {
  const login = await newCustomer();
  const before = stage().shopper();
  await before.call(login);
  const { code } = await addTicket(before);
  const guest = stage().shopper();
  await addTicket(guest);
  const [lost, kept] = [await stage().issueCard(1000), await stage().issueCard(3000)];
  for (const card of [lost, kept]) await guest.apply(card);
  await stage().service.command("card", "block", lost.cardNumber);
  await guest.call(login);
  expect(await guest.call(APPLIED)).toMatchObject({ orderCode: code, covered: 3000 });
});

test("the cards of one customer's order don't get into the order of another one who logs in after them", async () => {
  const login = await newCustomer();
  const own = stage().shopper();
  await own.call(login);
  const { code } = await addTicket(own);
  const shared = await stage().order();
  await shared.apply(await stage().issueCard(3000));
  await shared.call(login);
  expect(await shared.call(APPLIED)).toMatchObject({ orderCode: code, covered: 0 });
});
