import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createClient } from "@giftcard-pay/client";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { CartView, Engine, PlannedPart } from "../src/engine/engine.js";
import type { Charge } from "../src/store/index.js";
import { beginCharge, beginOne, letLeasesRunOut, newCart, type Shop, startShop } from "./shop.js";

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
const stateOf = async (charge: Charge) => (await shop.journal.charge(charge.reference))?.state;
const devaluesOf = (charge: Charge) =>
  shop.proxy.seen.filter((c) => c.operation === "devalue" && c.idempotencyKey === charge.reference).length;

/** Applies a card, and begins to charge it as the only one of its order. */
async function beginOnly(engine: Engine, cart: CartView, charges?: PlannedPart["charges"]) {
  const card = await shop.card(7500);
  await engine.apply(cart, card);
  const [part] = (await engine.plan(cart)).parts;
  if (!part) throw new Error("nothing is planned");
  const parts = charges ? { ...part, charges } : part;
  const begun = await engine.begin(cart, parts, `session_${cart.id}`, "completion", { isOnlyPart: true });
  const [charge] = begun;
  if (!charge) throw new Error("nothing was begun");
  return { card, charge, begun };
}

/** Starts a proxy that refuses every call that moves money. */
async function startFirewall(status: number) {
  const server = createServer((_, response) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ success: false, error: "No." }));
  }).listen(0, "127.0.0.1");
  await new Promise((listens) => server.once("listening", listens));
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, close: () => new Promise((closed) => server.close(closed)) };
}

describe("a charge that a proxy refuses", () => {
  for (const status of [401, 403, 429])
    it(`with ${status} is refused, and its card can be charged again`, async () => {
      const firewall = await startFirewall(status);
      try {
        const companyId = shop.client.companyId as number;
        const { devalue, cancelDevalue, resolveDevalue } = createClient({
          baseUrl: firewall.url,
          apiKey: "key",
          companyId,
        });
        const engine = shop.engine({ issuer: { ...shop.client, devalue, cancelDevalue, resolveDevalue } });
        const card = await shop.card(7500);
        const charge = await beginCharge(engine, newCart(2000), card);
        await expect(engine.devalue(charge.reference)).rejects.toThrow();
        expect(await stateOf(charge)).toBe("refused");
        expect(await card.balanceCents()).toBe(7500);
      } finally {
        await firewall.close();
      }
    });
});

describe("a charge", () => {
  it("takes the money once, is committed to its order, and is reversed once", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const charge = await beginCharge(engine, newCart(7498), card);
    expect(charge).toMatchObject({ state: "intent", amountCents: 5000 });
    expect(await card.balanceCents()).toBe(7500);
    expect(await engine.devalue(charge.reference)).toMatchObject({ state: "devalued", deductedCents: 5000 });
    expect(await card.balanceCents()).toBe(2500);
    await engine.commit(charge.reference, "completion", "order_1");
    expect(await engine.capture(charge.externalId)).toMatchObject([{ state: "captured", orderId: "order_1" }]);
    expect(await engine.capture(charge.externalId)).toMatchObject([{ state: "captured" }]);
    expect((await engine.reverse(charge.reference, "order_canceled")).state).toBe("reversed");
    expect((await engine.reverse(charge.reference, "order_canceled")).state).toBe("reversed");
    expect(await card.balanceCents()).toBe(7500);
    expect(devaluesOf(charge)).toBe(1);
  });

  it("is sent once by concurrent calls", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const charge = await beginCharge(engine, newCart(2000), card);
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => engine.devalue(charge.reference)));
    expect(results.some((r) => r.status === "fulfilled")).toBe(true);
    for (const result of results) {
      if (result.status === "fulfilled") expect(result.value.state).toBe("devalued");
      else expect(result.reason).toEqual(refusal("payment_in_progress"));
    }
    expect(devaluesOf(charge)).toBe(1);
    expect(await card.balanceCents()).toBe(5500);
    expect((await engine.devalue(charge.reference)).state).toBe("devalued");
    expect(devaluesOf(charge)).toBe(1);
    await engine.reverse(charge.reference, "test");
  });

  it("is only sent by the engine that began it", async () => {
    const card = await shop.card(7500);
    const charge = await beginCharge(shop.engine(), newCart(2000), card);
    await expect(shop.engine().devalue(charge.reference)).rejects.toEqual(refusal("payment_in_progress"));
    expect(await card.balanceCents()).toBe(7500);
  });

  it("is recorded as sent at once if it is its order's only one", async () => {
    const engine = shop.engine();
    const { card, charge } = await beginOnly(engine, newCart(2000));
    expect(charge).toMatchObject({ state: "sent", sentAt: expect.any(Date) });
    expect(await card.balanceCents()).toBe(7500);
    expect(await engine.devalue(charge.reference)).toMatchObject({ state: "devalued", sentAt: charge.sentAt });
    expect(devaluesOf(charge)).toBe(1);
    expect(await card.balanceCents()).toBe(5500);
  });

  it("is recorded as an intent if its card is charged in parts", async () => {
    const charges = [1200, 800].map((amountCents) => ({ amountCents, pieces: [] }));
    const { begun } = await beginOnly(shop.engine(), newCart(2000), charges);
    expect(begun.map(({ state }) => state)).toEqual(["intent", "intent"]);
  });

  it("takes nothing once recovery has resolved it by its key, even if its process resumes", async () => {
    const engine = shop.engine();
    const { card, charge } = await beginOnly(engine, newCart(2000));
    await letLeasesRunOut(shop.pool);
    await shop.engine().recover();
    expect(await stateOf(charge)).toBe("refused");
    await expect(engine.devalue(charge.reference)).rejects.toThrow();
    expect(await stateOf(charge)).toBe("refused");
    expect(await card.balanceCents()).toBe(7500);
  });

  it("begins once per tender, even if two completions race", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const cart = newCart(2000);
    await engine.apply(cart, card);
    const [part] = (await engine.plan(cart)).parts;
    if (!part) throw new Error("nothing is planned");
    const results = await Promise.allSettled([
      beginOne(engine, cart, part, `session_a_${cart.id}`, "a"),
      beginOne(shop.engine(), cart, part, `session_b_${cart.id}`, "b"),
      engine.remove(cart, part.tenderId),
    ]);
    expect(results.filter((r) => r.status === "fulfilled")).toHaveLength(1);
    const begun = results.slice(0, 2).some((r) => r.status === "fulfilled");
    expect((await engine.summary(cart)).cards.map((c) => c.state)).toEqual(begun ? ["settling"] : []);
  });

  it("that the service refuses takes nothing, and its card is on the cart again", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const cart = newCart(2000);
    const charge = await beginCharge(engine, cart, card);
    await shop.service.command("card", "block", card.cardNumber);
    await expect(engine.devalue(charge.reference)).rejects.toEqual(refusal("card_blocked"));
    expect(await shop.journal.charge(charge.reference)).toMatchObject({
      state: "refused",
      reason: "card_blocked",
      sealedCard: null,
    });
    expect((await engine.summary(cart)).cards).toMatchObject([{ state: "applied", refusal: "card_blocked" }]);
    expect(await card.balanceCents()).toBe(7500);
    expect((await engine.reverse(charge.reference, "test")).state).toBe("refused");
  });

  it("that the service refuses is the cart's last refusal until the card is charged again", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const cart = newCart(2000);
    const refusals = async () => (await engine.summary(cart)).cards.map((applied) => applied.refusal);
    const charge = await beginCharge(engine, cart, card);
    await shop.service.command("card", "block", card.cardNumber);
    await expect(engine.devalue(charge.reference)).rejects.toEqual(refusal("card_blocked"));
    expect(await refusals()).toEqual(["card_blocked"]);
    await shop.service.command("card", "unblock", card.cardNumber);
    const [part] = (await engine.plan(cart)).parts;
    if (!part) throw new Error("nothing is planned");
    const again = await beginOne(engine, cart, part, `session_again_${cart.id}`, "again");
    await engine.devalue(again.reference);
    // The completion failed for another reason, such as a declined remainder.
    await engine.void(again.reference);
    expect((await engine.summary(cart)).cards).toMatchObject([{ state: "applied" }]);
    expect(await refusals()).toEqual([undefined]);
  });

  it("of two charges of one card tells the reason of the refused one", async () => {
    const engine = shop.engine();
    const cart = newCart(2000);
    const { card, begun } = await beginOnly(engine, cart, [
      { amountCents: 1500, pieces: [] },
      { amountCents: 500, pieces: [] },
    ]);
    await shop.service.command("card", "block", card.cardNumber);
    await expect(engine.devalue(begun[0]?.reference ?? "")).rejects.toEqual(refusal("card_blocked"));
    for (const { reference } of begun) await engine.void(reference);
    expect((await engine.summary(cart)).cards).toMatchObject([{ state: "applied", refusal: "card_blocked" }]);
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
    expect((await engine.summary(cart)).cards).toMatchObject([{ amountCents: 0, refusal: "card_no_balance" }]);
    await engine.reverse(other.reference, "test");
    expect(await card.balanceCents()).toBe(2000);
  });

  it("that took less than planned is reversed at once", async () => {
    const engine = shop.engine();
    const card = await shop.card(3000);
    const cart = newCart(2500);
    const first = await beginCharge(engine, newCart(2500), card);
    const second = await beginCharge(engine, cart, card);
    await engine.devalue(first.reference);
    await expect(engine.devalue(second.reference)).rejects.toEqual(refusal("balance_changed"));
    expect(await shop.journal.charge(second.reference)).toMatchObject({
      ...{ state: "reversed", reason: "balance_changed", deductedCents: 500 },
    });
    expect(await card.balanceCents()).toBe(500);
    // The shopper sees the new balance, and can place the order with it.
    expect(await engine.summary(cart)).toMatchObject({
      remainderCents: 2000,
      cards: [{ balanceCents: 500, amountCents: 500, refusal: "balance_changed" }],
    });
    await engine.reverse(first.reference, "test");
    expect(await card.balanceCents()).toBe(3000);
  });
});

describe("a charge of an outdated plan", () => {
  /** Plans a completion with a card on a cart. */
  async function planned() {
    const engine = shop.engine();
    const cart = newCart(2000);
    const { cardNumber, pin } = await shop.card(7500);
    await engine.apply(cart, { cardNumber, pin });
    const [part] = (await engine.plan(cart)).parts;
    if (!part) throw new Error("nothing is planned");
    const before = shop.proxy.seen.length;
    const begin = () => beginOne(engine, cart, part, `session_${randomUUID()}`, "completion");
    return { engine, cart, part, begin, calls: () => shop.proxy.seen.slice(before) };
  }

  it("isn't begun once the card was removed from the cart", async () => {
    const { engine, cart, part, begin, calls } = await planned();
    await engine.remove(cart, part.tenderId);
    await expect(begin()).rejects.toEqual(refusal("payment_in_progress"));
    expect(calls()).toEqual([]);
  });

  it("isn't begun while another completion charges the card", async () => {
    const { begin } = await planned();
    await begin();
    await expect(begin()).rejects.toEqual(refusal("payment_in_progress"));
  });

  it("isn't begun once the card has expired, or was deleted", async () => {
    for (const change of ["expires_at = now()", "sealed_card = null"]) {
      const { part, begin, calls } = await planned();
      await shop.pool.query(`update giftcard_tender set ${change} where id = $1`, [part.tenderId]);
      await expect(begin(), change).rejects.toEqual(refusal("applied_card_expired"));
      expect(calls()).toEqual([]);
    }
  });
});

describe("a devalue that was never sent", () => {
  it("because the connection was refused is settled, and its card can be charged", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const cart = newCart(2000);
    const charge = await beginCharge(engine, cart, card);
    await shop.proxy.listen(false);
    try {
      await expect(engine.devalue(charge.reference)).rejects.toEqual(refusal("service_unavailable"));
    } finally {
      await shop.proxy.listen(true);
    }
    expect(await shop.journal.charge(charge.reference)).toMatchObject({
      ...{ state: "refused", reason: "not_sent", sealedCard: null, leaseOwner: null },
    });
    expect((await engine.summary(cart)).cards).toMatchObject([{ state: "applied" }]);
    expect((await engine.plan(cart)).coveredCents).toBe(2000);
  });
});

describe("a devalue whose response is lost", () => {
  for (const fault of ["cut-after", "garbage", "error", "cut-before", "hold"] as const) {
    it(`(${fault}) is resolved by its key, and the money is back on the card`, async () => {
      const engine = shop.engine();
      const card = await shop.card(7500);
      const cart = newCart(7498);
      const charge = await beginCharge(engine, cart, card);
      shop.proxy.set("devalue", fault, 1);
      await expect(engine.devalue(charge.reference)).rejects.toEqual(refusal("service_unavailable"));
      const taken = fault === "cut-after" || fault === "garbage";
      expect(await stateOf(charge)).toBe(taken ? "reversed" : "refused");
      // The service reversed what it had taken: the books show both.
      const { deductedCents } = (await shop.journal.charge(charge.reference)) ?? {};
      expect(deductedCents).toBe(taken ? 5000 : null);
      await shop.proxy.release();
      expect(await card.balanceCents()).toBe(7500);
      expect(devaluesOf(charge)).toBe(1);
      const again = (await engine.plan(cart)).parts[0];
      if (!again) throw new Error("the card is gone from the cart");
      const next = await beginOne(engine, cart, again, `session_next_${cart.id}`, "completion");
      expect(next.reference).not.toBe(charge.reference);
      await engine.devalue(next.reference);
      expect(await card.balanceCents()).toBe(2500);
    });
  }

  it("stays unknown while the service is down, blocks its card, and is resolved later", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const cart = newCart(7498);
    const charge = await beginCharge(engine, cart, card);
    shop.proxy.set("devalue", "cut-after");
    shop.proxy.set("canceldevalue", "cut-before");
    await expect(engine.devalue(charge.reference)).rejects.toEqual(refusal("outcome_unknown"));
    expect(await stateOf(charge)).toBe("unknown");
    expect((await engine.summary(cart)).cards).toMatchObject([{ state: "settling", amountCents: 0 }]);
    await expect(engine.remove(cart, charge.tenderId)).rejects.toEqual(refusal("payment_in_progress"));
    await engine.recoverCart(cart.id);
    expect(await stateOf(charge)).toBe("unknown");
    shop.proxy.clear();
    await engine.recoverCart(cart.id);
    expect(await stateOf(charge)).toBe("reversed");
    expect((await engine.summary(cart)).cards).toMatchObject([{ state: "applied", amountCents: 5000 }]);
    expect(await card.balanceCents()).toBe(7500);
  });
});

describe("a service that can't resolve a devalue by its key", () => {
  beforeEach(() => shop.proxy.withoutExtension(true));

  for (const fault of ["cut-after", "cut-before"] as const) {
    it(`(${fault}) leaves an unknown outcome to a person, with the balances as evidence`, async () => {
      const engine = shop.engine();
      const card = await shop.card(7500);
      const cart = newCart(7498);
      const charge = await beginCharge(engine, cart, card);
      shop.proxy.set("devalue", fault, 1);
      await expect(engine.devalue(charge.reference)).rejects.toEqual(refusal("outcome_unknown"));
      expect(await shop.journal.charge(charge.reference)).toMatchObject({
        state: "needs_attention",
        reason: "outcome_unknown",
        balanceBeforeCents: 7500,
        balanceAfterCents: fault === "cut-after" ? 2500 : 7500,
      });
      expect((await engine.summary(cart)).cards).toMatchObject([{ state: "settling" }]);
      await letLeasesRunOut(shop.pool);
      expect(await engine.recover()).toEqual([]);
      expect(devaluesOf(charge)).toBe(1);
    });
  }

  it("has its charge reversed if the response comes after recovery has left it to a person", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const charge = await beginCharge(engine, newCart(2000), card);
    shop.proxy.set("devalue", "hold", 1);
    const slow = engine.devalue(charge.reference).catch((error: unknown) => error);
    await expect.poll(() => devaluesOf(charge)).toBe(1);
    await letLeasesRunOut(shop.pool);
    await shop.engine().recover();
    expect(await stateOf(charge)).toBe("needs_attention");
    await shop.proxy.release();
    expect(await slow).toEqual(refusal("payment_in_progress"));
    expect(await shop.journal.charge(charge.reference)).toMatchObject({
      state: "reversed",
      reason: "answered_too_late",
      deductedCents: 2000,
    });
    expect(await card.balanceCents()).toBe(7500);
  });
});

describe("a devalue that is refused", () => {
  const operations = (from: number) => shop.proxy.seen.slice(from).map((call) => call.operation);

  it("by the service itself is settled with that refusal", async () => {
    const card = await shop.card(7500);
    const engine = shop.engine();
    const charge = await beginCharge(engine, newCart(2000), card);
    await shop.service.command("card", "block", card.cardNumber);
    const before = shop.proxy.seen.length;
    await expect(engine.devalue(charge.reference)).rejects.toEqual(refusal("card_blocked"));
    expect(operations(before)).toEqual(["devalue"]);
  });

  it("because of too many calls, before the card is read, is settled with that refusal", async () => {
    const engine = shop.engine();
    const charge = await beginCharge(engine, newCart(2000), await shop.card(7500));
    const before = shop.proxy.seen.length;
    shop.proxy.set("devalue", "busy");
    await expect(engine.devalue(charge.reference)).rejects.toEqual(refusal("too_many_attempts"));
    expect(new Set(operations(before))).toEqual(new Set(["devalue"]));
    expect(await stateOf(charge)).toBe("refused");
  });

  it("because the API key is revoked is settled with that refusal", async () => {
    const { companyId, apiKey } = await shop.service.createCompany();
    const client = createClient({ baseUrl: shop.proxy.url, companyId, apiKey, timeoutMs: 1500 });
    const engine = shop.engine({ issuer: client });
    const charge = await beginCharge(engine, newCart(2000), await shop.card(7500));
    const before = shop.proxy.seen.length;
    await shop.service.command("company", "close", String(companyId));
    await expect(engine.devalue(charge.reference)).rejects.toEqual(refusal("service_unavailable"));
    expect(operations(before)).toEqual(["devalue"]);
    expect(await stateOf(charge)).toBe("refused");
  });

  it("by a proxy although the service has made it is resolved by its key", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const charge = await beginCharge(engine, newCart(2000), card);
    shop.proxy.set("devalue", "deny-after", 1);
    await expect(engine.devalue(charge.reference)).rejects.toEqual(refusal("service_unavailable"));
    expect(await shop.journal.charge(charge.reference)).toMatchObject({
      state: "reversed",
      deductedCents: 2000,
    });
    expect(await card.balanceCents()).toBe(7500);
  });

  it("by a proxy before the service saw it can't be made any more", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const charge = await beginCharge(engine, newCart(2000), card);
    const before = shop.proxy.seen.length;
    shop.proxy.set("devalue", "deny", 1);
    await expect(engine.devalue(charge.reference)).rejects.toEqual(refusal("service_unavailable"));
    expect(await stateOf(charge)).toBe("refused");
    expect(operations(before)).toEqual(["devalue", "canceldevalue"]);
  });

  it("stays unknown if its key can't be resolved", async () => {
    const failures: unknown[] = [];
    const engine = shop.engine({ onFailure: (failure) => failures.push(failure) });
    const charge = await beginCharge(engine, newCart(2000), await shop.card(7500));
    shop.proxy.set("devalue", "deny-after", 1);
    shop.proxy.set("canceldevalue", "cut-before", 1);
    await expect(engine.devalue(charge.reference)).rejects.toEqual(refusal("outcome_unknown"));
    expect(await shop.journal.charge(charge.reference)).toMatchObject({
      ...{ state: "unknown", reason: "refusal_unproven" },
    });
    expect(failures).toMatchObject([{ code: "connection_lost" }]);
  });

  it("by a service without idempotency keys counts, with its cause", async () => {
    shop.proxy.withoutExtension(true);
    const engine = shop.engine();
    const card = await shop.card(7500);
    const charge = await beginCharge(engine, newCart(2000), card);
    await shop.service.command("card", "block", card.cardNumber);
    await expect(engine.devalue(charge.reference)).rejects.toEqual(refusal("card_blocked"));
    expect(await shop.journal.charge(charge.reference)).toMatchObject({
      state: "refused",
      reason: "card_blocked",
    });
  });
});

describe("a response to a devalue after recovery has marked it as unknown", () => {
  it("reverses the charge by its token, although the service can't resolve it by its key", async () => {
    shop.proxy.withoutExtension(true);
    const engine = shop.engine();
    const card = await shop.card(7500);
    const charge = await beginCharge(engine, newCart(2000), card);
    shop.proxy.set("devalue", "hold", 1);
    shop.proxy.set("canceldevalue", "cut-before", 2);
    const slow = engine.devalue(charge.reference).catch((error: unknown) => error);
    await expect.poll(() => devaluesOf(charge)).toBe(1);
    await letLeasesRunOut(shop.pool);
    await shop.engine().recover();
    expect(await shop.journal.charge(charge.reference)).toMatchObject({
      state: "unknown",
      lastError: "connection_lost",
    });
    await shop.proxy.release();
    expect(await slow).toEqual(refusal("payment_in_progress"));
    expect(await stateOf(charge)).toBe("reversing");
    await letLeasesRunOut(shop.pool);
    await shop.engine().recover();
    expect(await stateOf(charge)).toBe("reversed");
    expect(await card.balanceCents()).toBe(7500);
  });
});

describe("a reversal", () => {
  for (const fault of ["cut-before", "cut-after", "error", "garbage"] as const) {
    it(`(${fault}) stays owed until the service confirms it`, async () => {
      const engine = shop.engine();
      const card = await shop.card(7500);
      const charge = await beginCharge(engine, newCart(2000), card);
      await engine.devalue(charge.reference);
      await engine.commit(charge.reference, "completion", "order_2");
      shop.proxy.set("canceldevalue", fault, 1);
      expect((await engine.reverse(charge.reference, "order_canceled")).state).toBe("reversing");
      expect((await engine.recover()).map((a) => a.reference)).not.toContain(charge.reference);
      await letLeasesRunOut(shop.pool);
      expect((await shop.engine().recover()).map((a) => a.state)).toEqual(["reversed"]);
      expect(await card.balanceCents()).toBe(7500);
    });
  }

  it("of less than was taken needs a person", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const charge = await beginCharge(engine, newCart(2000), card);
    await engine.devalue(charge.reference);
    await shop.pool.query(
      "update giftcard_charge set amount_cents = 2100, deducted_cents = 2100 where reference = $1",
      [charge.reference],
    );
    expect(await engine.reverse(charge.reference, "test")).toMatchObject({
      state: "needs_attention",
      reason: "refund_differs",
    });
  });

  it("that races with the devalue's response is made", async () => {
    const card = await shop.card(7500);
    const first = shop.engine();
    const charge = await beginCharge(first, newCart(2000), card);
    await first.devalue(charge.reference);
    const write = (state: string) =>
      shop.pool.query("update giftcard_charge set state = $2 where reference = $1", [charge.reference, state]);
    await write("sent");
    let reads = 0;
    const journal = {
      ...shop.journal,
      async charge(reference: string) {
        reads += 1;
        if (reads === 1) await write("devalued");
        return shop.journal.charge(reference);
      },
    };
    const reversed = await shop.engine({ journal }).reverse(charge.reference, "order_canceled");
    expect([reads, reversed.state]).toEqual([1, "reversed"]);
    expect(await card.balanceCents()).toBe(7500);
  });

  it("is made once by ten concurrent calls", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const charge = await beginCharge(engine, newCart(2000), card);
    await engine.devalue(charge.reference);
    await Promise.all(Array.from({ length: 10 }, () => shop.engine().reverse(charge.reference, "test")));
    expect(await stateOf(charge)).toBe("reversed");
    expect(await card.balanceCents()).toBe(7500);
  });

  it("whose token was sealed for another charge needs a person, and the other charge is reversed", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const charge = await beginCharge(engine, newCart(2000), card);
    await engine.devalue(charge.reference);
    const other = await beginCharge(engine, newCart(2000), card);
    await shop.pool.query(
      "update giftcard_charge set sealed_token = (select sealed_token from giftcard_charge where reference = $1) where reference = $2",
      [charge.reference, other.reference],
    );
    await shop.pool.query("update giftcard_charge set state = 'devalued', deducted_cents = 2000 where reference = $1", [
      other.reference,
    ]);
    expect(await engine.reverse(other.reference, "test")).toMatchObject({
      state: "needs_attention",
      reason: "seal_broken",
    });
    expect((await engine.reverse(charge.reference, "test")).state).toBe("reversed");
  });
});

describe("after a crash", () => {
  it("an intent that was never sent is refused, and can't be sent any more", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const charge = await beginCharge(engine, newCart(2000), card);
    await letLeasesRunOut(shop.pool);
    await shop.engine().recover();
    expect(await stateOf(charge)).toBe("refused");
    await expect(engine.devalue(charge.reference)).rejects.toEqual(refusal("payment_in_progress"));
    expect(devaluesOf(charge)).toBe(0);
  });

  it("a devalue in transit is resolved by its key, even if it arrives late", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const cart = newCart(2000);
    const charge = await beginCharge(engine, cart, card);
    shop.proxy.set("devalue", "hold", 1);
    const frozen = engine.devalue(charge.reference).catch((error: unknown) => error);
    await expect.poll(() => devaluesOf(charge)).toBe(1);
    await letLeasesRunOut(shop.pool);
    await shop.engine().recover();
    expect(await stateOf(charge)).toBe("refused");
    await shop.proxy.release();
    expect(await frozen).toEqual(refusal("service_unavailable"));
    expect(await card.balanceCents()).toBe(7500);
  });

  it("a devalued charge without an order is reversed, and its completion can't commit it", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const charge = await beginCharge(engine, newCart(2000), card);
    await engine.devalue(charge.reference);
    expect(await shop.engine().recover()).toEqual([]);
    await letLeasesRunOut(shop.pool);
    await shop.engine().recover();
    expect(await stateOf(charge)).toBe("reversed");
    await expect(engine.commit(charge.reference, "completion", "order_3")).rejects.toEqual(
      refusal("payment_in_progress"),
    );
    expect(await card.balanceCents()).toBe(7500);
  });

  it("a devalued charge whose order was placed and paid is committed to it", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const charge = await beginCharge(engine, newCart(2000), card);
    await engine.devalue(charge.reference);
    await letLeasesRunOut(shop.pool);
    const asked: string[] = [];
    const orderOf = async ({ reference }: Charge) => {
      asked.push(reference);
      return "order_7";
    };
    expect(await engine.recover({ orderOf })).toMatchObject([
      { reference: charge.reference, state: "committed", orderId: "order_7" },
    ]);
    // Before and after recovery claims the charge.
    expect(asked).toEqual([charge.reference, charge.reference]);
    expect(await card.balanceCents()).toBe(5500);
  });

  it("a committed charge is not recovered", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const charge = await beginCharge(engine, newCart(2000), card);
    await engine.devalue(charge.reference);
    await engine.commit(charge.reference, "completion", "order_4");
    await letLeasesRunOut(shop.pool);
    expect(await shop.engine().recover()).toEqual([]);
    expect(await card.balanceCents()).toBe(5500);
    expect((await engine.commit(charge.reference, "completion", "order_4")).state).toBe("committed");
    await expect(engine.commit(charge.reference, "completion", "order_5")).rejects.toEqual(
      refusal("payment_in_progress"),
    );
  });

  it("two concurrent recoveries settle each charge once", async () => {
    const engine = shop.engine();
    const cards = await Promise.all(Array.from({ length: 4 }, () => shop.card(7500)));
    for (const card of cards) {
      const charge = await beginCharge(engine, newCart(2000), card);
      await engine.devalue(charge.reference);
    }
    await letLeasesRunOut(shop.pool);
    const ended = await Promise.all([shop.engine().recover(), shop.engine().recover(), shop.engine().recover()]);
    expect(ended.flat().map((a) => a.state)).toEqual(["reversed", "reversed", "reversed", "reversed"]);
    for (const card of cards) expect(await card.balanceCents()).toBe(7500);
  });

  it("nothing is sent to another service than the charge's", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const charge = await beginCharge(engine, newCart(2000), card);
    await engine.devalue(charge.reference);
    await letLeasesRunOut(shop.pool);
    const before = shop.proxy.seen.length;
    await shop.engine({ environment: "live" }).recover();
    expect(shop.proxy.seen).toHaveLength(before);
    expect(await shop.journal.charge(charge.reference)).toMatchObject({
      state: "needs_attention",
      reason: "service_not_configured",
    });
  });

  it("a card that was applied before the shop switched services isn't sent to the new one", async () => {
    const cart = newCart(2000);
    const card = await shop.card(7500);
    await shop.engine().apply(cart, { cardNumber: card.cardNumber, pin: card.pin });
    const before = shop.proxy.seen.length;
    const switched = shop.engine({ environment: "live" });
    const [part] = (await switched.plan(cart)).parts;
    await expect(beginOne(switched, cart, part as never, "session_switched", "completion")).rejects.toMatchObject({
      code: "applied_card_expired",
    });
    expect(shop.proxy.seen).toHaveLength(before);
  });
});

describe("the journal", () => {
  it("has no card number, PIN or token in plain text, and no card once a charge is settled", async () => {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const charge = await beginCharge(engine, newCart(2000), card);
    await engine.devalue(charge.reference);
    await engine.commit(charge.reference, "completion", "order_6");
    const { rows } = await shop.pool.query(
      "select (select json_agg(t) from giftcard_tender t)::text || (select json_agg(a) from giftcard_charge a)::text as all",
    );
    expect(rows[0].all).not.toContain(card.cardNumber);
    expect(rows[0].all).not.toContain(`"${card.pin}"`);
    expect((await shop.journal.charge(charge.reference))?.sealedCard).toBeNull();
    expect((await shop.journal.tender(charge.tenderId))?.sealedCard).not.toBeNull();
    await engine.capture(charge.externalId);
    expect(await shop.journal.tender(charge.tenderId)).toMatchObject({ state: "spent", sealedCard: null });
  });

  it("refuses a second open charge of a tender, by a constraint", async () => {
    const charge = await beginCharge(shop.engine(), newCart(2000), await shop.card(7500));
    await expect(
      shop.pool.query(
        `insert into giftcard_charge (reference, tender_id, cart_id, external_id, environment, base_url, company_id, state,
           last_four, amount_cents, balance_before_cents)
         values ('gc_second', $1, 'cart', 'x', 'live', 'http://x', 1, 'intent', '0000', 100, 100)`,
        [charge.tenderId],
      ),
    ).rejects.toMatchObject({ code: "23505" });
  });
});

describe("a charge that is voided after it was committed", () => {
  async function committed() {
    const engine = shop.engine();
    const card = await shop.card(7500);
    const cart = newCart(7498);
    const charge = await beginCharge(engine, cart, card);
    await engine.devalue(charge.reference);
    await engine.commit(charge.reference, "completion", "order_gone");
    expect((await engine.summary(cart)).cards).toEqual([]);
    return { engine, card, cart, reference: charge.reference };
  }

  it("puts the card back on the cart, with the shown balance, and removes the order from the charge", async () => {
    const { engine, card, cart, reference } = await committed();
    const voided = await engine.void(reference, { orderIsGone: true });
    expect(voided).toMatchObject({ state: "reversed", reason: "completion_failed", orderId: null });
    expect(await engine.void(reference, { orderIsGone: true })).toEqual(voided);
    expect(await engine.summary(cart)).toMatchObject({
      coveredCents: 5000,
      remainderCents: 2498,
      cards: [{ state: "applied", amountCents: 5000 }],
    });
    const [part] = (await engine.plan(cart)).parts;
    if (!part) throw new Error("the card is gone from the cart");
    const next = await beginOne(engine, cart, part, `session_again_${cart.id}`, "completion");
    await engine.devalue(next.reference);
    expect(await card.balanceCents()).toBe(2500);
    // A late void of the first charge doesn't change the second one.
    await engine.commit(next.reference, "completion", "order_placed");
    await engine.void(reference);
    expect((await engine.summary(cart)).cards).toEqual([]);
    expect((await engine.reverse(next.reference, "test")).state).toBe("reversed");
  });

  it("shows the card as settling while its reversal is owed", async () => {
    const { engine, card, cart, reference } = await committed();
    shop.proxy.set("canceldevalue", "cut-before");
    expect(await engine.void(reference)).toMatchObject({
      state: "reversing",
      orderId: "order_gone",
      tries: 1,
      lastError: "connection_lost",
    });
    expect((await engine.summary(cart)).cards).toMatchObject([{ state: "settling", amountCents: 0 }]);
    shop.proxy.clear();
    await engine.recoverCart(cart.id);
    expect((await engine.summary(cart)).cards).toMatchObject([{ state: "applied", amountCents: 5000 }]);
    expect(await shop.journal.charge(reference)).toMatchObject({ state: "reversed", lastError: null });
    expect(await card.balanceCents()).toBe(7500);
  });

  it("doesn't change a cart that has the same card again", async () => {
    const { engine, card, cart, reference } = await committed();
    await engine.apply(cart, card);
    expect((await engine.void(reference)).state).toBe("reversed");
    expect((await engine.summary(cart)).cards).toHaveLength(1);
    expect(await card.balanceCents()).toBe(7500);
  });
});
