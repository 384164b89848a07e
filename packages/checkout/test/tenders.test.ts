import { type Cents, cents, type GiftcardClient } from "@giftcard-pay/client";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { beginOne, newCart, type Shop, startShop } from "./shop.js";

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
});
beforeEach(() => shop.proxy.clear());
afterAll(() => shop.stop());

const refusal = (code: string) => expect.objectContaining({ name: "CheckoutError", code });

describe("quoting and applying a card", () => {
  it("returns how much the order would use, takes no money, and calls the service once", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const cart = newCart(7498);
    const before = shop.proxy.seen.length;
    const quote = await engine.quote(cart, card);
    expect(quote).toMatchObject({
      lastFour: card.cardNumber.slice(-4),
      balanceCents: 7500,
      usableCents: 5000,
      limitedBy: "limit",
      remainderCents: 2498,
    });
    expect(quote.expiryDate).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect((await engine.summary(cart)).cards).toEqual([]);
    const summary = await engine.apply(cart, { quoteId: quote.quoteId });
    expect(summary).toMatchObject({
      totalCents: 7498,
      coveredCents: 5000,
      remainderCents: 2498,
      environment: "sandbox",
      cards: [{ lastFour: quote.lastFour, balanceCents: 7500, amountCents: 5000, expiryDate: quote.expiryDate }],
    });
    expect(shop.proxy.seen.slice(before).map((call) => call.operation)).toEqual(["balance"]);
    expect(await card.balanceCents()).toBe(7500);
  });

  it("applies once for repeated calls", async () => {
    const engine = shop.engine();
    const card = await shop.card(1000);
    const cart = newCart(7498);
    const { quoteId } = await engine.quote(cart, card);
    const all = await Promise.all(Array.from({ length: 5 }, () => engine.apply(cart, { quoteId })));
    for (const summary of all) expect(summary.cards).toHaveLength(1);
  });

  it("accepts a card once per cart, even if two tabs apply it concurrently", async () => {
    const engine = shop.engine();
    const card = await shop.card(1000);
    const cart = newCart(7498);
    const quotes = await Promise.all([engine.quote(cart, card), engine.quote(cart, card)]);
    const results = await Promise.allSettled(quotes.map(({ quoteId }) => engine.apply(cart, { quoteId })));
    expect(results.filter((r) => r.status === "fulfilled")).toHaveLength(1);
    expect(results.find((r) => r.status === "rejected")).toMatchObject({
      reason: refusal("card_already_applied"),
    });
    await expect(engine.quote(cart, card)).rejects.toEqual(refusal("card_already_applied"));
  });

  it("accepts several cards, recalculates their amounts if the cart changes, and removes each", async () => {
    const engine = shop.engine();
    const cart = newCart(12_000);
    const [first, second] = [await shop.card(7500), await shop.card(3000)];
    await engine.apply(cart, first);
    const both = await engine.apply(cart, second);
    expect(both.cards.map((c) => [c.amountCents, c.limitedBy])).toEqual([
      [5000, "limit"],
      [3000, "balance"],
    ]);
    expect(both.remainderCents).toBe(4000);
    const smaller = await engine.summary({ ...cart, totalCents: cents(6000) });
    expect(smaller.cards.map((c) => c.amountCents)).toEqual([5000, 1000]);
    expect(smaller.remainderCents).toBe(0);
    const one = await engine.remove(cart, both.cards[0]?.id ?? "");
    expect(one).toMatchObject({ coveredCents: 3000, remainderCents: 9000 });
    await expect(engine.remove(cart, both.cards[0]?.id ?? "")).rejects.toEqual(refusal("applied_card_not_found"));
  });

  it("pays nothing of the part that no card may pay, such as a gift card in the cart", async () => {
    const engine = shop.engine();
    const cart = { ...newCart(7000), notByCardCents: cents(2500) };
    const [first, second] = [await shop.card(3000), await shop.card(7500)];
    await engine.apply(cart, first);
    expect(await engine.quote(cart, second)).toMatchObject({
      ...{ usableCents: 1500, limitedBy: "order", remainderCents: 2500 },
    });
    const summary = await engine.apply(cart, second);
    expect(summary).toMatchObject({ coveredCents: 4500, remainderCents: 2500, notByCardCents: 2500 });
    expect(summary.cards.map(({ amountCents }) => amountCents)).toEqual([3000, 1500]);
    expect(await engine.plan(cart)).toMatchObject({ coveredCents: 4500, remainderCents: 2500 });
    await expect(engine.quote(cart, await shop.card(1000))).rejects.toEqual(refusal("giftcard_not_payable"));
    const only = { ...cart, totalCents: cents(2500) };
    expect(await engine.plan(only)).toMatchObject({ parts: [], coveredCents: 0, remainderCents: 2500 });
    const { notByCardCents: _, ...free } = cart;
    expect(await engine.summary(free)).toMatchObject({ coveredCents: 7000, remainderCents: 0 });
    expect(await engine.summary(free)).not.toHaveProperty("notByCardCents");
    for (const notByCardCents of [7001, -1, 0.5])
      await expect(engine.plan({ ...cart, notByCardCents: notByCardCents as Cents })).rejects.toEqual(
        refusal("internal"),
      );
  });

  it("gives the cause of a refusal only if number and PIN match", async () => {
    const engine = shop.engine();
    const cart = newCart(7498);
    const card = await shop.card(1000);
    const wrongPin = { cardNumber: card.cardNumber, pin: card.pin === "000000" ? "111111" : "000000" };
    await expect(engine.quote(cart, wrongPin)).rejects.toEqual(refusal("invalid_card"));
    await expect(engine.quote(cart, { cardNumber: "1", pin: "1" })).rejects.toEqual(refusal("invalid_card"));
    await expect(engine.quote(cart, await shop.card(0))).rejects.toEqual(refusal("card_no_balance"));
    await shop.service.command("card", "block", card.cardNumber);
    await expect(engine.quote(cart, card)).rejects.toEqual(refusal("card_blocked"));
    await expect(engine.quote(cart, wrongPin)).rejects.toEqual(refusal("invalid_card"));
  });

  it("refuses invalid entries, foreign currencies, covered carts and too many cards", async () => {
    const engine = shop.engine({ maxCards: 2 });
    const cart = newCart(7498);
    const bad = [{ cardNumber: 12, pin: "1" }, { cardNumber: "1" }, { cardNumber: "", pin: "1" }, null, "x"];
    for (const entry of bad) {
      await expect(engine.quote(cart, entry as never)).rejects.toEqual(refusal("invalid_request"));
    }
    await expect(engine.summary({ ...cart, currency: "usd" })).rejects.toEqual(refusal("currency_not_supported"));
    await expect(engine.apply(cart, { quoteId: "gct_unknown" })).rejects.toEqual(refusal("quote_expired"));
    // PostgreSQL doesn't accept NUL in text.
    await expect(engine.apply(cart, { quoteId: "gct_\0" })).rejects.toEqual(refusal("invalid_request"));
    await expect(engine.remove(cart, "gct_\0")).rejects.toEqual(refusal("applied_card_not_found"));
    await engine.apply(cart, await shop.card(1000));
    await engine.apply(cart, await shop.card(1000));
    await expect(engine.quote(cart, await shop.card(1000))).rejects.toEqual(refusal("too_many_cards"));
    await expect(engine.quote({ ...cart, totalCents: cents(1500) }, await shop.card(1))).rejects.toEqual(
      refusal("nothing_to_pay"),
    );
  });

  it("refuses an invalid quote or total before any call", async () => {
    const engine = shop.engine();
    const cart = newCart(7498);
    const before = shop.proxy.seen.length;
    for (const quoteId of ["", 12, null])
      await expect(engine.apply(cart, { quoteId } as never)).rejects.toEqual(refusal("invalid_request"));
    for (const totalCents of [Number.NaN, 74.98, -1, "7498" as never])
      await expect(engine.plan({ ...cart, totalCents: totalCents as Cents })).rejects.toEqual(refusal("internal"));
    expect(shop.proxy.seen).toHaveLength(before);
  });

  it("trims an entry, and refuses one that is too long", async () => {
    const { cardNumber, pin } = await shop.card(1000);
    const cart = newCart(7498);
    const before = shop.proxy.seen.length;
    const long = "1".repeat(65);
    for (const entry of [
      { cardNumber: long, pin },
      { cardNumber, pin: long },
    ])
      await expect(shop.engine().quote(cart, entry)).rejects.toEqual(refusal("invalid_request"));
    expect(shop.proxy.seen).toHaveLength(before);
    const spaced = { cardNumber: `  ${cardNumber}\n`, pin: `\t${pin} ` };
    expect(await shop.engine().quote(cart, spaced)).toMatchObject({ lastFour: cardNumber.slice(-4) });
  });

  it("doesn't count an expired card as a card on the cart", async () => {
    const engine = shop.engine({ maxCards: 1 });
    const cart = newCart(7498);
    await engine.apply(cart, await shop.card(500));
    await shop.pool.query("update giftcard_tender set expires_at = now() where cart_id = $1", [cart.id]);
    expect(await engine.apply(cart, await shop.card(1000))).toMatchObject({ coveredCents: 1000 });
  });

  it("refuses a card that can't be spent, with the cause", async () => {
    const cart = newCart(7498);
    const expired = await shop.service.issueCard({ balanceCents: 1000, expires: "2020-01-31" });
    await expect(shop.engine().quote(cart, expired)).rejects.toEqual(refusal("card_expired"));
    /** The response of a service with further states of cards. */
    const answers: [object, string][] = [
      [{ currency: "USD" }, "currency_not_supported"],
      [{ cardStatus: "Not activated" }, "card_not_active"],
      [{ cardStatus: "No balance" }, "card_no_balance"],
      [{ cardStatus: "Active", balanceCents: 0 }, "card_no_balance"],
    ];
    for (const [answer, code] of answers) {
      const balance: GiftcardClient["balance"] = async (card) => ({
        ...(await shop.client.balance(card)),
        ...answer,
      });
      const engine = shop.engine({ issuer: { ...shop.client, balance } });
      await expect(engine.quote(cart, await shop.card(1000)), code).rejects.toEqual(refusal(code));
    }
    const lower: GiftcardClient["balance"] = async (card) => ({
      ...(await shop.client.balance(card)),
      currency: "eur",
    });
    const engine = shop.engine({ issuer: { ...shop.client, balance: lower } });
    expect(await engine.quote(cart, await shop.card(1000))).toMatchObject({ usableCents: 1000 });
  });

  it("accepts at most the maximum number of cards, even if eight tabs apply them concurrently", async () => {
    const cart = newCart(50_000);
    const engine = shop.engine();
    const cards = await Promise.all(Array.from({ length: 8 }, () => shop.card(1000)));
    const quotes = await Promise.all(cards.map((card) => engine.quote(cart, card)));
    const results = await Promise.allSettled(quotes.map(({ quoteId }) => shop.engine().apply(cart, { quoteId })));
    const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    expect(refused).toEqual(Array(3).fill(refusal("too_many_cards")));
    expect((await engine.summary(cart)).cards).toHaveLength(5);
  });

  it("expires a quote after 15 minutes, although its card could still be charged", async () => {
    const engine = shop.engine();
    const cart = newCart(7498);
    const quotedAgo = async (minutes: number) => {
      const { quoteId } = await engine.quote(cart, await shop.card(1000));
      await shop.pool.query("update giftcard_tender set created_at = now() - $2 * interval '1 minute' where id = $1", [
        quoteId,
        minutes,
      ]);
      return quoteId;
    };
    const late = await quotedAgo(16);
    await expect(engine.apply(cart, { quoteId: late })).rejects.toEqual(refusal("quote_expired"));
    const inTime = await quotedAgo(14);
    expect((await engine.apply(cart, { quoteId: inTime })).coveredCents).toBe(1000);
  });

  it("binds a card to its cart", async () => {
    const engine = shop.engine();
    const [mine, other] = [newCart(7498), newCart(7498)];
    const { quoteId } = await engine.quote(mine, await shop.card(1000));
    await expect(engine.apply(other, { quoteId })).rejects.toEqual(refusal("quote_expired"));
    const { cards } = await engine.apply(mine, { quoteId });
    await expect(engine.remove(other, cards[0]?.id ?? "")).rejects.toEqual(refusal("applied_card_not_found"));
  });

  it("expires a card that was entered too long ago, and accepts it again", async () => {
    const engine = shop.engine();
    const cart = newCart(7498);
    const card = await shop.card(1000);
    const before = await engine.apply(cart, card);
    await shop.pool.query("update giftcard_tender set expires_at = now() where cart_id = $1", [cart.id]);
    const late = await engine.summary(cart);
    expect(late).toMatchObject({ coveredCents: 0, cards: [{ state: "expired", amountCents: 0 }] });
    const plan = await engine.plan(cart);
    expect(() => engine.checkShown(plan, before.plan)).toThrow(refusal("applied_card_expired"));
    expect(() => engine.checkShown(plan, late.plan)).not.toThrow();
    await engine.recover();
    const { rows } = await shop.pool.query("select sealed_card from giftcard_tender where cart_id = $1", [cart.id]);
    expect(rows).toEqual([{ sealed_card: null }]);
    const again = await engine.apply(cart, card);
    expect(again.cards).toMatchObject([{ state: "applied", amountCents: 1000 }]);
  });

  it("distinguishes a failing service from a refused card", async () => {
    const engine = shop.engine();
    shop.proxy.set("balance", "cut-before");
    await expect(engine.quote(newCart(100), await shop.card(100))).rejects.toEqual(refusal("service_unavailable"));
  });
});

describe("a change of the cart with a further write", () => {
  const failure = new Error("the session can't be deleted");
  const fail = async () => {
    throw failure;
  };
  const told: string[] = [];
  const newEngine = () => shop.engine({ onTender: ({ event }) => told.push(event) });
  beforeEach(() => told.splice(0));

  it("applies no card if that write fails, and the quote can be applied again", async () => {
    const engine = newEngine();
    const cart = newCart(7498);
    const { quoteId } = await engine.quote(cart, await shop.card(1000));
    let seen = 0;
    const look = async () => {
      seen = (await engine.summary(cart)).coveredCents;
      await fail();
    };
    await expect(engine.apply(cart, { quoteId }, look)).rejects.toBe(failure);
    expect(seen).toBe(1000);
    expect((await engine.summary(cart)).cards).toEqual([]);
    expect(told).toEqual([]);
    let calls = 0;
    const count = async () => {
      calls += 1;
    };
    expect((await engine.apply(cart, { quoteId }, count)).coveredCents).toBe(1000);
    expect((await engine.apply(cart, { quoteId }, count)).coveredCents).toBe(1000);
    expect([calls, told]).toEqual([1, ["applied"]]);
  });

  it("restores an expired card that was removed for it", async () => {
    const engine = newEngine();
    const cart = newCart(7498);
    const card = await shop.card(1000);
    await engine.apply(cart, card);
    await shop.pool.query("update giftcard_tender set expires_at = now() where cart_id = $1", [cart.id]);
    const before = await engine.summary(cart);
    expect(before.cards).toMatchObject([{ state: "expired" }]);
    await expect(engine.apply(cart, card, fail)).rejects.toBe(failure);
    expect(await engine.summary(cart)).toEqual(before);
  });

  it("announces applied and removed cards", async () => {
    const changes: unknown[] = [];
    const engine = shop.engine({ onTender: (change) => changes.push(change) });
    const cart = newCart(7498);
    const { cards } = await engine.apply(cart, await shop.card(1000));
    const tenderId = cards[0]?.id ?? "";
    await engine.remove(cart, tenderId);
    expect(changes).toEqual([
      { event: "applied", cartId: cart.id, tenderId },
      { event: "removed", cartId: cart.id, tenderId },
    ]);
  });

  it("removes no card if that write fails, and the card can be charged", async () => {
    const engine = newEngine();
    const cart = newCart(7498);
    const { cards } = await engine.apply(cart, await shop.card(1000));
    const id = cards[0]?.id ?? "";
    const throwsAtOnce = () => {
      throw failure;
    };
    for (const also of [fail, throwsAtOnce]) await expect(engine.remove(cart, id, also)).rejects.toBe(failure);
    expect(told).toEqual(["applied"]);
    const [part] = (await engine.plan(cart)).parts;
    if (!part) throw new Error("nothing is planned");
    expect((await beginOne(engine, cart, part, `session_${cart.id}`, "completion")).state).toBe("intent");
  });
});
