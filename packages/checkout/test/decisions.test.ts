import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createSealer, readSeals, resealAll } from "../src/plugin.js";
import { beginCharge, beginOne, letLeasesRunOut, newCart, type Shop, sealingKeys, startShop } from "./shop.js";

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
});
beforeEach(() => shop.proxy.clear());
afterAll(() => shop.stop());

const refusal = (code: string) => expect.objectContaining({ name: "CheckoutError", code });

/** Makes a charge whose outcome a service without the extension can't resolve. */
async function leaveToPerson(fault: "cut-after" | "cut-before") {
  const engine = shop.engine();
  const card = await shop.card(7500);
  const cart = newCart(2000);
  const charge = await beginCharge(engine, cart, card);
  shop.proxy.withoutExtension(true);
  shop.proxy.set("devalue", fault, 1);
  await expect(engine.devalue(charge.reference)).rejects.toEqual(refusal("outcome_unknown"));
  return { engine, card, cart, reference: charge.reference };
}

describe("a charge that needs attention", () => {
  it("is listed with its evidence, and is settled once, with who decided", async () => {
    const { engine, cart, reference } = await leaveToPerson("cut-before");
    const { charges, count } = await shop.journal.list({ states: ["needs_attention"] });
    expect(count).toBe(1);
    expect(charges).toMatchObject([{ reference, balanceBeforeCents: 7500, balanceAfterCents: 7500 }]);
    expect(await shop.journal.countByState()).toMatchObject({ needs_attention: 1 });
    const results = await Promise.all([engine.markNotTaken(reference, "ada"), engine.markNotTaken(reference, "bob")]);
    expect(results.filter(Boolean)).toMatchObject([{ state: "refused" }]);
    expect(await engine.markTaken(reference, "ada")).toBeNull();
    const actions = await shop.journal.actions(reference);
    expect(actions).toMatchObject([{ action: "mark_not_taken", fromState: "needs_attention", toState: "refused" }]);
    expect((await engine.summary(cart)).cards).toMatchObject([{ state: "applied" }]);
  });

  it("can be marked as taken: its card is spent, and recovery doesn't reverse it", async () => {
    const { engine, card, cart, reference } = await leaveToPerson("cut-after");
    expect(await engine.markTaken(reference, "ada")).toMatchObject({ state: "taken", sealedCard: null });
    await letLeasesRunOut(shop.pool);
    expect(await engine.recover()).toEqual([]);
    expect((await engine.summary(cart)).cards).toEqual([]);
    expect(await card.balanceCents()).toBe(5500);
  });

  it("still needs a person if the service supports keys only now: it never saw this one", async () => {
    const { engine, card, reference } = await leaveToPerson("cut-after");
    shop.proxy.clear();
    await shop.pool.query("update giftcard_charge set balance_after_cents = null where reference = $1", [reference]);
    expect(await engine.retry(reference, "ada")).toMatchObject({
      state: "needs_attention",
      balanceBeforeCents: 7500,
      balanceAfterCents: 5500,
    });
    expect(await shop.journal.actions(reference)).toMatchObject([{ action: "retry", actor: "ada" }]);
    expect(await card.balanceCents()).toBe(5500);
  });

  it("still needs a person after retries if another amount was reversed than was taken", async () => {
    const engine = shop.engine();
    const charge = await beginCharge(engine, newCart(2000), await shop.card(7500));
    await engine.devalue(charge.reference);
    await shop.pool.query(
      "update giftcard_charge set amount_cents = 2100, deducted_cents = 2100 where reference = $1",
      [charge.reference],
    );
    await engine.reverse(charge.reference, "order_canceled");
    const differs = { state: "needs_attention", reason: "refund_differs", leaseUntil: null };
    expect(await engine.retry(charge.reference, "ada")).toMatchObject(differs);
    expect(await shop.journal.actions(charge.reference)).toMatchObject([{ action: "retry", actor: "ada" }]);
    expect(await engine.markNotTaken(charge.reference, "ada")).toMatchObject({ state: "reversed" });
  });

  it("is retried when its service is configured again", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const charge = await beginCharge(engine, newCart(2000), card);
    await engine.devalue(charge.reference);
    await shop.engine({ environment: "live" }).reverse(charge.reference, "order_canceled");
    expect((await shop.journal.charge(charge.reference))?.reason).toBe("service_not_configured");
    expect((await engine.retry(charge.reference, "ada"))?.state).toBe("reversed");
    expect(await engine.retry(charge.reference, "ada")).toBeNull();
    expect(await card.balanceCents()).toBe(7500);
  });
});

describe("guesses of a card", () => {
  const wrong = { cardNumber: "1234567890123456789", pin: "000000" };

  it("are checked up to the limit of a cart, even if they are concurrent", async () => {
    const engine = shop.engine({ guessLimits: { perCart: 3 } });
    const cart = newCart(1000);
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => engine.quote(cart, wrong)));
    const codes = results.map((r) => (r.status === "rejected" ? r.reason.code : "fine"));
    expect(codes.filter((code) => code === "invalid_card").length).toBeLessThanOrEqual(3);
    for (let i = 0; i < 3; i++) await engine.quote(cart, wrong).catch(() => {});
    await expect(engine.quote(cart, wrong)).rejects.toMatchObject({
      code: "too_many_attempts",
      retryAfterSeconds: expect.any(Number),
    });
    await expect(engine.quote(cart, await shop.card(500))).rejects.toEqual(refusal("too_many_attempts"));
    expect((await shop.engine().quote(newCart(1000), await shop.card(500))).balanceCents).toBe(500);
  });

  it("are counted per address across carts, and the address is only stored as a hash", async () => {
    const engine = shop.engine({ guessLimits: { perAddress: 2 } });
    for (let i = 0; i < 2; i++) {
      const cart = { ...newCart(1000), address: "192.0.2.1" };
      await expect(engine.quote(cart, wrong)).rejects.toEqual(refusal("invalid_card"));
    }
    const third = { ...newCart(1000), address: "192.0.2.1" };
    await expect(engine.quote(third, wrong)).rejects.toEqual(refusal("too_many_attempts"));
    await expect(engine.quote({ ...third, address: "192.0.2.2" }, wrong)).rejects.toEqual(refusal("invalid_card"));
    const { rows } = await shop.pool.query("select string_agg(key, ' ') as keys from giftcard_guess");
    expect(rows[0].keys).not.toContain("192.0.2");
  });

  it("don't count if they are right, or the service is down; and a window ends", async () => {
    const engine = shop.engine({ guessLimits: { perCart: 1 } });
    const cart = newCart(9000);
    await engine.apply(cart, await shop.card(500));
    shop.proxy.set("balance", "error");
    await expect(engine.quote(cart, await shop.card(500))).rejects.toEqual(refusal("service_unavailable"));
    shop.proxy.clear();
    await expect(engine.quote(cart, wrong)).rejects.toEqual(refusal("invalid_card"));
    await expect(engine.quote(cart, wrong)).rejects.toEqual(refusal("too_many_attempts"));
    await shop.pool.query("update giftcard_guess set resets_at = now()");
    await expect(engine.quote(cart, wrong)).rejects.toEqual(refusal("invalid_card"));
  });
});

describe("a change of sealing keys", () => {
  const next = { id: "next", key: Buffer.alloc(32, 9).toString("base64") };
  // Sealed before the change began.
  beforeEach(async () => {
    await shop.pool.query("delete from giftcard_secret");
    await shop.engine().quote(newCart(1000), await shop.card(500));
  });

  it("leaves a reversal to a process with the key, without needing a person", async () => {
    const card = await shop.card(7500);
    const newer = shop.engine({ sealer: createSealer({ keys: [next, ...sealingKeys] }) });
    const charge = await beginCharge(newer, newCart(2000), card);
    await newer.devalue(charge.reference);
    expect(await shop.engine().reverse(charge.reference, "order_canceled")).toMatchObject({
      state: "reversing",
      lastError: "seal_unknown_key",
      tries: 1,
    });
    await letLeasesRunOut(shop.pool);
    await shop.engine().recover();
    expect(await shop.journal.charge(charge.reference)).toMatchObject({ state: "reversing", tries: 2 });
    await letLeasesRunOut(shop.pool);
    await newer.recover();
    expect((await shop.journal.charge(charge.reference))?.state).toBe("reversed");
    expect(await card.balanceCents()).toBe(7500);
  });

  it("leaves an unknown outcome to a process with the key, which reads its evidence", async () => {
    const card = await shop.card(7500);
    const newer = shop.engine({ sealer: createSealer({ keys: [next, ...sealingKeys] }) });
    const charge = await beginCharge(newer, newCart(2000), card);
    shop.proxy.withoutExtension(true);
    shop.proxy.set("devalue", "cut-after", 1);
    shop.proxy.set("canceldevalue", "cut-before", 1);
    await expect(newer.devalue(charge.reference)).rejects.toEqual(refusal("outcome_unknown"));
    await letLeasesRunOut(shop.pool);
    await shop.engine().recover();
    expect(await shop.journal.charge(charge.reference)).toMatchObject({
      state: "unknown",
      lastError: "seal_unknown_key",
    });
    await letLeasesRunOut(shop.pool);
    await newer.recover();
    expect(await shop.journal.charge(charge.reference)).toMatchObject({
      state: "needs_attention",
      balanceAfterCents: 5500,
    });
  });

  it("recognizes cards and counts guesses while processes have different keys", async () => {
    const newer = shop.engine({ sealer: createSealer({ keys: [next, ...sealingKeys] }) });
    const older = shop.engine({ guessLimits: { perAddress: 1 } });
    const card = await shop.card(7500);
    const cart = { ...newCart(7498), address: "192.0.2.77" };
    const quotes = [await older.quote(cart, card), await newer.quote(cart, card)];
    const results = await Promise.allSettled([
      older.apply(cart, { quoteId: quotes[0]?.quoteId ?? "" }),
      newer.apply(cart, { quoteId: quotes[1]?.quoteId ?? "" }),
    ]);
    expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(1);
    await expect(newer.quote(cart, card)).rejects.toEqual(refusal("card_already_applied"));
    const wrong = { cardNumber: "1234567890123456789", pin: "000000" };
    await expect(newer.quote(cart, wrong)).rejects.toEqual(refusal("invalid_card"));
    await expect(older.quote(cart, wrong)).rejects.toEqual(refusal("too_many_attempts"));
  });

  it("reseals everything, so that the old key can be removed, and an old purchase can still be reversed", async () => {
    const card = await shop.card(7500);
    const engine = shop.engine();
    const charge = await beginCharge(engine, newCart(2000), card);
    await engine.devalue(charge.reference);
    await engine.commit(charge.reference, "completion", "order_old");
    const waiting = newCart(1000);
    await engine.apply(waiting, await shop.card(400));

    const onlyNew = createSealer({ keys: [next] });
    expect((await readSeals(shop.journal, onlyNew)).unopenable).toBeGreaterThanOrEqual(2);
    await expect(resealAll(shop.journal, onlyNew)).rejects.toMatchObject({ fault: "unknown_key" });
    const both = createSealer({ keys: [next, ...sealingKeys] });
    expect(await resealAll(shop.journal, both)).toBeGreaterThanOrEqual(2);
    expect(await resealAll(shop.journal, both)).toBe(0);
    expect(await readSeals(shop.journal, onlyNew)).toMatchObject({ unopenable: 0 });

    const later = shop.engine({ sealer: onlyNew });
    const [part] = (await later.plan(waiting)).parts;
    if (!part) throw new Error("nothing is planned");
    expect((await beginOne(later, waiting, part, "session_resealed", "b")).state).toBe("intent");
    await shop.pool.query("update giftcard_charge set created_at = now() - interval '31 days' where reference = $1", [
      charge.reference,
    ]);
    expect((await later.reverse(charge.reference, "order_canceled")).state).toBe("reversed");
    expect(await card.balanceCents()).toBe(7500);
  });
});
