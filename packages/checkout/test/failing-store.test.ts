import { cents, type GiftcardClient } from "@giftcard-pay/client";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createSqlJournal, type EngineOptions, type Sql } from "../src/plugin.js";
import type { Charge } from "../src/store/index.js";
import { beginCharge, letLeasesRunOut, newCart, type Shop, startShop } from "./shop.js";

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
});
beforeEach(() => shop.proxy.clear());
afterAll(() => shop.stop());

const refusal = (code: string) => expect.objectContaining({ name: "CheckoutError", code });
const lost = new Error("Connection terminated unexpectedly");

/** Makes a journal that can fail to write charges. */
function newWay(options: Partial<EngineOptions> = {}) {
  const fault = { left: 0, isAnswerLost: false };
  const sql: Sql = async (text, params) => {
    const isHit = text.includes("update giftcard_charge") && params[1] !== "sent" && fault.left > 0;
    if (isHit) fault.left -= 1;
    if (isHit && !fault.isAnswerLost) throw lost;
    const { rows } = await shop.pool.query(text, params);
    if (isHit) throw lost;
    return rows;
  };
  const failures: unknown[] = [];
  const onFailure = (failure: unknown) => failures.push(failure);
  return { fault, failures, engine: shop.engine({ journal: createSqlJournal(sql), onFailure, ...options }) };
}

async function begin(options?: Partial<EngineOptions>) {
  const card = await shop.card(7500);
  const way = newWay(options);
  const charge = await beginCharge(way.engine, newCart(7498), card);
  return { ...way, card, charge };
}

const read = async ({ reference }: Charge) => shop.journal.charge(reference);

describe("a database that fails while a devalue's response is recorded", () => {
  it("for a moment changes nothing", async () => {
    const { engine, fault, charge, card } = await begin();
    fault.left = 2;
    expect((await engine.devalue(charge.reference)).state).toBe("devalued");
    await engine.commit(charge.reference, "completion", "order_1");
    expect(await card.balanceCents()).toBe(2500);
  });

  it("after writing it changes nothing", async () => {
    const { engine, fault, charge, card } = await begin();
    Object.assign(fault, { left: 1, isAnswerLost: true });
    expect((await engine.devalue(charge.reference)).state).toBe("devalued");
    await engine.commit(charge.reference, "completion", "order_1");
    expect(await card.balanceCents()).toBe(2500);
  });

  for (const extension of ["with", "without"]) {
    it(`for longer has the card reversed at once, ${extension} resolving by key`, async () => {
      const { engine, fault, charge, card } = await begin();
      shop.proxy.withoutExtension(extension === "without");
      fault.left = Number.POSITIVE_INFINITY;
      await expect(engine.devalue(charge.reference)).rejects.toBe(lost);
      expect(await card.balanceCents()).toBe(7500);
      expect((await read(charge))?.state).toBe("sent");
      fault.left = 0;
      // A void of the completion in this process writes it first.
      expect(await engine.void(charge.reference)).toMatchObject({
        ...{ state: "reversed", reason: "not_written", deductedCents: 5000 },
      });
      expect(await card.balanceCents()).toBe(7500);
    });

    it(`for longer, with other processes that don't know the token, ${extension} resolving by key`, async () => {
      const { engine, fault, charge, card } = await begin();
      shop.proxy.withoutExtension(extension === "without");
      fault.left = Number.POSITIVE_INFINITY;
      await expect(engine.devalue(charge.reference)).rejects.toBe(lost);
      await engine.recover();
      await letLeasesRunOut(shop.pool);
      await shop.engine().recover();
      expect((await read(charge))?.state).toBe(extension === "with" ? "reversed" : "needs_attention");
      fault.left = 0;
      await engine.recover();
      expect((await read(charge))?.state).toBe("reversed");
      expect(await card.balanceCents()).toBe(7500);
    });
  }

  it("while the service fails too throws outcome_unknown, and the charge is reversed later", async () => {
    const { engine, fault, failures, charge, card } = await begin();
    shop.proxy.withoutExtension(true);
    shop.proxy.set("canceldevalue", "cut-before");
    fault.left = Number.POSITIVE_INFINITY;
    await expect(engine.devalue(charge.reference)).rejects.toEqual(refusal("outcome_unknown"));
    expect(failures).toContain(lost);
    expect(await card.balanceCents()).toBe(2500);
    fault.left = 0;
    shop.proxy.clear();
    shop.proxy.withoutExtension(true);
    const [ended] = await engine.recover();
    expect(ended).toMatchObject({ state: "reversed", deductedCents: 5000 });
    expect(await card.balanceCents()).toBe(7500);
  });

  it("while a proxy refuses the reversal leaves it owed", async () => {
    const { engine, fault, charge, card } = await begin();
    shop.proxy.set("canceldevalue", "deny", 1);
    fault.left = Number.POSITIVE_INFINITY;
    await expect(engine.devalue(charge.reference)).rejects.toEqual(refusal("outcome_unknown"));
    expect(await card.balanceCents()).toBe(2500);
    fault.left = 0;
    await engine.recover();
    expect(await read(charge)).toMatchObject({
      ...{ state: "reversed", reason: "not_written", deductedCents: 5000 },
    });
    expect(await card.balanceCents()).toBe(7500);
  });

  it("has the charge reversed if the service has reversed it before", async () => {
    const cancelDevalue: GiftcardClient["cancelDevalue"] = async (request) => {
      await shop.client.cancelDevalue(request);
      return shop.client.cancelDevalue(request);
    };
    const { engine, fault, charge, card } = await begin({ issuer: { ...shop.client, cancelDevalue } });
    fault.left = Number.POSITIVE_INFINITY;
    await expect(engine.devalue(charge.reference)).rejects.toBe(lost);
    fault.left = 0;
    await engine.recover();
    expect(await read(charge)).toMatchObject({ state: "reversed", reason: "not_written" });
    expect(await card.balanceCents()).toBe(7500);
  });

  it("leaves the charge to a person if another amount was reversed", async () => {
    const cancelDevalue: GiftcardClient["cancelDevalue"] = async (request) => {
      const answer = await shop.client.cancelDevalue(request);
      return { ...answer, refundedCents: cents(answer.refundedCents - 1) };
    };
    const { engine, fault, failures, charge } = await begin({ issuer: { ...shop.client, cancelDevalue } });
    fault.left = Number.POSITIVE_INFINITY;
    await expect(engine.devalue(charge.reference)).rejects.toEqual(refusal("outcome_unknown"));
    expect(failures).toEqual([lost]);
    fault.left = 0;
    await engine.recover();
    expect(await read(charge)).toMatchObject({
      ...{ state: "needs_attention", reason: "refund_differs", deductedCents: 5000 },
    });
  });

  it("after the response was lost throws outcome_unknown, and recovery resolves it", async () => {
    const { engine, fault, failures, charge, card } = await begin();
    shop.proxy.set("devalue", "cut-after", 1);
    fault.left = Number.POSITIVE_INFINITY;
    await expect(engine.devalue(charge.reference)).rejects.toEqual(refusal("outcome_unknown"));
    expect(failures).toEqual([expect.objectContaining({ code: "connection_lost" }), lost]);
    expect((await read(charge))?.state).toBe("sent");
    fault.left = 0;
    await letLeasesRunOut(shop.pool);
    await engine.recover();
    expect(await read(charge)).toMatchObject({ state: "reversed", reason: "interrupted" });
    expect(await card.balanceCents()).toBe(7500);
  });

  it("keeps the service's refusal, and reports the failure", async () => {
    const { engine, fault, failures, charge, card } = await begin();
    await shop.service.command("card", "block", card.cardNumber);
    fault.left = Number.POSITIVE_INFINITY;
    await expect(engine.devalue(charge.reference)).rejects.toEqual(refusal("card_blocked"));
    expect(failures).toEqual([lost]);
    fault.left = 0;
    await engine.recover();
    expect(await read(charge)).toMatchObject({ state: "refused", reason: "card_blocked" });
  });
});
