import { cents } from "@giftcard-pay/client";
import { describe, expect, it } from "vitest";
import { createPostgresStore } from "../src/index.js";
import { gate } from "./bank.js";
import { onEachStore, refusal } from "./each-store.js";
import { newCart } from "./shop.js";

onEachStore("paying an order", (stage) => {
  const { shop, store, bank, card, newCard, checkout, order, pay, reload, paid } = stage;
  it("charges the card, then authorizes the remainder, once for repeated calls", async () => {
    const o = await order();
    const result = { status: "paid", remainderCents: 2498 };
    expect(await pay(o)).toMatchObject({ ...result, cards: [{ amountCents: 5000 }] });
    expect(await pay(o)).toMatchObject(result);
    expect(await paid()).toEqual([5000, 2498]);
    expect((await checkout().list(o.cart)).cards).toEqual([]);
  });

  it("charges once for ten concurrent calls", async () => {
    const o = await order();
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => pay(o)));
    expect(results.some((r) => r.status === "fulfilled")).toBe(true);
    for (const r of results) if (r.status === "rejected") expect(r.reason.code).toBe("payment_in_progress");
    expect(await paid()).toEqual([5000, 2498]);
  });

  it("doesn't authorize a remainder if the card covers the total", async () => {
    const o = await order(4000);
    expect(await checkout().pay(o)).toMatchObject({ status: "paid", remainderCents: 0 });
    expect(await paid()).toEqual([4000, 0]);
  });

  it("refuses another total than the page has shown, also if the cards pay all of it", async () => {
    const o = await order(2000);
    const grown = { ...o, cart: { ...o.cart, totalCents: cents(4000) } };
    // VAT of 9 % that is added later is such a change.
    const taxed = { ...o, cart: { ...o.cart, totalCents: cents(2180) } };
    for (const stale of [grown, taxed, { ...grown, plan: "" }, { ...grown, plan: undefined }, { ...grown, plan: 1 }])
      await expect(pay(stale as never)).rejects.toEqual(refusal("amount_changed"));
    expect([await paid(), await store.purchases.read(o.id)]).toEqual([[0, 0], null]);
    const seen = await reload(grown);
    expect(await pay(seen)).toMatchObject({ status: "paid" });
    await expect(pay(grown)).rejects.toEqual(refusal("amount_changed"));
    for (const again of [seen, { id: o.id, cart: seen.cart }])
      expect(await checkout().pay(again)).toMatchObject({ status: "paid", cards: [{ amountCents: 4000 }] });
    expect(await paid()).toEqual([4000, 0]);
  });

  it("refuses another part of a card than the page has shown, also with the same total and remainder", async () => {
    const other = await shop.card(1000);
    const o = await order(5500, other);
    const [first, second] = (await checkout().list(o.cart)).cards;
    expect([first?.amountCents, second?.amountCents]).toEqual([5000, 500]);
    // In another tab, the first card is removed and entered again: now the other one pays first.
    await checkout().remove(o.cart, String(first?.id));
    const { plan } = await checkout().apply(o.cart, card);
    await expect(pay(o)).rejects.toEqual(refusal("amount_changed"));
    expect(await paid()).toEqual([0, 0]);
    expect(await pay({ ...o, plan })).toMatchObject({ cards: [{ amountCents: 1000 }, { amountCents: 4500 }] });
    await expect(pay(o)).rejects.toEqual(refusal("amount_changed"));
    expect(await paid()).toEqual([4500, 0]);
  });

  it("refuses a card that pays less since another order, and takes what the page then shows", async () => {
    const [o, other] = [await order(), await order()];
    await pay(other);
    await expect(pay(o)).rejects.toEqual(refusal("balance_changed"));
    await expect(pay(o)).rejects.toEqual(refusal("amount_changed"));
    expect(await paid()).toEqual([5000, 2498]);
    const seen = { status: "paid", cards: [{ amountCents: 2500 }], remainderCents: 4998 };
    expect(await pay(await reload(o))).toMatchObject(seen);
    expect(await paid()).toEqual([7500, 7496]);
  });

  it("needs no plan if no card is applied, and keeps one while nothing of it changes, even if a card is applied again", async () => {
    const cart = newCart(900);
    expect(await checkout().pay({ id: "order_plain", cart, plan: null })).toMatchObject({ status: "paid" });
    const o = await order();
    expect((await reload(o)).plan).toBe(o.plan);
    const [applied] = (await checkout().list(o.cart)).cards;
    await checkout().remove(o.cart, String(applied?.id));
    expect(await checkout().apply(o.cart, card)).toMatchObject({ plan: o.plan, cards: [{ amountCents: 5000 }] });
    await expect(pay({ ...o, plan: undefined } as never)).rejects.toEqual(refusal("amount_changed"));
    expect(await paid()).toEqual([0, 900]);
  });

  it("refuses a page that is out of date, and leaves the payment that another page has begun", async () => {
    const o = await order();
    const old = { ...o, plan: (await reload(o, 3749)).plan };
    bank.mood = "page";
    expect(await pay(o)).toMatchObject({ status: "pending" });
    for (const stale of [
      old,
      { ...old, id: "order_of_old_page" },
      { ...old, cart: { ...o.cart, totalCents: cents(1) } },
    ])
      await expect(pay(stale)).rejects.toThrow();
    bank.pay();
    expect(await checkout().confirm(o.id)).toMatchObject({ status: "paid" });
    expect(await paid()).toEqual([5000, 2498]);
  });

  it("leaves nothing, or what the remainder's method accepts", async () => {
    const accepting = (leastCents: number) => checkout({ remainder: { ...bank.method, leastCents } });
    const by = accepting(50);
    for (const [totalCents, cardCents, remainderCents] of [
      [5000, 5000, 0],
      [5001, 4951, 50],
      [5049, 4999, 50],
      [5050, 5000, 50],
      [30, 30, 0],
    ] as const) {
      const { cart } = await order(totalCents);
      const shown = { totalCents, coveredCents: cardCents, remainderCents };
      expect(await by.list(cart)).toMatchObject({ ...shown, cards: [{ amountCents: cardCents }] });
      const entry = await shop.card(7500);
      expect(await by.quote(newCart(totalCents), entry)).toMatchObject({ usableCents: cardCents, remainderCents });
    }
    const o = await order(5020);
    const { plan } = await by.list(o.cart);
    const left = { status: "paid", cards: [{ amountCents: 4970 }], remainderCents: 50 };
    expect(await pay({ ...o, plan }, by)).toMatchObject(left);
    expect(await paid()).toEqual([4970, 50]);
    // The shop's own option counts more.
    await newCard();
    const { cart } = await order(5001);
    const own = checkout({ remainder: { ...bank.method, leastCents: 50 }, leastRemainderCents: 0 });
    expect(await own.list(cart)).toMatchObject({ coveredCents: 5000, remainderCents: 1 });
  });

  it("lets a further card pay what the remainder's method doesn't accept", async () => {
    const by = checkout({ leastRemainderCents: 50 });
    const { cart } = await order(5020);
    const [few, enough] = [await shop.card(10), await shop.card(7500)];
    expect(await by.quote(cart, few)).toMatchObject({ usableCents: 0, remainderCents: 50 });
    expect(await by.quote(cart, enough)).toMatchObject({ usableCents: 20, remainderCents: 0 });
    const { cards, remainderCents, plan } = await by.apply(cart, enough);
    expect([cards.map(({ amountCents }) => amountCents), remainderCents]).toEqual([[5000, 20], 0]);
    expect(await pay({ id: "order_of_two", cart, plan }, by)).toMatchObject({ status: "paid", remainderCents: 0 });
  });

  it("takes nothing if the bank declines, and can be retried", async () => {
    const o = await order();
    bank.mood = "decline";
    expect(await pay(o)).toMatchObject({ status: "declined", cards: [] });
    expect(await paid()).toEqual([0, 0]);
    bank.mood = "approve";
    expect(await pay(o)).toMatchObject({ status: "paid" });
    expect(await paid()).toEqual([5000, 2498]);
  });

  for (const mood of ["fail", "approve-then-fail"] as const) {
    it(`takes nothing if the remainder method fails (${mood})`, async () => {
      const o = await order();
      bank.mood = mood;
      await expect(pay(o)).rejects.toThrow();
      expect(await paid()).toEqual([0, 0]);
      expect((await checkout().read(o.id))?.state).toBe("failed");
    });
  }

  it("doesn't call the bank if the card is refused", async () => {
    const o = await order();
    await shop.service.command("card", "block", card.cardNumber);
    await expect(pay(o)).rejects.toEqual(refusal("card_blocked"));
    expect(bank.payments.size).toBe(0);
    await shop.service.command("card", "unblock", card.cardNumber);
    expect(await pay(o)).toMatchObject({ status: "paid" });
  });

  it("reverses the card if the response to the devalue is lost", async () => {
    const o = await order();
    shop.proxy.set("devalue", "cut-after", 1);
    await expect(pay(o)).rejects.toEqual(refusal("service_unavailable"));
    expect(await paid()).toEqual([0, 0]);
  });

  it("confirms a payment on the bank's page once, for concurrent confirms", async () => {
    const o = await order();
    bank.mood = "page";
    const pending = await pay(o);
    expect(pending).toMatchObject({ status: "pending", data: { page: expect.any(String) } });
    expect(await pay(o)).toMatchObject({ status: "pending" });
    expect(await checkout().confirm(o.id)).toMatchObject({ status: "pending" });
    bank.pay();
    const results = await Promise.all([1, 2, 3].map(() => checkout().confirm(o.id)));
    for (const result of results) expect(result.status).toBe("paid");
    expect(await paid()).toEqual([5000, 2498]);
  });

  it("reverses the cards of a pending order once its time has run out", async () => {
    const o = await order();
    bank.mood = "page";
    await pay(o);
    expect((await checkout().recover()).purchases).toEqual([]);
    expect(await paid()).toEqual([5000, 0]);
    await store.letLeasesRunOut();
    expect((await checkout().recover()).purchases).toMatchObject([{ orderId: o.id, state: "failed" }]);
    expect(await paid()).toEqual([0, 0]);
    bank.pay();
    expect(await checkout().confirm(o.id)).toMatchObject({ status: "declined" });
    expect(await paid()).toEqual([0, 0]);
  });

  it("cancels a remainder that was paid after the purchase had failed, when the shopper returns", async () => {
    const o = await order();
    bank.mood = "page";
    await pay(o);
    await store.letLeasesRunOut();
    await checkout().recover();
    expect((await checkout().read(o.id))?.state).toBe("failed");
    for (const payment of bank.payments.values()) payment.state = "authorized";
    expect(bank.heldCents).toBe(2498);
    expect(await checkout().confirm(o.id)).toMatchObject({ status: "declined" });
    expect(await paid()).toEqual([0, 0]);
    expect((await checkout().read(o.id))?.state).toBe("failed");
  });

  it("finds an order paid whose shopper never returned", async () => {
    const o = await order();
    bank.mood = "page";
    await pay(o);
    bank.pay();
    await store.letLeasesRunOut();
    const [one, two] = await Promise.all([checkout().recover(), checkout().recover()]);
    expect([...one.purchases, ...two.purchases]).toMatchObject([{ orderId: o.id, state: "paid" }]);
    expect(await paid()).toEqual([5000, 2498]);
  });

  it("isn't decided while the bank is down", async () => {
    const o = await order();
    bank.mood = "page";
    await pay(o);
    bank.pay();
    bank.isDown = true;
    await store.letLeasesRunOut();
    expect((await checkout().recover()).purchases).toMatchObject([{ state: "pending" }]);
    expect(await paid()).toEqual([5000, 2498]);
    bank.isDown = false;
    expect(await checkout().confirm(o.id)).toMatchObject({ status: "paid" });
    expect(await paid()).toEqual([5000, 2498]);
  });

  it("cancels the remainder too if recovery takes the order over during the call to the bank", async () => {
    const o = await order();
    const freezing = gate();
    // The process stalls for longer than its lease.
    const remainder = bank.with(async (request) => {
      await freezing.pass(null);
      return bank.authorize(request);
    });
    const frozen = checkout({ remainder })
      .pay(o)
      .catch((error: unknown) => error);
    await freezing.arrived;
    await store.letLeasesRunOut();
    await checkout().recover();
    freezing.open();
    expect(await frozen).toEqual(refusal("payment_in_progress"));
    expect(await paid()).toEqual([0, 0]);
    expect(await pay(o)).toMatchObject({ status: "paid" });
    expect(await paid()).toEqual([5000, 2498]);
  });

  for (const approved of [true, false]) {
    it(`recovers by the bank's status after a crash during the call to the bank (${approved ? "approved" : "not requested"})`, async () => {
      const o = await order();
      const death = gate();
      const remainder = bank.with(async (request) => {
        if (approved) await bank.authorize(request);
        return death.pass({ status: "declined" } as const);
      });
      const dying = checkout({ remainder }).pay(o);
      void dying.catch(() => {});
      await death.arrived;
      expect(await paid()).toEqual([5000, approved ? 2498 : 0]);
      await store.letLeasesRunOut();
      await checkout().recover();
      expect((await checkout().read(o.id))?.state).toBe(approved ? "paid" : "failed");
      expect(await paid()).toEqual(approved ? [5000, 2498] : [0, 0]);
    });
  }

  it("refunds a canceled order in full and once, even if service and bank are down", async () => {
    const o = await order();
    await pay(o);
    shop.proxy.set("canceldevalue", "cut-before");
    bank.isDown = true;
    expect(await checkout().cancel(o.id)).toMatchObject({ state: "canceling", cards: [{ amountCents: 5000 }] });
    expect(await paid()).toEqual([5000, 2498]);
    shop.proxy.clear();
    const owed = await checkout().cancel(o.id);
    expect(owed).toMatchObject({ state: "canceling", status: "canceled", lastError: "cancel:Error" });
    expect(await checkout().read(o.id)).toEqual(owed);
    expect(await checkout().paidBy(o.id)).toMatchObject({
      cards: [{ refundedCents: 5000, owedCents: 0 }],
      remainder: { refundedCents: 0, owedCents: 2498 },
    });
    expect(await paid()).toEqual([0, 2498]);
    bank.isDown = false;
    const twice = await Promise.all([checkout().cancel(o.id), checkout().cancel(o.id)]);
    expect(twice).toMatchObject([{ status: "canceled" }, { status: "canceled" }]);
    expect(await paid()).toEqual([0, 0]);
    expect((await checkout().read(o.id))?.state).toBe("canceled");
    await expect(pay(o)).rejects.toEqual(refusal("cart_completed"));
  });

  it("recovers an order whose cancel crashed", async () => {
    const o = await order();
    await pay(o);
    const dying = gate();
    const remainder = { ...bank.method, cancel: () => dying.pass(undefined) };
    void checkout({ remainder })
      .cancel(o.id)
      .catch(() => {});
    await dying.arrived;
    expect(await paid()).toEqual([0, 2498]);
    expect((await checkout().recover()).purchases).toEqual([]);
    await store.letLeasesRunOut();
    expect((await checkout().recover()).purchases).toMatchObject([{ orderId: o.id, state: "canceled" }]);
    expect(await paid()).toEqual([0, 0]);
    dying.open();
  });

  it("keeps the remainder if only the cards are refunded, until the order is canceled", async () => {
    const o = await order();
    await pay(o);
    await checkout().refundCards(o.id);
    expect((await checkout().read(o.id))?.state).toBe("paid");
    expect(await paid()).toEqual([0, 2498]);
    expect(await pay(o)).toMatchObject({ status: "paid", remainderCents: 2498 });
    expect(await paid()).toEqual([0, 2498]);
    await checkout().cancel(o.id);
    await expect(pay(o)).rejects.toEqual(refusal("cart_completed"));
    expect((await checkout().refundCards(o.id)).map((a) => a.state)).toEqual(["reversed"]);
    expect((await checkout().read(o.id))?.state).toBe("canceled");
    expect(await paid()).toEqual([0, 0]);
  });

  it("refunds single charges", async () => {
    const other = await shop.card(1000);
    const o = await order(6500, other);
    await pay(o);
    const [charge] = await store.journal.chargesOfCart(o.cart.id);
    const reversed = await checkout().refundCards(o.id, charge?.reference);
    expect(reversed).toMatchObject([{ state: "reversed", amountCents: charge?.amountCents }]);
    await expect(checkout().refundCards(o.id, "gc_other")).rejects.toEqual(refusal("applied_card_not_found"));
    await checkout().refundCards(o.id);
    expect([await card.balanceCents(), await other.balanceCents()]).toEqual([7500, 1000]);
  });
});

describe("a store on PostgreSQL", () => {
  it("refuses an unsafe schema name", () => {
    expect(() => createPostgresStore({ pool: {} as never, schema: 'a"; drop table x' })).toThrow(TypeError);
  });
});
