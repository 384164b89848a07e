import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newCart, type Shop, startShop } from "./shop.js";

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
});
beforeEach(() => shop.proxy.clear());
afterAll(() => shop.stop());

const refusal = (code: string) => expect.objectContaining({ name: "CheckoutError", code });

describe("quoting and applying a card", () => {
  it("shows what an order would use, takes nothing, and asks the service once", async () => {
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
      remainingCents: 2498,
    });
    expect((await engine.summary(cart)).cards).toEqual([]);
    const summary = await engine.apply(cart, { quoteId: quote.quoteId });
    expect(summary).toMatchObject({
      totalCents: 7498,
      coveredCents: 5000,
      remainingCents: 2498,
      environment: "sandbox",
    });
    expect(shop.proxy.seen.slice(before).map((call) => call.operation)).toEqual(["balance"]);
    expect(await card.balanceCents()).toBe(7500);
  });

  it("applies once however often it is asked", async () => {
    const engine = shop.engine();
    const card = await shop.card(1000);
    const cart = newCart(7498);
    const { quoteId } = await engine.quote(cart, card);
    const all = await Promise.all(Array.from({ length: 5 }, () => engine.apply(cart, { quoteId })));
    for (const summary of all) expect(summary.cards).toHaveLength(1);
  });

  it("takes a card once per cart, also when two tabs apply it at the same time", async () => {
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

  it("takes several cards, works the amounts out anew when the cart changes, and removes each", async () => {
    const engine = shop.engine();
    const cart = newCart(12_000);
    const [first, second] = [await shop.card(7500), await shop.card(3000)];
    await engine.apply(cart, first);
    const both = await engine.apply(cart, second);
    expect(both.cards.map((c) => [c.amountCents, c.limitedBy])).toEqual([
      [5000, "limit"],
      [3000, "balance"],
    ]);
    expect(both.remainingCents).toBe(4000);
    const smaller = await engine.summary({ ...cart, totalCents: 6000 });
    expect(smaller.cards.map((c) => c.amountCents)).toEqual([5000, 1000]);
    expect(smaller.remainingCents).toBe(0);
    const one = await engine.remove(cart, both.cards[0]?.id ?? "");
    expect(one).toMatchObject({ coveredCents: 3000, remainingCents: 9000 });
    await expect(engine.remove(cart, both.cards[0]?.id ?? "")).rejects.toEqual(
      refusal("applied_card_not_found"),
    );
  });

  it("refuses with the cause once number and PIN match, and with one answer before", async () => {
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

  it("refuses bad entries, foreign currencies, covered carts and too many cards", async () => {
    const engine = shop.engine({ maxCards: 2 });
    const cart = newCart(7498);
    const bad = [{ cardNumber: 12, pin: "1" }, { cardNumber: "1" }, { cardNumber: "", pin: "1" }, null, "x"];
    for (const entry of bad) {
      await expect(engine.quote(cart, entry as never)).rejects.toEqual(refusal("invalid_request"));
    }
    await expect(engine.summary({ ...cart, currency: "usd" })).rejects.toEqual(
      refusal("currency_not_supported"),
    );
    await expect(engine.apply(cart, { quoteId: "gct_unknown" })).rejects.toEqual(refusal("quote_expired"));
    await engine.apply(cart, await shop.card(1000));
    await engine.apply(cart, await shop.card(1000));
    await expect(engine.quote(cart, await shop.card(1000))).rejects.toEqual(refusal("too_many_cards"));
    await expect(engine.quote({ ...cart, totalCents: 1500 }, await shop.card(1))).rejects.toEqual(
      refusal("nothing_to_pay"),
    );
  });

  it("binds a card to its cart", async () => {
    const engine = shop.engine();
    const [mine, other] = [newCart(7498), newCart(7498)];
    const { quoteId } = await engine.quote(mine, await shop.card(1000));
    await expect(engine.apply(other, { quoteId })).rejects.toEqual(refusal("quote_expired"));
    const { cards } = await engine.apply(mine, { quoteId });
    await expect(engine.remove(other, cards[0]?.id ?? "")).rejects.toEqual(refusal("applied_card_not_found"));
  });

  it("lets go of a card that was entered too long ago, and takes it again", async () => {
    const engine = shop.engine();
    const cart = newCart(7498);
    const card = await shop.card(1000);
    await engine.apply(cart, card);
    await shop.pool.query("update giftcard_tender set expires_at = now() where cart_id = $1", [cart.id]);
    const late = await engine.summary(cart);
    expect(late).toMatchObject({ coveredCents: 0, cards: [{ state: "expired", amountCents: 0 }] });
    const plan = await engine.plan(cart);
    expect(() => engine.checkCovers(plan, 6498)).toThrow(refusal("applied_card_expired"));
    await engine.recover();
    const { rows } = await shop.pool.query("select sealed_card from giftcard_tender where cart_id = $1", [
      cart.id,
    ]);
    expect(rows).toEqual([{ sealed_card: null }]);
    const again = await engine.apply(cart, card);
    expect(again.cards).toMatchObject([{ state: "applied", amountCents: 1000 }]);
  });

  it("tells a service that fails from a card that does", async () => {
    const engine = shop.engine();
    shop.proxy.set("balance", "cut-before");
    await expect(engine.quote(newCart(100), await shop.card(100))).rejects.toEqual(
      refusal("service_unavailable"),
    );
  });
});
