import { createClient, type GiftcardClient, Secret } from "@giftcard-pay/client";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createEngine, createSealer, type Engine, type EngineOptions, LEAVE, type Sealer } from "../src/plugin.js";
import type { Charge, ChargeState } from "../src/store/index.js";
import { withRival } from "./rival.js";
import { beginCharge, beginOne, letLeasesRunOut, newCart, type Shop, sealingKeys, startShop } from "./shop.js";

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
const read = ({ reference }: Charge) => shop.journal.charge(reference);
const change = (set: string, { reference }: Charge) =>
  shop.pool.query(`update giftcard_charge set ${set} where reference = $1`, [reference]);

/** Makes a charge of 20.00 of a card with 75.00. */
async function takeCharge(engine: Engine = shop.engine(), orderId?: string) {
  const card = await shop.card(7500);
  const cart = newCart(2000);
  if (orderId === undefined) return { engine, card, cart, charge: await beginCharge(engine, cart, card) };
  await engine.apply(cart, card);
  const [part] = (await engine.plan(cart)).parts;
  if (!part) throw new Error("nothing is planned");
  return {
    engine,
    card,
    cart,
    charge: await beginOne(engine, cart, part, `run:${cart.id}`, "completion", { orderId }),
  };
}

async function devalued(engine?: Engine) {
  const all = await takeCharge(engine);
  await all.engine.devalue(all.charge.reference);
  return all;
}

/** Makes a charge whose devalue was made, but whose response was lost. */
async function unknown(engine?: Engine) {
  const all = await takeCharge(engine);
  shop.proxy.set("devalue", "cut-after", 1);
  shop.proxy.set("canceldevalue", "cut-before");
  await expect(all.engine.devalue(all.charge.reference)).rejects.toEqual(refusal("outcome_unknown"));
  shop.proxy.clear();
  return all;
}

/** Makes a charge that needs a person, because the service can't resolve it by its key. */
async function leftToPerson(engine?: Engine) {
  const all = await takeCharge(engine);
  shop.proxy.withoutExtension(true);
  shop.proxy.set("devalue", "cut-after", 1);
  await expect(all.engine.devalue(all.charge.reference)).rejects.toEqual(refusal("outcome_unknown"));
  return all;
}

async function recover(options: Partial<EngineOptions> = {}, orderOf?: () => Promise<string | typeof LEAVE>) {
  const failures: unknown[] = [];
  const onFailure = (failure: unknown) => failures.push(failure);
  await letLeasesRunOut(shop.pool);
  const [ended] = await shop.engine({ onFailure, ...options }).recover({ orderOf });
  return { ended, failures };
}

describe("a charge in another state", () => {
  const order = "order_1";
  /** Moves a charge of the order to each state. */
  const ways: Partial<Record<ChargeState, (engine: Engine, charge: Charge) => Promise<unknown>>> = {
    intent: async () => {},
    refused: (engine, { reference }) => engine.reverse(reference, "test"),
    reversed: async (engine, { reference }) => {
      await engine.devalue(reference);
      await engine.reverse(reference, "test");
    },
    reversing: async (engine, { reference }) => {
      await engine.devalue(reference);
      shop.proxy.set("canceldevalue", "cut-before");
      await engine.reverse(reference, "test");
    },
    unknown: async (engine, { reference }) => {
      shop.proxy.set("devalue", "cut-after", 1);
      shop.proxy.set("canceldevalue", "cut-before");
      await engine.devalue(reference).catch(() => {});
    },
    needs_attention: async (engine, { reference }) => {
      shop.proxy.withoutExtension(true);
      shop.proxy.set("devalue", "cut-after", 1);
      await engine.devalue(reference).catch(() => {});
    },
  };
  for (const [state, get] of Object.entries(ways)) {
    it(`(${state}) is neither sent, nor committed, nor captured`, async () => {
      const { engine, charge } = await takeCharge(shop.engine(), order);
      await get(engine, charge);
      const { reference } = charge;
      const asked: [string, () => Promise<unknown>][] = [
        ["commit", () => engine.commit(reference, "completion", order)],
        ["capture", () => engine.capture(charge.externalId)],
        ["devalue", () => shop.engine().devalue(reference)],
      ];
      for (const [what, ask] of asked) await expect(ask(), what).rejects.toEqual(refusal("payment_in_progress"));
      expect(await read(charge)).toMatchObject({ state, orderId: order });
    });
  }

  it("(devalued) is only committed by its owner, and isn't captured before", async () => {
    const { engine, charge } = await devalued();
    const { reference } = charge;
    await expect(engine.commit(reference, "other", order)).rejects.toEqual(refusal("payment_in_progress"));
    await expect(engine.capture(charge.externalId)).rejects.toEqual(refusal("payment_in_progress"));
    expect((await engine.commit(reference, "completion", order)).state).toBe("committed");
  });

  it("(captured) still belongs only to its order", async () => {
    const { engine, charge } = await devalued();
    const { reference } = charge;
    await engine.commit(reference, "completion", order);
    await engine.capture(charge.externalId);
    expect(await engine.commit(reference, "completion", order)).toMatchObject({ state: "captured" });
    await expect(engine.commit(reference, "completion", "order_2")).rejects.toEqual(refusal("payment_in_progress"));
  });

  it("that is unknown is refused by every method", async () => {
    const engine = shop.engine();
    const none = "gc_none";
    await expect(engine.devalue(none)).rejects.toEqual(refusal("payment_in_progress"));
    await expect(engine.commit(none, "completion", order)).rejects.toEqual(refusal("payment_in_progress"));
    await expect(engine.capture(none)).rejects.toEqual(refusal("payment_in_progress"));
    const named = expect.objectContaining({ name: "TypeError", message: "There is no charge gc_none." });
    await expect(engine.reverse(none, "test")).rejects.toEqual(named);
    await expect(engine.void(none)).rejects.toEqual(named);
  });
});

describe("a charge that is voided before it was sent", () => {
  it("took nothing, has a reason, and can't be sent any more", async () => {
    const { engine, charge, cart, card } = await takeCharge();
    expect(await engine.reverse(charge.reference, "order_canceled")).toMatchObject({
      ...{ state: "refused", reason: "order_canceled", sealedCard: null, leaseOwner: null },
    });
    expect((await engine.summary(cart)).cards).toMatchObject([{ state: "applied" }]);
    await expect(engine.devalue(charge.reference)).rejects.toEqual(refusal("payment_in_progress"));
    expect(await card.balanceCents()).toBe(7500);
  });
});

describe("a charge that is reversed only if it has no order", () => {
  it("stays, if its order is committed before the reversal is written", async () => {
    const { engine, charge, card, cart } = await devalued();
    await engine.commit(charge.reference, "completion", `order_${cart.id}`);
    const options = { from: ["devalued"] } as const;
    expect(await engine.reverse(charge.reference, "session_deleted", options)).toMatchObject({ state: "committed" });
    expect(await card.balanceCents()).toBe(5500);
  });

  it("is reversed, if nothing is committed, and can't be committed any more", async () => {
    const { engine, charge, card, cart } = await devalued();
    const options = { from: ["devalued"] } as const;
    expect(await engine.reverse(charge.reference, "session_deleted", options)).toMatchObject({ state: "reversed" });
    await expect(engine.commit(charge.reference, "completion", `order_${cart.id}`)).rejects.toEqual(
      refusal("payment_in_progress"),
    );
    expect(await card.balanceCents()).toBe(7500);
  });
});

describe("a charge that is canceled", () => {
  it("is reversed unless it is captured", async () => {
    const { engine, charge, card, cart } = await devalued();
    const { externalId } = await engine.commit(charge.reference, "completion", `order_${cart.id}`);
    await engine.capture(externalId);
    expect(await engine.cancel(externalId)).toMatchObject([{ state: "captured", reason: null }]);
    expect(await card.balanceCents()).toBe(5500);
    const open = await devalued();
    expect(await engine.cancel(open.charge.externalId)).toMatchObject([{ state: "reversed", reason: "canceled" }]);
    expect(await open.card.balanceCents()).toBe(7500);
  });

  it("while it is being captured is either canceled or captured, and its money matches", async () => {
    for (let round = 0; round < 10; round += 1) {
      const { engine, charge, card, cart } = await devalued();
      const { externalId } = await engine.commit(charge.reference, "completion", `order_${cart.id}`);
      const [captured, [canceled]] = await Promise.all([
        shop
          .engine()
          .capture(externalId)
          .then(([now]) => now?.state)
          .catch(({ code }) => code),
        engine.cancel(externalId),
      ]);
      const isCaptured = captured === "captured";
      expect([captured, canceled?.state]).toEqual(
        isCaptured ? ["captured", "captured"] : ["payment_in_progress", "reversed"],
      );
      expect(await card.balanceCents()).toBe(isCaptured ? 5500 : 7500);
    }
  });
});

describe("a reversal", () => {
  it("that a proxy refuses stays owed, with the cause", async () => {
    const { engine, charge, card } = await devalued();
    shop.proxy.set("canceldevalue", "deny", 1);
    expect(await engine.reverse(charge.reference, "order_canceled")).toMatchObject({
      ...{ state: "reversing", reason: "order_canceled", lastError: "unreadable_body", leaseOwner: null },
    });
    expect(await card.balanceCents()).toBe(5500);
    expect((await recover()).ended).toMatchObject({ state: "reversed", lastError: null });
    expect(await card.balanceCents()).toBe(7500);
  });

  it("of a token that the service doesn't know needs a person, with the cause", async () => {
    const { engine, charge } = await devalued();
    const { reference } = charge;
    const token = await createSealer({ keys: sealingKeys }).sealToken(new Secret("none"), reference);
    await change(`sealed_token = '${token}'`, charge);
    expect(await engine.reverse(reference, "order_canceled")).toMatchObject({
      ...{ state: "needs_attention", reason: "token_invalid" },
    });
  });

  it("is not tried by another process until its lease has run out", async () => {
    const { engine, charge, card } = await devalued();
    shop.proxy.set("canceldevalue", "hold", 1);
    const before = shop.proxy.seen.length;
    const slow = engine.reverse(charge.reference, "order_canceled");
    await expect.poll(() => shop.proxy.seen.length).toBe(before + 1);
    expect((await read(charge))?.leaseOwner).toEqual(expect.any(String));
    expect(await shop.engine().recover()).toEqual([]);
    expect(shop.proxy.seen).toHaveLength(before + 1);
    await shop.proxy.release();
    await slow;
    expect(await card.balanceCents()).toBe(7500);
  });

  it("that is made but can't be recorded is recorded later", async () => {
    const failure = Object.assign(new Error("no"), { code: "ECONNRESET" });
    const { charge, card } = await devalued();
    const { part: journal, before } = withRival(shop.journal);
    const fail = () => {
      throw failure;
    };
    before("move", fail, (_, move) => move.to === "reversed");
    await expect(shop.engine({ journal }).reverse(charge.reference, "test")).rejects.toBe(failure);
    expect(await read(charge)).toMatchObject({ state: "reversing", lastError: null, tries: 0 });
    expect((await recover()).ended).toMatchObject({ state: "reversed", deductedCents: 2000 });
    expect(await card.balanceCents()).toBe(7500);
  });
});

describe("a charge of another service", () => {
  /** Makes a client of the same service that looks like another service. */
  const clientOf = (other: { baseUrl?: string; companyId?: number }): GiftcardClient =>
    createClient({
      ...{ baseUrl: shop.proxy.url, companyId: Number(shop.client.companyId), apiKey: shop.apiKey },
      ...other,
    });
  const others: Record<string, () => Partial<EngineOptions>> = {
    environment: () => ({ environment: "live" }),
    address: () => ({ issuer: clientOf({ baseUrl: shop.proxy.url.replace("127.0.0.1", "localhost") }) }),
    company: () => ({ issuer: clientOf({ companyId: Number(shop.client.companyId) + 1 }) }),
  };

  for (const [what, options] of Object.entries(others)) {
    it(`(another ${what}) is not called, and the charge needs a person`, async () => {
      const [first, second] = [await devalued(), await unknown()];
      const before = shop.proxy.seen.length;
      await letLeasesRunOut(shop.pool);
      await shop.engine(options()).recover();
      expect(shop.proxy.seen).toHaveLength(before);
      for (const { charge } of [first, second])
        expect(await read(charge)).toMatchObject({
          ...{ state: "needs_attention", reason: "service_not_configured", leaseOwner: null },
        });
      // Once the service is configured again, a person retries it.
      for (const { charge, card } of [first, second]) {
        expect(await shop.engine().retry(charge.reference, "ada")).toMatchObject({ state: "reversed" });
        expect(await card.balanceCents()).toBe(7500);
      }
    });

    it(`(another ${what}) gets no card to read a balance as evidence`, async () => {
      const { charge } = await leftToPerson();
      const before = shop.proxy.seen.length;
      await shop.engine(options()).retry(charge.reference, "ada");
      expect(shop.proxy.seen).toHaveLength(before);
      expect(await read(charge)).toMatchObject({ state: "needs_attention", balanceAfterCents: 5500 });
    });
  }
});

describe("an unknown outcome", () => {
  it("is resolved by its key, without looking for its order", async () => {
    for (const answer of ["order_1", LEAVE] as const) {
      const { card } = await unknown();
      expect((await recover({}, async () => answer)).ended).toMatchObject({
        ...{ state: "reversed", orderId: null, deductedCents: 2000 },
      });
      expect(await card.balanceCents()).toBe(7500);
    }
  });

  it("stores what was taken, although the answer to its reversal was lost too", async () => {
    const { charge, card } = await unknown();
    shop.proxy.set("canceldevalue", "cut-after", 1);
    expect((await recover()).ended).toMatchObject({ state: "unknown", deductedCents: null });
    expect(await card.balanceCents()).toBe(7500);
    expect((await recover()).ended).toMatchObject({ state: "reversed", deductedCents: charge.amountCents });
    expect(await card.balanceCents()).toBe(7500);
  });

  it("stays unknown while the service's response can't be read", async () => {
    const { charge, card } = await unknown();
    expect(await read(charge)).toMatchObject({ reason: "connection_lost", lastError: "connection_lost" });
    shop.proxy.set("canceldevalue", "garbage", 1);
    expect((await recover()).ended).toMatchObject({ state: "unknown", lastError: "unreadable_answer" });
    expect((await recover()).ended).toMatchObject({ state: "reversed" });
    expect(await card.balanceCents()).toBe(7500);
  });

  it("stores no amount if more was reversed than requested", async () => {
    const { charge, card } = await unknown();
    await change("amount_cents = 1000", charge);
    const { ended, failures } = await recover();
    expect(ended).toMatchObject({ state: "reversed", deductedCents: null });
    expect(failures).toEqual([]);
    expect(await card.balanceCents()).toBe(7500);
  });

  it("that can't be recorded is reported, delayed, and not leased", async () => {
    const { part: journal, before } = withRival(shop.journal);
    const failure = new Error("no");
    const fail = () => {
      throw failure;
    };
    before("move", fail, (_, move) => move.to === "reversed");
    const { charge, card } = await unknown();
    const { ended, failures } = await recover({ journal });
    expect(failures).toEqual([failure]);
    expect(ended).toMatchObject({ state: "unknown", lastError: "internal", leaseOwner: null });
    expect(await read(charge)).toEqual(ended);
    expect((await recover()).ended).toMatchObject({ state: "reversed", lastError: null });
    expect(await card.balanceCents()).toBe(7500);
  });

  it("that another process resolves while it fails here isn't delayed", async () => {
    const { part: journal, before } = withRival(shop.journal);
    before(
      "move",
      async () => {
        await recover();
        throw new Error("no");
      },
      (_, move) => move.to === "reversed",
    );
    const { charge, card } = await unknown();
    const { ended } = await recover({ journal });
    expect(ended).toMatchObject({ state: "reversed", lastError: null, tries: 1 });
    expect(await read(charge)).toEqual(ended);
    expect(await card.balanceCents()).toBe(7500);
  });
});

describe("the evidence of an unknown outcome", () => {
  it("is missing if the balance can't be read, and is read when a person retries", async () => {
    shop.proxy.set("balance", "cut-before", Number.POSITIVE_INFINITY, 1);
    const { charge } = await leftToPerson();
    expect(await read(charge)).toMatchObject({
      ...{ state: "needs_attention", reason: "outcome_unknown" },
      ...{ balanceAfterCents: null, balanceAfterAt: null },
    });
    shop.proxy.clear();
    const again = await shop.engine().retry(charge.reference, "ada");
    expect(again).toMatchObject({ state: "needs_attention", balanceAfterCents: 5500 });
    // A balance that was read is kept if it can't be read again.
    shop.proxy.set("balance", "cut-before");
    expect(await shop.engine().retry(charge.reference, "ada")).toMatchObject({
      ...{ state: "needs_attention", balanceAfterCents: 5500, balanceAfterAt: again?.balanceAfterAt },
    });
  });

  it("is missing if the card was deleted, or its seal is broken", async () => {
    for (const set of ["sealed_card = null", "sealed_card = 'torn'"]) {
      const { charge } = await leftToPerson();
      await change(`state = 'unknown', balance_after_cents = null, ${set}`, charge);
      expect((await recover()).ended, set).toMatchObject({
        ...{ state: "needs_attention", reason: "outcome_unknown", balanceAfterCents: null },
      });
    }
  });

  it("is read later if the shop's own seals fail, and needs no person before", async () => {
    const { charge } = await leftToPerson();
    await change("state = 'unknown', balance_after_cents = null", charge);
    const failure = Object.assign(new Error("no"), { code: "KEYS_AWAY" });
    const { ended, failures } = await recover({ sealer: failing("openChargeCard", failure) });
    expect(failures).toEqual([failure]);
    expect(ended).toMatchObject({ state: "unknown", lastError: "KEYS_AWAY", leaseOwner: null });
    expect((await recover()).ended).toMatchObject({ state: "needs_attention", balanceAfterCents: 5500 });
  });
});

/** Makes a sealer with one failing function, as with keys in an external service. */
function failing(kind: keyof Sealer, failure: unknown): Sealer {
  const fail = async () => {
    throw failure;
  };
  return { ...createSealer({ keys: sealingKeys }), [kind]: fail };
}

describe("a charge that can't be begun because of the shop's seals", () => {
  it("leaves the card on the cart, and throws the error", async () => {
    const engine = shop.engine();
    const cart = newCart(2000);
    await engine.apply(cart, await shop.card(7500));
    const [part] = (await engine.plan(cart)).parts;
    if (!part) throw new Error("nothing is planned");
    const begin = (sealer?: Sealer) =>
      beginOne(shop.engine(sealer && { sealer }), cart, part, `session_${cart.id}`, "completion");
    const failure = new Error("no");
    await expect(begin(failing("openTenderCard", failure))).rejects.toBe(failure);
    const otherKey = createSealer({ keys: [{ id: "other", key: Buffer.alloc(32, 9).toString("base64") }] });
    await expect(begin(otherKey)).rejects.toMatchObject({ name: "SealError", fault: "unknown_key" });
    expect((await engine.summary(cart)).cards).toMatchObject([{ state: "applied" }]);
    expect((await begin()).state).toBe("intent");
  });
});

describe("a devalue that fails in the shop's own process", () => {
  it("throws that error, and recovery resolves it by its key", async () => {
    const failure = new RangeError("no memory");
    const devalue = async () => {
      throw failure;
    };
    const { engine, charge, card } = await takeCharge(shop.engine({ issuer: { ...shop.client, devalue } }));
    await expect(engine.devalue(charge.reference)).rejects.toBe(failure);
    expect((await read(charge))?.state).toBe("sent");
    expect((await recover()).ended).toMatchObject({ state: "refused", reason: "interrupted" });
    expect(await card.balanceCents()).toBe(7500);
  });
});

describe("an engine", () => {
  it("needs a company id", () => {
    const client = { ...shop.client, companyId: undefined } as GiftcardClient;
    const { journal } = shop;
    const sealer = createSealer({ keys: sealingKeys });
    expect(() => createEngine({ issuer: client, journal, sealer })).toThrow(
      new TypeError("The issuer needs a companyId."),
    );
  });
});
