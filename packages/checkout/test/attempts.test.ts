import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Attempt } from "../src/index.js";
import { beginCharge, letLeasesRunOut, newCart, type Shop, startShop } from "./shop.js";

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
});
beforeEach(async () => {
  shop.proxy.clear();
  await letLeasesRunOut(shop.pool);
  await shop.engine().recover();
});
afterAll(() => shop.stop());

const refusal = (code: string) => expect.objectContaining({ name: "CheckoutError", code });
const stateOf = async (attempt: Attempt) => (await shop.journal.attempt(attempt.reference))?.state;
const devaluesOf = (attempt: Attempt) =>
  shop.proxy.seen.filter((c) => c.operation === "devalue" && c.idempotencyKey === attempt.reference).length;

describe("a charge", () => {
  it("takes the money once, belongs to its order, and goes back once", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const attempt = await beginCharge(engine, newCart(7498), card);
    expect(attempt).toMatchObject({ state: "intent", amountCents: 5000 });
    expect(await card.balanceCents()).toBe(7500);
    expect(await engine.devalue(attempt.reference)).toMatchObject({ state: "devalued", deductedCents: 5000 });
    expect(await card.balanceCents()).toBe(2500);
    await engine.commit(attempt.reference, "completion", "order_1");
    expect(await engine.capture(attempt.reference)).toMatchObject({ state: "captured", orderId: "order_1" });
    expect((await engine.capture(attempt.reference)).state).toBe("captured");
    expect((await engine.reverse(attempt.reference, "order_canceled")).state).toBe("reversed");
    expect((await engine.reverse(attempt.reference, "order_canceled")).state).toBe("reversed");
    expect(await card.balanceCents()).toBe(7500);
    expect(devaluesOf(attempt)).toBe(1);
  });

  it("is sent once, however many ask for it at the same time", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const attempt = await beginCharge(engine, newCart(2000), card);
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, () => engine.devalue(attempt.reference)),
    );
    expect(results.some((r) => r.status === "fulfilled")).toBe(true);
    for (const result of results) {
      if (result.status === "fulfilled") expect(result.value.state).toBe("devalued");
      else expect(result.reason).toEqual(refusal("payment_in_progress"));
    }
    expect(devaluesOf(attempt)).toBe(1);
    expect(await card.balanceCents()).toBe(5500);
    expect((await engine.devalue(attempt.reference)).state).toBe("devalued");
    expect(devaluesOf(attempt)).toBe(1);
    await engine.reverse(attempt.reference, "test");
  });

  it("is sent by nobody but the engine that began it", async () => {
    const card = await shop.card(7500);
    const attempt = await beginCharge(shop.engine(), newCart(2000), card);
    await expect(shop.engine().devalue(attempt.reference)).rejects.toEqual(refusal("payment_in_progress"));
    expect(await card.balanceCents()).toBe(7500);
  });

  it("begins once per tender, also when two completions begin at the same time", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const cart = newCart(2000);
    await engine.apply(cart, card);
    const [part] = (await engine.plan(cart)).parts;
    if (!part) throw new Error("nothing is planned");
    const results = await Promise.allSettled([
      engine.begin(cart, part, `session_a_${cart.id}`, "a"),
      shop.engine().begin(cart, part, `session_b_${cart.id}`, "b"),
      engine.remove(cart, part.tenderId),
    ]);
    expect(results.filter((r) => r.status === "fulfilled")).toHaveLength(1);
    const begun = results.slice(0, 2).some((r) => r.status === "fulfilled");
    expect((await engine.summary(cart)).cards.map((c) => c.state)).toEqual(begun ? ["settling"] : []);
  });

  it("that the service refuses takes nothing and gives the card back to the cart", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const cart = newCart(2000);
    const attempt = await beginCharge(engine, cart, card);
    await shop.service.command("card", "block", card.cardNumber);
    await expect(engine.devalue(attempt.reference)).rejects.toEqual(refusal("card_blocked"));
    expect(await shop.journal.attempt(attempt.reference)).toMatchObject({
      state: "refused",
      reason: "card_blocked",
      sealedCard: null,
    });
    expect((await engine.summary(cart)).cards).toMatchObject([{ state: "applied" }]);
    expect(await card.balanceCents()).toBe(7500);
    expect((await engine.reverse(attempt.reference, "test")).state).toBe("refused");
  });

  it("of a card that is empty by now leaves a card that pays nothing", async () => {
    const engine = shop.engine();
    const card = await shop.card(2000);
    const cart = newCart(2500);
    const first = await beginCharge(engine, cart, card);
    const other = await beginCharge(engine, newCart(2000), card);
    await engine.devalue(other.reference);
    await expect(engine.devalue(first.reference)).rejects.toEqual(refusal("card_no_balance"));
    expect(await engine.plan(cart)).toMatchObject({ parts: [], remainderCents: 2500 });
    await engine.reverse(other.reference, "test");
    expect(await card.balanceCents()).toBe(2000);
  });

  it("that would take less than planned is reversed at once", async () => {
    const engine = shop.engine();
    const card = await shop.card(3000);
    const cart = newCart(2500);
    const first = await beginCharge(engine, newCart(2500), card);
    const second = await beginCharge(engine, cart, card);
    await engine.devalue(first.reference);
    await expect(engine.devalue(second.reference)).rejects.toEqual(refusal("balance_changed"));
    expect(await stateOf(second)).toBe("reversed");
    expect(await card.balanceCents()).toBe(500);
    // The shopper sees the new balance, and may place the order with it.
    expect(await engine.summary(cart)).toMatchObject({
      remainingCents: 2000,
      cards: [{ balanceCents: 500, amountCents: 500 }],
    });
    await engine.reverse(first.reference, "test");
    expect(await card.balanceCents()).toBe(3000);
  });
});

describe("a devalue whose answer is lost", () => {
  for (const fault of ["cut-after", "garbage", "error", "cut-before", "hold"] as const) {
    it(`(${fault}) is ended by its key, and the card is whole`, async () => {
      const engine = shop.engine();
      const card = await shop.card(7500);
      const cart = newCart(7498);
      const attempt = await beginCharge(engine, cart, card);
      shop.proxy.set("devalue", fault, 1);
      await expect(engine.devalue(attempt.reference)).rejects.toEqual(refusal("service_unavailable"));
      const taken = fault === "cut-after" || fault === "garbage";
      expect(await stateOf(attempt)).toBe(taken ? "reversed" : "refused");
      // What the service gave back is what it had taken: the books show both.
      const { deductedCents } = (await shop.journal.attempt(attempt.reference)) ?? {};
      expect(deductedCents).toBe(taken ? 5000 : null);
      await shop.proxy.release();
      expect(await card.balanceCents()).toBe(7500);
      expect(devaluesOf(attempt)).toBe(1);
      const again = (await engine.plan(cart)).parts[0];
      if (!again) throw new Error("the card is gone from the cart");
      const next = await engine.begin(cart, again, `session_next_${cart.id}`, "completion");
      expect(next.reference).not.toBe(attempt.reference);
      await engine.devalue(next.reference);
      expect(await card.balanceCents()).toBe(2500);
    });
  }

  it("stays unknown while the service can't be asked, blocks its card, and is ended later", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const cart = newCart(7498);
    const attempt = await beginCharge(engine, cart, card);
    shop.proxy.set("devalue", "cut-after");
    shop.proxy.set("canceldevalue", "cut-before");
    await expect(engine.devalue(attempt.reference)).rejects.toEqual(refusal("outcome_unknown"));
    expect(await stateOf(attempt)).toBe("unknown");
    expect((await engine.summary(cart)).cards).toMatchObject([{ state: "settling", amountCents: 0 }]);
    await expect(engine.remove(cart, attempt.tenderId)).rejects.toEqual(refusal("payment_in_progress"));
    await engine.settle(cart.id);
    expect(await stateOf(attempt)).toBe("unknown");
    shop.proxy.clear();
    await engine.settle(cart.id);
    expect(await stateOf(attempt)).toBe("reversed");
    expect((await engine.summary(cart)).cards).toMatchObject([{ state: "applied", amountCents: 5000 }]);
    expect(await card.balanceCents()).toBe(7500);
  });
});

describe("a service that can't end a devalue by its key", () => {
  beforeEach(() => shop.proxy.withoutExtension(true));

  for (const fault of ["cut-after", "cut-before"] as const) {
    it(`(${fault}) leaves an unknown outcome to a person, with the balances as evidence`, async () => {
      const engine = shop.engine();
      const card = await shop.card(7500);
      const cart = newCart(7498);
      const attempt = await beginCharge(engine, cart, card);
      shop.proxy.set("devalue", fault, 1);
      await expect(engine.devalue(attempt.reference)).rejects.toEqual(refusal("outcome_unknown"));
      expect(await shop.journal.attempt(attempt.reference)).toMatchObject({
        state: "needs_attention",
        reason: "outcome_unknown",
        balanceBeforeCents: 7500,
        balanceAfterCents: fault === "cut-after" ? 2500 : 7500,
      });
      expect((await engine.summary(cart)).cards).toMatchObject([{ state: "settling" }]);
      await letLeasesRunOut(shop.pool);
      expect(await engine.recover()).toEqual([]);
      expect(devaluesOf(attempt)).toBe(1);
    });
  }

  it("gives the money back when the answer comes after recovery has given up on it", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const attempt = await beginCharge(engine, newCart(2000), card);
    shop.proxy.set("devalue", "hold", 1);
    const slow = engine.devalue(attempt.reference).catch((error: unknown) => error);
    await expect.poll(() => devaluesOf(attempt)).toBe(1);
    await letLeasesRunOut(shop.pool);
    await shop.engine().recover();
    expect(await stateOf(attempt)).toBe("needs_attention");
    await shop.proxy.release();
    expect(await slow).toEqual(refusal("payment_in_progress"));
    expect(await shop.journal.attempt(attempt.reference)).toMatchObject({
      state: "reversed",
      deductedCents: 2000,
    });
    expect(await card.balanceCents()).toBe(7500);
  });
});

describe("a reversal", () => {
  for (const fault of ["cut-before", "cut-after", "error", "garbage"] as const) {
    it(`(${fault}) stays owed until the service says that it is done`, async () => {
      const engine = shop.engine();
      const card = await shop.card(7500);
      const attempt = await beginCharge(engine, newCart(2000), card);
      await engine.devalue(attempt.reference);
      await engine.commit(attempt.reference, "completion", "order_2");
      shop.proxy.set("canceldevalue", fault, 1);
      expect((await engine.reverse(attempt.reference, "order_canceled")).state).toBe("reversing");
      expect((await engine.recover()).map((a) => a.reference)).not.toContain(attempt.reference);
      await letLeasesRunOut(shop.pool);
      expect((await shop.engine().recover()).map((a) => a.state)).toEqual(["reversed"]);
      expect(await card.balanceCents()).toBe(7500);
    });
  }

  it("asked for by ten at once happens once", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const attempt = await beginCharge(engine, newCart(2000), card);
    await engine.devalue(attempt.reference);
    await Promise.all(Array.from({ length: 10 }, () => shop.engine().reverse(attempt.reference, "test")));
    expect(await stateOf(attempt)).toBe("reversed");
    expect(await card.balanceCents()).toBe(7500);
  });

  it("of a token that the service doesn't know goes to a person", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const attempt = await beginCharge(engine, newCart(2000), card);
    await engine.devalue(attempt.reference);
    const other = await beginCharge(engine, newCart(2000), card);
    await shop.pool.query(
      "update giftcard_attempt set sealed_token = (select sealed_token from giftcard_attempt where reference = $1) where reference = $2",
      [attempt.reference, other.reference],
    );
    await shop.pool.query(
      "update giftcard_attempt set state = 'devalued', deducted_cents = 2000 where reference = $1",
      [other.reference],
    );
    expect(await engine.reverse(other.reference, "test")).toMatchObject({
      state: "needs_attention",
      reason: "seal_broken",
    });
    expect((await engine.reverse(attempt.reference, "test")).state).toBe("reversed");
  });
});

describe("after a crash", () => {
  it("an intent that was never sent is refused, and can't be sent any more", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const attempt = await beginCharge(engine, newCart(2000), card);
    await letLeasesRunOut(shop.pool);
    await shop.engine().recover();
    expect(await stateOf(attempt)).toBe("refused");
    await expect(engine.devalue(attempt.reference)).rejects.toEqual(refusal("payment_in_progress"));
    expect(devaluesOf(attempt)).toBe(0);
  });

  it("a devalue that was on its way is ended by its key, also when it arrives late", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const cart = newCart(2000);
    const attempt = await beginCharge(engine, cart, card);
    shop.proxy.set("devalue", "hold", 1);
    const frozen = engine.devalue(attempt.reference).catch((error: unknown) => error);
    await expect.poll(() => devaluesOf(attempt)).toBe(1);
    await letLeasesRunOut(shop.pool);
    await shop.engine().recover();
    expect(await stateOf(attempt)).toBe("refused");
    await shop.proxy.release();
    expect(await frozen).toEqual(refusal("service_unavailable"));
    expect(await card.balanceCents()).toBe(7500);
  });

  it("a devalued attempt that no order came to is reversed, and its completion can't commit", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const attempt = await beginCharge(engine, newCart(2000), card);
    await engine.devalue(attempt.reference);
    expect(await shop.engine().recover()).toEqual([]);
    await letLeasesRunOut(shop.pool);
    await shop.engine().recover();
    expect(await stateOf(attempt)).toBe("reversed");
    await expect(engine.commit(attempt.reference, "completion", "order_3")).rejects.toEqual(
      refusal("payment_in_progress"),
    );
    expect(await card.balanceCents()).toBe(7500);
  });

  it("a devalued attempt whose order was placed and paid is committed to it", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const attempt = await beginCharge(engine, newCart(2000), card);
    await engine.devalue(attempt.reference);
    await letLeasesRunOut(shop.pool);
    const asked: string[] = [];
    const orderOf = async ({ reference }: Attempt) => {
      asked.push(reference);
      return "order_7";
    };
    expect(await engine.recover({ orderOf })).toMatchObject([
      { reference: attempt.reference, state: "committed", orderId: "order_7" },
    ]);
    expect(asked).toEqual([attempt.reference]);
    expect(await card.balanceCents()).toBe(5500);
  });

  it("a committed attempt is nobody's to reverse but its order's", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const attempt = await beginCharge(engine, newCart(2000), card);
    await engine.devalue(attempt.reference);
    await engine.commit(attempt.reference, "completion", "order_4");
    await letLeasesRunOut(shop.pool);
    expect(await shop.engine().recover()).toEqual([]);
    expect(await card.balanceCents()).toBe(5500);
    expect((await engine.commit(attempt.reference, "completion", "order_4")).state).toBe("committed");
    await expect(engine.commit(attempt.reference, "completion", "order_5")).rejects.toEqual(
      refusal("payment_in_progress"),
    );
  });

  it("two recoveries at once end each attempt once", async () => {
    const engine = shop.engine();
    const cards = await Promise.all(Array.from({ length: 4 }, () => shop.card(7500)));
    for (const card of cards) {
      const attempt = await beginCharge(engine, newCart(2000), card);
      await engine.devalue(attempt.reference);
    }
    await letLeasesRunOut(shop.pool);
    const ended = await Promise.all([
      shop.engine().recover(),
      shop.engine().recover(),
      shop.engine().recover(),
    ]);
    expect(ended.flat().map((a) => a.state)).toEqual(["reversed", "reversed", "reversed", "reversed"]);
    for (const card of cards) expect(await card.balanceCents()).toBe(7500);
  });

  it("nothing is sent to a service that the attempt doesn't name", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const attempt = await beginCharge(engine, newCart(2000), card);
    await engine.devalue(attempt.reference);
    await letLeasesRunOut(shop.pool);
    const before = shop.proxy.seen.length;
    await shop.engine({ environment: "live" }).recover();
    expect(shop.proxy.seen).toHaveLength(before);
    expect(await shop.journal.attempt(attempt.reference)).toMatchObject({
      state: "needs_attention",
      reason: "service_not_configured",
    });
  });

  it("a card that was applied before the shop was switched isn't sent to the other service", async () => {
    const cart = newCart(2000);
    const card = await shop.card(7500);
    await shop.engine().apply(cart, { cardNumber: card.cardNumber, pin: card.pin });
    const before = shop.proxy.seen.length;
    const switched = shop.engine({ environment: "live" });
    const [part] = (await switched.plan(cart)).parts;
    await expect(switched.begin(cart, part as never, "session_switched", "completion")).rejects.toMatchObject(
      {
        code: "applied_card_expired",
      },
    );
    expect(shop.proxy.seen).toHaveLength(before);
  });
});

describe("the journal", () => {
  it("holds no card number, PIN or token in the clear, and no card once an attempt is settled", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const attempt = await beginCharge(engine, newCart(2000), card);
    await engine.devalue(attempt.reference);
    await engine.commit(attempt.reference, "completion", "order_6");
    const { rows } = await shop.pool.query(
      "select (select json_agg(t) from giftcard_tender t)::text || (select json_agg(a) from giftcard_attempt a)::text as all",
    );
    expect(rows[0].all).not.toContain(card.cardNumber);
    expect(rows[0].all).not.toContain(`"${card.pin}"`);
    expect((await shop.journal.attempt(attempt.reference))?.sealedCard).toBeNull();
    const tender = await shop.pool.query("select sealed_card, state from giftcard_tender where id = $1", [
      attempt.tenderId,
    ]);
    expect(tender.rows).toEqual([{ sealed_card: null, state: "spent" }]);
  });

  it("refuses a second living attempt of one tender, whoever writes it", async () => {
    const attempt = await beginCharge(shop.engine(), newCart(2000), await shop.card(7500));
    await expect(
      shop.pool.query(
        `insert into giftcard_attempt (reference, tender_id, cart_id, external_id, environment, base_url, company_id, state,
           last_four, amount_cents, balance_before_cents)
         values ('gc_second', $1, 'cart', 'x', 'live', 'http://x', 1, 'intent', '0000', 100, 100)`,
        [attempt.tenderId],
      ),
    ).rejects.toMatchObject({ code: "23505" });
  });
});
