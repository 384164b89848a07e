import { randomInt } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { figuresOf, paymentsOf } from "./support/figures.js";
import { type SharedShop, sharedShop } from "./support/shop.js";

let shop: SharedShop;
beforeAll(async () => {
  shop = await sharedShop("whole");
});

const issue = (balanceCents: number) => shop.service.issueCard({ balanceCents });
const sessionsOf = async (cartId: string) => {
  const { cart } = await shop.storefront.ok(
    "GET",
    `/store/carts/${cartId}?fields=*payment_collection.payment_sessions`,
  );
  return cart.payment_collection?.payment_sessions ?? [];
};

test("a customer who is logged in gets one account at the remainder's method", async () => {
  const { storefront } = shop;
  const customer = await storefront.logIn("account@example.org");
  const cartId = await storefront.createCart();
  await storefront.apply(cartId, await issue(7500));
  const { payment_collection } = await storefront.ok("POST", "/store/payment-collections", { cart_id: cartId });
  const path = `/store/payment-collections/${payment_collection.id}/payment-sessions`;
  for (let time = 0; time < 2; time += 1) {
    const { status, body } = await storefront.send("POST", path, { provider_id: "pp_bank_bank" }, customer);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.payment_collection.payment_sessions).toMatchObject([{ provider_id: "pp_bank_bank", amount: 24.98 }]);
  }
  const { customers } = await storefront.ok(
    "GET",
    "/admin/customers?email=account@example.org&fields=id,*account_holders",
  );
  const [{ id, account_holders }] = customers;
  expect(account_holders).toMatchObject([{ provider_id: "pp_bank_bank", external_id: `bank_${id}` }]);
  expect((await storefront.complete(cartId)).body.type).toBe("order");
});

describe("a cart that the cards cover in full", () => {
  test("completes without another payment method", async () => {
    const { storefront } = shop;
    const card = await issue(7500);
    const cartId = await storefront.createCart("open-air-cinema");
    expect((await storefront.apply(cartId, card)).body).toMatchObject({
      totalCents: 2000,
      coveredCents: 2000,
      remainderCents: 0,
    });
    const completed = await storefront.complete(cartId);
    expect(completed).toMatchObject({ status: 200, body: { type: "order" } });
    expect(await shop.balanceCents(card)).toBe(5500);
    const order = await storefront.order(completed.body.order.id);
    expect(figuresOf(order)).toMatchObject({
      total: 20,
      paid: 0,
      outstanding: 20,
      payment_status: "authorized",
    });
    expect(paymentsOf(order)).toMatchObject({ amounts: [20], gifts: [{ amount: 20 }], others: [] });
    await storefront.ok("POST", `/admin/payments/${paymentsOf(order).gifts[0].id}/capture`, {});
    expect(figuresOf(await storefront.order(order.id))).toMatchObject({
      paid: 20,
      outstanding: 0,
      payment_status: "captured",
    });
    expect((await storefront.complete(cartId)).body).toMatchObject({
      type: "order",
      order: { id: order.id },
    });
  });

  test("charges two cards, and a cancel reverses both", { tags: "long" }, async () => {
    const { storefront } = shop;
    const [first, second] = [await issue(7500), await issue(3000)];
    const cartId = await storefront.createCart();
    await storefront.apply(cartId, first);
    const applied = await storefront.apply(cartId, second);
    expect(applied.body).toMatchObject({ coveredCents: 7498, remainderCents: 0 });
    expect(applied.body.cards.map((c: { amountCents: number }) => c.amountCents)).toEqual([5000, 2498]);
    const completed = await storefront.complete(cartId);
    expect(completed.body.type).toBe("order");
    expect([await shop.balanceCents(first), await shop.balanceCents(second)]).toEqual([2500, 502]);
    const order = await storefront.order(completed.body.order.id);
    expect(paymentsOf(order)).toMatchObject({ amounts: [50, 24.98], others: [] });
    await storefront.ok("POST", `/admin/orders/${order.id}/cancel`, {});
    expect([await shop.balanceCents(first), await shop.balanceCents(second)]).toEqual([7500, 3000]);
  });

  test("drops the earlier session, opens an empty one, and accepts no further card", { tags: "long" }, async () => {
    const { storefront } = shop;
    const card = await issue(7500);
    const cartId = await storefront.createCart("open-air-cinema");
    expect((await storefront.initiate(cartId)).body.payment_collection.payment_sessions).toMatchObject([
      { amount: 20 },
    ]);
    await storefront.apply(cartId, card);
    expect(await sessionsOf(cartId)).toEqual([]);
    const empty = { provider_id: "pp_system_default", amount: 0, status: "pending" };
    for (const method of ["pp_bank_bank", "pp_system_default"]) {
      const { status, body } = await storefront.initiate(cartId, method);
      expect(status).toBe(200);
      expect(body.payment_collection.payment_sessions).toMatchObject([empty]);
    }
    expect(await storefront.apply(cartId, await issue(1000))).toMatchObject({
      status: 409,
      body: { code: "nothing_to_pay" },
    });
    const { order } = (await storefront.complete(cartId)).body;
    expect(await shop.balanceCents(card)).toBe(5500);
    expect(paymentsOf(await storefront.order(order.id))).toMatchObject({ amounts: [20], others: [] });
  });

  test("keeps no empty session after a card is removed or the total rises", { tags: "long" }, async () => {
    const { storefront } = shop;
    for (const change of ["remove", "more"]) {
      const card = await issue(7500);
      const cartId = await storefront.createCart("open-air-cinema");
      const { cards } = (await storefront.apply(cartId, card)).body;
      await storefront.initiate(cartId);
      if (change === "more") await storefront.addItem(cartId, "weekend-at-the-dunes");
      else await storefront.ok("DELETE", `/store/giftcard-pay/carts/${cartId}/cards/${cards[0].id}`);
      const refused = await storefront.complete(cartId);
      expect([change, refused.status, refused.body.type]).not.toEqual([change, 200, "order"]);
      const total = change === "more" ? 140 : 20;
      const toPay = change === "more" ? total - 50 : total;
      expect((await storefront.initiate(cartId)).body.payment_collection.payment_sessions).toMatchObject([
        { provider_id: "pp_bank_bank", amount: toPay },
      ]);
      const { order } = (await storefront.complete(cartId)).body;
      const { amounts } = paymentsOf(await storefront.order(order.id));
      expect(amounts.reduce((sum, amount) => sum + amount, 0)).toBe(total);
    }
  });
});

describe("a cart that the cards cover, after its total or a card's part has changed", () => {
  /** Adds an item in another tab, whose page shows the new amounts or not. @returns what this tab has shown */
  async function changed(hasSession: boolean) {
    const { storefront } = shop;
    const card = await issue(7500);
    const cartId = await storefront.createCart("open-air-cinema");
    const { plan } = (await storefront.apply(cartId, card)).body;
    if (hasSession) await storefront.initiate(cartId);
    await storefront.addItem(cartId, "open-air-cinema");
    return { card, cartId, plan };
  }
  const refused = { status: 400, body: { code: "amount_changed" } };
  const completeAs = (cartId: string, plan: unknown) =>
    shop.storefront.send("POST", `/store/carts/${cartId}/complete`, { giftcard_plan: plan });
  const shownOf = async (cartId: string) =>
    (await shop.storefront.ok("GET", `/store/giftcard-pay/carts/${cartId}`)).plan;

  test.each([true, false])("is refused, with a payment session: %s", async (hasSession) => {
    const { storefront } = shop;
    const { card, cartId, plan } = await changed(hasSession);
    expect(await storefront.complete(cartId)).toMatchObject(refused);
    // The other tab's page has shown them, and this one still hasn't.
    expect(await shownOf(cartId)).not.toBe(plan);
    expect(await storefront.complete(cartId)).toMatchObject(refused);
    await storefront.initiate(cartId);
    for (const other of [plan, "", 1, "\0"]) expect(await completeAs(cartId, other)).toMatchObject(refused);
    expect(await shop.balanceCents(card)).toBe(7500);
    expect((await storefront.complete(cartId)).body).toMatchObject({ type: "order" });
    expect(await shop.balanceCents(card)).toBe(3500);
  });

  test("completes for a page that tells which amounts it shows, with any session", async () => {
    const { storefront } = shop;
    const { card, cartId } = await changed(false);
    expect((await completeAs(cartId, await shownOf(cartId))).body).toMatchObject({ type: "order" });
    expect(await shop.balanceCents(card)).toBe(3500);
    const split = await storefront.createCart();
    const { plan } = (await storefront.apply(split, await issue(7500))).body;
    await storefront.initiate(split);
    await storefront.addItem(split, "open-air-cinema");
    await storefront.initiate(split);
    expect(await completeAs(split, plan)).toMatchObject(refused);
    expect((await completeAs(split, await shownOf(split))).body).toMatchObject({ type: "order" });
  });

  test("is refused once taxes were added by their own route", async () => {
    const { storefront } = shop;
    const { regions } = await storefront.ok("GET", "/admin/regions?fields=id");
    const { price_preferences } = await storefront.ok("GET", "/admin/price-preferences?limit=50");
    const { tax_regions } = await storefront.ok("GET", "/admin/tax-regions?country_code=nl&fields=id");
    const setTaxes = async (isSeparate: boolean) => {
      for (const { id } of price_preferences)
        await storefront.ok("POST", `/admin/price-preferences/${id}`, { is_tax_inclusive: !isSeparate });
      await storefront.ok("POST", `/admin/regions/${regions[0].id}`, { automatic_taxes: !isSeparate });
    };
    expect(tax_regions).not.toEqual([]);
    await setTaxes(true);
    try {
      const card = await issue(7500);
      const cartId = await storefront.createCart("open-air-cinema");
      await storefront.apply(cartId, card);
      await storefront.initiate(cartId);
      await storefront.ok("POST", `/store/carts/${cartId}/taxes`, {});
      const { totalCents } = await storefront.ok("GET", `/store/giftcard-pay/carts/${cartId}`);
      expect(totalCents).toBeGreaterThan(2000);
      expect(await storefront.complete(cartId)).toMatchObject(refused);
      expect(await shop.balanceCents(card)).toBe(7500);
      await storefront.initiate(cartId);
      expect((await storefront.complete(cartId)).body).toMatchObject({ type: "order" });
      expect(await shop.balanceCents(card)).toBe(7500 - totalCents);
    } finally {
      await setTaxes(false);
    }
  });
});

describe("two cards and another method", () => {
  test("split 120.00 into 50.00, 30.00 and 40.00", async () => {
    const { storefront } = shop;
    const [first, second] = [await issue(7500), await issue(3000)];
    const cartId = await storefront.createCart("weekend-at-the-dunes");
    await storefront.apply(cartId, first);
    await storefront.apply(cartId, second);
    expect((await storefront.initiate(cartId)).body.payment_collection.payment_sessions).toMatchObject([
      { amount: 40 },
    ]);
    const completed = await storefront.complete(cartId);
    expect(completed.body.type).toBe("order");
    const order = await storefront.order(completed.body.order.id);
    expect(paymentsOf(order).amounts).toEqual([50, 40, 30]);
    expect([await shop.balanceCents(first), await shop.balanceCents(second)]).toEqual([2500, 0]);
  });
});

describe("a removed card", () => {
  test("pays nothing, and the session made with it is deleted", async () => {
    const { storefront } = shop;
    const [first, second] = [await issue(7500), await issue(1000)];
    const cartId = await storefront.createCart();
    await storefront.apply(cartId, first);
    const { body } = await storefront.apply(cartId, second);
    await storefront.initiate(cartId);
    const path = `/store/giftcard-pay/carts/${cartId}/cards/${body.cards[0].id}`;
    const removed = await storefront.send("DELETE", path);
    expect(removed).toMatchObject({ status: 200, body: { coveredCents: 1000, remainderCents: 6498 } });
    expect(await sessionsOf(cartId)).toEqual([]);
    expect(await storefront.send("DELETE", path)).toMatchObject({
      status: 404,
      body: { code: "applied_card_not_found" },
    });
    await storefront.initiate(cartId);
    const completed = await storefront.complete(cartId);
    expect(paymentsOf(await storefront.order(completed.body.order.id)).amounts).toEqual([64.98, 10]);
    expect([await shop.balanceCents(first), await shop.balanceCents(second)]).toEqual([7500, 0]);
  });

  test("leaves no session of a method that the region does not offer, such as Medusa's manual one", {
    tags: "long",
  }, async () => {
    const { storefront } = shop;
    const cartId = await storefront.createCart("open-air-cinema");
    const applied = await storefront.apply(cartId, await issue(1000));
    const cover = await storefront.apply(cartId, await issue(7500));
    await storefront.enableProviders(["pp_giftcard_giftcard", "pp_bank_bank"]);
    try {
      expect((await storefront.initiate(cartId, "pp_system_default")).status).toBe(200);
      for (const { id } of [cover.body.cards[1], applied.body.cards[0]]) {
        await storefront.ok("DELETE", `/store/giftcard-pay/carts/${cartId}/cards/${id}`);
        const refused = await storefront.initiate(cartId, "pp_system_default");
        expect(refused).toMatchObject({ status: 400, body: { type: "invalid_data" } });
        expect(await sessionsOf(cartId)).toEqual([]);
      }
    } finally {
      await storefront.enableProviders();
    }
  });

  test("leaves a cart that can be paid without gift cards", { tags: "long" }, async () => {
    const { storefront } = shop;
    const card = await issue(7500);
    const cartId = await storefront.createCart();
    const { body } = await storefront.apply(cartId, card);
    await storefront.send("DELETE", `/store/giftcard-pay/carts/${cartId}/cards/${body.cards[0].id}`);
    expect((await storefront.initiate(cartId)).body.payment_collection.payment_sessions).toMatchObject([
      { amount: 74.98 },
    ]);
    const completed = await storefront.complete(cartId);
    expect(paymentsOf(await storefront.order(completed.body.order.id))).toMatchObject({
      amounts: [74.98],
      gifts: [],
    });
    expect(await shop.balanceCents(card)).toBe(7500);
  });
});

describe("a cart that changes after a card was applied", () => {
  test("to a higher total increases the remainder", { tags: "long" }, async () => {
    const { storefront } = shop;
    const card = await issue(7500);
    const cartId = await storefront.createCart();
    await storefront.apply(cartId, card);
    await storefront.initiate(cartId);
    await storefront.addItem(cartId, "open-air-cinema");
    expect(await sessionsOf(cartId)).toEqual([]);
    expect((await storefront.send("GET", `/store/giftcard-pay/carts/${cartId}`)).body).toMatchObject({
      totalCents: 9498,
      coveredCents: 5000,
      remainderCents: 4498,
    });
    expect((await storefront.complete(cartId)).status).toBe(400);
    await storefront.initiate(cartId);
    const completed = await storefront.complete(cartId);
    expect(paymentsOf(await storefront.order(completed.body.order.id)).amounts).toEqual([50, 44.98]);
  });

  test("to a lower total charges less of the card", { tags: "long" }, async () => {
    const { storefront } = shop;
    const card = await issue(7500);
    const cartId = await storefront.createCart();
    await storefront.addItem(cartId, "open-air-cinema");
    await storefront.apply(cartId, card);
    await storefront.initiate(cartId);
    const { cart } = await storefront.ok("GET", `/store/carts/${cartId}`);
    const big = cart.items.find((item: { unit_price: number }) => item.unit_price === 74.98);
    await storefront.ok("DELETE", `/store/carts/${cartId}/line-items/${big.id}`);
    expect((await storefront.send("GET", `/store/giftcard-pay/carts/${cartId}`)).body).toMatchObject({
      totalCents: 2000,
      coveredCents: 2000,
      remainderCents: 0,
    });
    expect((await storefront.complete(cartId)).body).toMatchObject({ code: "amount_changed" });
    await storefront.initiate(cartId);
    const completed = await storefront.complete(cartId);
    expect(paymentsOf(await storefront.order(completed.body.order.id)).amounts).toEqual([20]);
    expect(await shop.balanceCents(card)).toBe(5500);
  });

  test("by another card needs a new session", { tags: "long" }, async () => {
    const { storefront } = shop;
    const card = await issue(7500);
    const cartId = await storefront.createCart();
    await storefront.initiate(cartId);
    await storefront.apply(cartId, card);
    expect(await sessionsOf(cartId)).toEqual([]);
    expect((await storefront.complete(cartId)).status).toBe(400);
    expect(await shop.balanceCents(card)).toBe(7500);
  });
});

describe("a quote", () => {
  test("shows the balance, can be applied once, and takes no money", async () => {
    const { storefront } = shop;
    const { cardNumber, pin } = await issue(7500);
    const cartId = await storefront.createCart();
    const path = `/store/giftcard-pay/carts/${cartId}`;
    const quoted = await storefront.send("POST", `${path}/quote`, { cardNumber, pin });
    expect(quoted).toMatchObject({
      status: 200,
      body: {
        balanceCents: 7500,
        usableCents: 5000,
        remainderCents: 2498,
        limitedBy: "limit",
        lastFour: cardNumber.slice(-4),
      },
    });
    expect((await storefront.send("GET", path)).body).toMatchObject({ coveredCents: 0, cards: [] });
    const { quoteId } = quoted.body;
    expect(await storefront.send("POST", `${path}/cards`, { quoteId })).toMatchObject({
      status: 200,
      body: { coveredCents: 5000, cards: [{ balanceCents: 7500, expiryDate: quoted.body.expiryDate }] },
    });
    expect(await storefront.send("POST", `${path}/quote`, { cardNumber, pin })).toMatchObject({
      status: 409,
      body: { code: "card_already_applied" },
    });
    expect(await shop.balanceCents({ cardNumber, pin })).toBe(7500);
  });

  test("of another cart is rejected", { tags: "long" }, async () => {
    const { storefront } = shop;
    const { cardNumber, pin } = await issue(7500);
    const [mine, theirs] = [await storefront.createCart(), await storefront.createCart()];
    const quoted = await storefront.send("POST", `/store/giftcard-pay/carts/${theirs}/quote`, {
      cardNumber,
      pin,
    });
    const { quoteId } = quoted.body;
    const path = `/store/giftcard-pay/carts/${mine}/cards`;
    expect(await storefront.send("POST", path, { quoteId })).toMatchObject({
      status: 409,
      body: { code: "quote_expired" },
    });
    await storefront.send("POST", `/store/giftcard-pay/carts/${theirs}/cards`, { quoteId });
    expect(await storefront.send("DELETE", `${path}/${quoteId}`)).toMatchObject({
      status: 404,
      body: { code: "applied_card_not_found" },
    });
    expect((await storefront.send("GET", `/store/giftcard-pay/carts/${theirs}`)).body.coveredCents).toBe(5000);
  });
});

describe("a card's balance", () => {
  test("is available without a cart, and a wrong PIN is rejected", async () => {
    const { cardNumber, pin, expiryDate } = await issue(1234);
    const ask = (body: unknown) => shop.storefront.send("POST", "/store/giftcard-pay/balance", body);
    expect(await ask({ cardNumber, pin })).toMatchObject({
      status: 200,
      body: { lastFour: cardNumber.slice(-4), balanceCents: 1234, expiryDate },
    });
    expect(await ask({ cardNumber, pin: "wrong" })).toMatchObject({
      status: 400,
      body: { code: "invalid_card" },
    });
    expect(await ask({ cardNumber: Number(cardNumber), pin })).toMatchObject({
      status: 400,
      body: { code: "invalid_request" },
    });
  });
});

test("pages of another origin may call if Medusa's storeCors lists the origin", { tags: "long" }, async () => {
  const call = (origin: string) =>
    shop.storefront.send("POST", "/store/giftcard-pay/balance", {}, { origin, "sec-fetch-site": "cross-site" });
  const named = await call("https://shop.example");
  expect(named).toMatchObject({ status: 400, body: { code: "invalid_request" } });
  expect(named.headers.get("access-control-allow-origin")).toBe("https://shop.example");
  expect(named.headers.get("cache-control")).toBe("no-store");
  expect((await call("https://evil.example")).headers.get("access-control-allow-origin")).toBeNull();
});

test("wrong PINs of one shopper behind a proxy don't lock out another", async () => {
  const { storefront } = shop;
  const wrong = () => ({ cardNumber: `60643663${randomInt(1e10, 9e10)}`, pin: "0000" });
  for (let carts = 0; carts < 3; carts++) {
    const cartId = await storefront.createCart();
    for (let tries = 0; tries < 8; tries++)
      expect((await storefront.apply(cartId, wrong())).body).toMatchObject({ code: "invalid_card" });
  }
  const other = await storefront.createCart();
  expect((await storefront.apply(other, wrong())).body).toMatchObject({ code: "invalid_card" });
  expect((await storefront.apply(other, await issue(7500))).status).toBe(200);
  const balance = await storefront.send("POST", "/store/giftcard-pay/balance", await issue(1234));
  expect(balance).toMatchObject({ status: 200, body: { balanceCents: 1234 } });
  const { processes } = (await storefront.send("GET", "/admin/giftcard-pay/health")).body;
  // A process that another file has killed may still count.
  expect(processes.warnings).toContainEqual({ code: "oneAddress" });
});

describe("a rejected request", () => {
  test("with a wrong PIN gives no further detail", async () => {
    const { storefront } = shop;
    const card = await issue(7500);
    const cartId = await storefront.createCart();
    const pin = card.pin === "000000" ? "000001" : "000000";
    expect(await storefront.apply(cartId, { ...card, pin })).toMatchObject({
      status: 400,
      body: { code: "invalid_card" },
    });
    expect((await storefront.send("GET", `/store/giftcard-pay/carts/${cartId}`)).body.cards).toEqual([]);
  });

  test("for too many wrong PINs says when to try again", async () => {
    const { storefront } = shop;
    const card = await issue(7500);
    const cartId = await storefront.createCart();
    const pin = card.pin === "000000" ? "000001" : "000000";
    for (let n = 0; n < 10; n++) await storefront.apply(cartId, { ...card, pin });
    const locked = await storefront.apply(cartId, card);
    expect(locked).toMatchObject({
      status: 429,
      body: { code: "too_many_attempts", retryAfterSeconds: expect.any(Number) },
    });
    expect(Number(locked.headers.get("retry-after"))).toBe(locked.body.retryAfterSeconds);
  });

  test.each([
    ["a card number as a number", '{"cardNumber": 6036123412341234567, "pin": "123456"}'],
    ["unreadable JSON", '{"cardNumber": "6036123412341234567", "pin": 12'],
    ["bare text", "6036123412341234567"],
    ["no object", '["6036123412341234567"]'],
    ["no PIN", '{"cardNumber": "6036123412341234567"}'],
    ["nothing", ""],
    ["a quote that is no text", '{"quoteId": {"6036123412341234567": 1}}'],
    ["far too much", `{"cardNumber": "6036123412341234567", "pin": "${"1".repeat(10_000)}"}`],
  ])("with %s gets invalid_request, and nothing of it comes back", async (_, body) => {
    const { storefront } = shop;
    const cartId = await storefront.createCart("open-air-cinema");
    const answer = await storefront.send("POST", `/store/giftcard-pay/carts/${cartId}/cards`, body);
    expect(answer).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    expect(JSON.stringify(answer.body)).not.toContain("6036123412341234567");
    expect(shop.medusa.logs()).not.toContain("6036123412341234567");
  });

  test("for an unknown cart is a 404", async () => {
    const answer = await shop.storefront.send("GET", "/store/giftcard-pay/carts/cart_nobody");
    expect(answer).toMatchObject({ status: 404, body: { code: "cart_not_found" } });
  });

  test("in a region without gift cards applies no card but can remove one", { tags: "long" }, async () => {
    const { storefront } = shop;
    const [card, other] = [await issue(1000), await issue(7500)];
    const [cartId, emptyId] = [await storefront.createCart(), await storefront.createCart()];
    const applied = await storefront.apply(cartId, card);
    const { quoteId } = await storefront.ok("POST", `/store/giftcard-pay/carts/${emptyId}/quote`, other);
    await storefront.enableProviders(["pp_bank_bank"]);
    try {
      const path = `/store/giftcard-pay/carts/${emptyId}`;
      const refused = { status: 409, body: { code: "giftcards_not_accepted" } };
      expect(await storefront.send("GET", path)).toMatchObject(refused);
      expect(await storefront.send("POST", `${path}/quote`, other)).toMatchObject(refused);
      expect(await storefront.apply(emptyId, other)).toMatchObject(refused);
      expect(await storefront.send("POST", `${path}/cards`, { quoteId })).toMatchObject(refused);
      const held = `/store/giftcard-pay/carts/${cartId}`;
      expect((await storefront.ok("GET", held)).cards).toHaveLength(1);
      await storefront.ok("DELETE", `${held}/cards/${applied.body.cards[0].id}`);
      expect(await storefront.send("GET", held)).toMatchObject(refused);
    } finally {
      await storefront.enableProviders();
    }
    expect((await storefront.apply(emptyId, other)).status).toBe(200);
  });

  test("in another currency leaves the cart unchanged", async () => {
    const { storefront } = shop;
    const region = {
      name: "America",
      currency_code: "usd",
      countries: ["us"],
      payment_providers: ["pp_bank_bank", "pp_giftcard_giftcard"],
    };
    const { region: usa } = await storefront.ok("POST", "/admin/regions", region);
    const { cart } = await storefront.ok("POST", "/store/carts", { region_id: usa.id });
    const path = `/store/giftcard-pay/carts/${cart.id}`;
    const refused = { status: 400, body: { code: "currency_not_supported" } };
    expect(await storefront.send("GET", path)).toMatchObject(refused);
    expect(await storefront.apply(cart.id, await issue(7500))).toMatchObject(refused);
    expect((await storefront.initiate(cart.id)).status).toBe(200);
  });
});

test("cards leave nothing, or as much as the other method accepts", async () => {
  const { storefront } = shop;
  await storefront.createProduct("just-above", 50.2);
  const card = await issue(7500);
  const cartId = await storefront.createCart("just-above");
  const { body: applied } = await storefront.apply(cartId, card);
  expect(applied).toMatchObject({ totalCents: 5020, coveredCents: 4970, remainderCents: 50 });
  const { body } = await storefront.initiate(cartId);
  expect(body.payment_collection.payment_sessions).toMatchObject([{ amount: 0.5 }]);
  const { order } = (await storefront.complete(cartId)).body;
  expect(await shop.balanceCents(card)).toBe(2530);
  expect(paymentsOf(await storefront.order(order.id))).toMatchObject({ amounts: [49.7, 0.5] });
});

test("the other method's refusal of a session says why, except for secrets", async () => {
  const { storefront } = shop;
  const cartId = await storefront.createCart();
  await storefront.apply(cartId, await issue(7500));
  const refused = (refusal: string) => storefront.initiate(cartId, "pp_bank_bank", { refusal });
  expect(await refused("Amount must be at least 0.50 eur")).toMatchObject({
    status: 400,
    body: { code: "payment_method_refused", message: expect.stringContaining("Amount must be at least 0.50 eur") },
  });
  expect(JSON.stringify(await refused("Invalid API key: sk_test_1234"))).not.toContain("sk_test");
  await storefront.initiate(cartId);
  expect((await storefront.complete(cartId)).body.type).toBe("order");
});
