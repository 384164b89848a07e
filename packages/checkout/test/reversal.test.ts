import { createClient, type GiftcardClient, Secret } from "@giftcard-pay/client";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  createEngine,
  createSealer,
  type Engine,
  type EngineOptions,
  LEAVE,
  type Sealer,
} from "../src/plugin.js";
import type { Charge, ChargeState } from "../src/store/index.js";
import { withRival } from "./rival.js";
import {
  beginCharge,
  beginOne,
  letLeasesRunOut,
  newCart,
  type Shop,
  sealingKeys,
  startShop,
} from "./shop.js";

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

/** A charge of 20.00 of a card with 75.00. */
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
    charge: await beginOne(engine, cart, part, `run:${cart.id}`, "completion", orderId),
  };
}

async function devalued(engine?: Engine) {
  const all = await takeCharge(engine);
  await all.engine.devalue(all.charge.reference);
  return all;
}

/** One whose devalue was done, and its answer lost. */
async function unknown(engine?: Engine) {
  const all = await takeCharge(engine);
  shop.proxy.set("devalue", "cut-after", 1);
  shop.proxy.set("canceldevalue", "cut-before");
  await expect(all.engine.devalue(all.charge.reference)).rejects.toEqual(refusal("outcome_unknown"));
  shop.proxy.clear();
  return all;
}

/** One that only a person can end, since the service can't by its key. */
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
  /** Each state, and how a charge that was begun for the order gets there. */
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
    it(`(${state}) is neither sent, nor given to its order, nor captured`, async () => {
      const { engine, charge } = await takeCharge(shop.engine(), order);
      await get(engine, charge);
      const { reference } = charge;
      const asked: [string, () => Promise<unknown>][] = [
        ["commit", () => engine.commit(reference, "completion", order)],
        ["capture", () => engine.capture(charge.externalId)],
        ["devalue", () => shop.engine().devalue(reference)],
      ];
      for (const [what, ask] of asked)
        await expect(ask(), what).rejects.toEqual(refusal("payment_in_progress"));
      expect(await read(charge)).toMatchObject({ state, orderId: order });
    });
  }

  it("(devalued) is given to its order by its owner alone, and isn't captured before", async () => {
    const { engine, charge } = await devalued();
    const { reference } = charge;
    await expect(engine.commit(reference, "other", order)).rejects.toEqual(refusal("payment_in_progress"));
    await expect(engine.capture(charge.externalId)).rejects.toEqual(refusal("payment_in_progress"));
    expect((await engine.commit(reference, "completion", order)).state).toBe("committed");
  });

  it("(captured) is still its order's, and no other's", async () => {
    const { engine, charge } = await devalued();
    const { reference } = charge;
    await engine.commit(reference, "completion", order);
    await engine.capture(charge.externalId);
    expect(await engine.commit(reference, "completion", order)).toMatchObject({ state: "captured" });
    await expect(engine.commit(reference, "completion", "order_2")).rejects.toEqual(
      refusal("payment_in_progress"),
    );
  });

  it("that nobody knows is refused, whatever is asked", async () => {
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
  it("took nothing, says why, and can't be sent any more", async () => {
    const { engine, charge, cart, card } = await takeCharge();
    expect(await engine.reverse(charge.reference, "order_canceled")).toMatchObject({
      ...{ state: "refused", reason: "order_canceled", sealedCard: null, leaseOwner: null },
    });
    expect((await engine.summary(cart)).cards).toMatchObject([{ state: "applied" }]);
    await expect(engine.devalue(charge.reference)).rejects.toEqual(refusal("payment_in_progress"));
    expect(await card.balanceCents()).toBe(7500);
  });
});

describe("a charge that is canceled", () => {
  it("is reversed where it isn't captured, and stays where it is", async () => {
    const { engine, charge, card, cart } = await devalued();
    const { externalId } = await engine.commit(charge.reference, "completion", `order_${cart.id}`);
    await engine.capture(externalId);
    expect(await engine.cancel(externalId)).toMatchObject([{ state: "captured", reason: null }]);
    expect(await card.balanceCents()).toBe(5500);
    const open = await devalued();
    expect(await engine.cancel(open.charge.externalId)).toMatchObject([
      { state: "reversed", reason: "canceled" },
    ]);
    expect(await open.card.balanceCents()).toBe(7500);
  });

  it("while it is captured is one of both, and its money is where that says", async () => {
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
  it("that something refuses stays owed, with the cause", async () => {
    const { engine, charge, card } = await devalued();
    shop.proxy.set("canceldevalue", "deny", 1);
    expect(await engine.reverse(charge.reference, "order_canceled")).toMatchObject({
      ...{ state: "reversing", reason: "order_canceled", lastError: "unreadable_body", leaseOwner: null },
    });
    expect(await card.balanceCents()).toBe(5500);
    expect((await recover()).ended).toMatchObject({ state: "reversed", lastError: null });
    expect(await card.balanceCents()).toBe(7500);
  });

  it("of a token that the service doesn't know goes to a person, with the cause", async () => {
    const { engine, charge } = await devalued();
    const { reference } = charge;
    const token = await createSealer({ keys: sealingKeys }).sealToken(new Secret("none"), reference);
    await change(`sealed_token = '${token}'`, charge);
    expect(await engine.reverse(reference, "order_canceled")).toMatchObject({
      ...{ state: "needs_attention", reason: "token_invalid" },
    });
  });

  it("under way is nobody else's to try, until its lease has run out", async () => {
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

  it("that is done, though it can't be written down, is written down later", async () => {
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
  /** A client of the same service, as if it were another one's. */
  const clientOf = (other: { baseUrl?: string; companyId?: number }): GiftcardClient =>
    createClient({
      ...{ baseUrl: shop.proxy.url, companyId: Number(shop.client.companyId), apiKey: shop.apiKey },
      ...other,
    });
  const others: Record<string, () => Partial<EngineOptions>> = {
    environment: () => ({ environment: "live" }),
    address: () => ({ client: clientOf({ baseUrl: shop.proxy.url.replace("127.0.0.1", "localhost") }) }),
    company: () => ({ client: clientOf({ companyId: Number(shop.client.companyId) + 1 }) }),
  };

  for (const [what, options] of Object.entries(others)) {
    it(`(another ${what}) is asked nothing about, and a person is`, async () => {
      const [first, second] = [await devalued(), await unknown()];
      const before = shop.proxy.seen.length;
      await letLeasesRunOut(shop.pool);
      await shop.engine(options()).recover();
      expect(shop.proxy.seen).toHaveLength(before);
      for (const { charge } of [first, second])
        expect(await read(charge)).toMatchObject({
          ...{ state: "needs_attention", reason: "service_not_configured", leaseOwner: null },
        });
      // Once the service is configured again, a person has it tried.
      for (const { charge, card } of [first, second]) {
        expect(await shop.engine().retry(charge.reference, "ada")).toMatchObject({ state: "reversed" });
        expect(await card.balanceCents()).toBe(7500);
      }
    });

    it(`(another ${what}) sends it no card for a person's evidence`, async () => {
      const { charge } = await leftToPerson();
      const before = shop.proxy.seen.length;
      await shop.engine(options()).retry(charge.reference, "ada");
      expect(shop.proxy.seen).toHaveLength(before);
      expect(await read(charge)).toMatchObject({ state: "needs_attention", balanceAfterCents: 5500 });
    });
  }
});

describe("an unknown outcome", () => {
  it("is ended by its key alone: nobody is asked for its order", async () => {
    for (const answer of ["order_1", LEAVE] as const) {
      const { card } = await unknown();
      expect((await recover({}, async () => answer)).ended).toMatchObject({
        ...{ state: "reversed", orderId: null, deductedCents: 2000 },
      });
      expect(await card.balanceCents()).toBe(7500);
    }
  });

  it("stays unknown while the service's answer can't be read", async () => {
    const { charge, card } = await unknown();
    expect(await read(charge)).toMatchObject({ reason: "connection_lost", lastError: "connection_lost" });
    shop.proxy.set("canceldevalue", "garbage", 1);
    expect((await recover()).ended).toMatchObject({ state: "unknown", lastError: "unreadable_answer" });
    expect((await recover()).ended).toMatchObject({ state: "reversed" });
    expect(await card.balanceCents()).toBe(7500);
  });

  it("by which more came back than was asked for claims no amount", async () => {
    const { charge, card } = await unknown();
    await change("amount_cents = 1000", charge);
    const { ended, failures } = await recover();
    expect(ended).toMatchObject({ state: "reversed", deductedCents: null });
    expect(failures).toEqual([]);
    expect(await card.balanceCents()).toBe(7500);
  });

  it("that can't be written down is told of, put off, and nobody holds it", async () => {
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

  it("that somebody else ends while it fails here isn't put off", async () => {
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
  it("is nothing where the balance can't be read, and is read when a person asks again", async () => {
    shop.proxy.set("balance", "cut-before", Number.POSITIVE_INFINITY, 1);
    const { charge } = await leftToPerson();
    expect(await read(charge)).toMatchObject({
      ...{ state: "needs_attention", reason: "outcome_unknown" },
      ...{ balanceAfterCents: null, balanceAfterAt: null },
    });
    shop.proxy.clear();
    const again = await shop.engine().retry(charge.reference, "ada");
    expect(again).toMatchObject({ state: "needs_attention", balanceAfterCents: 5500 });
    // What was read once stays, where it can't be read any more.
    shop.proxy.set("balance", "cut-before");
    expect(await shop.engine().retry(charge.reference, "ada")).toMatchObject({
      ...{ state: "needs_attention", balanceAfterCents: 5500, balanceAfterAt: again?.balanceAfterAt },
    });
  });

  it("is nothing where the card was forgotten, or its seal is broken", async () => {
    for (const set of ["sealed_card = null", "sealed_card = 'torn'"]) {
      const { charge } = await leftToPerson();
      await change(`state = 'unknown', balance_after_cents = null, ${set}`, charge);
      expect((await recover()).ended, set).toMatchObject({
        ...{ state: "needs_attention", reason: "outcome_unknown", balanceAfterCents: null },
      });
    }
  });

  it("is read later where the shop's own seals fail, and no person is asked before", async () => {
    const { charge } = await leftToPerson();
    await change("state = 'unknown', balance_after_cents = null", charge);
    const failure = Object.assign(new Error("no"), { code: "KEYS_AWAY" });
    const { ended, failures } = await recover({ sealer: failing("openChargeCard", failure) });
    expect(failures).toEqual([failure]);
    expect(ended).toMatchObject({ state: "unknown", lastError: "KEYS_AWAY", leaseOwner: null });
    expect((await recover()).ended).toMatchObject({ state: "needs_attention", balanceAfterCents: 5500 });
  });
});

/** The shop's seals, of which one kind can't be made or opened now, as where its keys are kept elsewhere. */
function failing(kind: keyof Sealer, failure: unknown): Sealer {
  const fail = async () => {
    throw failure;
  };
  return { ...createSealer({ keys: sealingKeys }), [kind]: fail };
}

describe("a charge that can't be begun because of the shop's seals", () => {
  it("leaves the card on the cart, and says what failed", async () => {
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
  it("is thrown as it is, and recovery ends it by its key", async () => {
    const failure = new RangeError("no memory");
    const devalue = async () => {
      throw failure;
    };
    const { engine, charge, card } = await takeCharge(shop.engine({ client: { ...shop.client, devalue } }));
    await expect(engine.devalue(charge.reference)).rejects.toBe(failure);
    expect((await read(charge))?.state).toBe("sent");
    expect((await recover()).ended).toMatchObject({ state: "refused", reason: "interrupted" });
    expect(await card.balanceCents()).toBe(7500);
  });
});

describe("an engine", () => {
  it("needs to know whose cards it charges", () => {
    const client = { ...shop.client, companyId: undefined } as GiftcardClient;
    const { journal } = shop;
    const sealer = createSealer({ keys: sealingKeys });
    expect(() => createEngine({ client, journal, sealer })).toThrow(
      new TypeError("The gift card client needs a companyId."),
    );
  });
});
