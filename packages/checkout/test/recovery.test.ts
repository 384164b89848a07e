import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type Engine, LEAVE, type RecoverOptions } from "../src/plugin.js";
import type { Charge } from "../src/store/index.js";
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
afterEach(() => vi.restoreAllMocks());
afterAll(() => shop.stop());

const stateOf = async ({ reference }: Charge) => (await shop.journal.charge(reference))?.state;

/** Makes charges of dead completions, in the order in which recovery visits them. */
async function dead(count: number, engine: Engine = shop.engine()): Promise<Charge[]> {
  const charges: Charge[] = [];
  for (let i = 0; i < count; i++) {
    const charge = await beginCharge(engine, newCart(2000), await shop.card(7500));
    charges.push(await engine.devalue(charge.reference));
  }
  await letLeasesRunOut(shop.pool);
  return charges.sort((a, b) => (a.reference < b.reference ? -1 : 1));
}

type OrderOf = NonNullable<RecoverOptions["orderOf"]>;

describe("recovery", () => {
  const failure = Object.assign(new Error("the shop's own database"), { code: "ECONNRESET" });
  const failing: Record<string, () => unknown> = {
    "throws at once": () => {
      throw failure;
    },
    rejects: () => Promise.reject(failure),
  };
  for (const [how, fail] of Object.entries(failing)) {
    it(`settles the others if the shop's result for one ${how}`, async () => {
      const [first, second] = (await dead(2)) as [Charge, Charge];
      const failures: unknown[] = [];
      const engine = shop.engine({ onFailure: (heard) => failures.push(heard) });
      const orderOf = (({ reference }) => (reference === first.reference ? fail() : null)) as OrderOf;
      const ended = await engine.recover({ orderOf });
      expect(ended).toMatchObject([{ state: "devalued", tries: 1, lastError: "ECONNRESET" }, { state: "reversed" }]);
      expect(ended[1]?.reference).toBe(second.reference);
      expect(failures).toEqual([failure]);
      // It is retried later, and still belongs to its completion until then.
      expect(await engine.recover({ orderOf })).toEqual([]);
      expect((await shop.journal.charge(first.reference))?.leaseOwner).toBe("completion");
      await letLeasesRunOut(shop.pool);
      expect(await engine.recover()).toMatchObject([{ state: "reversed", lastError: null }]);
    });
  }

  it("accepts a result that isn't a promise", async () => {
    await dead(1);
    const ended = await shop.engine().recover({ orderOf: (() => "order_1") as never });
    expect(ended).toMatchObject([{ state: "committed", orderId: "order_1" }]);
  });

  it("skips charges that another part decides, and continues after a row that can't be changed", async () => {
    const [left, broken, last] = (await dead(3)) as [Charge, Charge, Charge];
    const failures: unknown[] = [];
    const engine = shop.engine({ onFailure: (heard) => failures.push(heard) });
    await shop.pool.query(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no' using errcode = 'GC001'; end $$`,
    );
    await shop.pool.query(
      `create trigger refuse before update on giftcard_charge for each row
       when (old.reference = '${broken.reference}') execute function refuse()`,
    );
    const orderOf: OrderOf = async ({ reference }) => (reference === left.reference ? LEAVE : null);
    await engine.recover({ orderOf });
    await shop.pool.query("drop trigger refuse on giftcard_charge");
    await shop.pool.query("drop function refuse");
    expect(await stateOf(last)).toBe("reversed");
    expect(failures).toMatchObject([{ code: "GC001" }, { code: "GC001" }]);
    expect(await shop.journal.charge(left.reference)).toMatchObject({
      state: "devalued",
      leaseOwner: "completion",
      tries: 0,
    });
    // The part that decides about it still has the lease.
    await shop.engine().recoverCart(left.cartId, { orderOf });
    expect((await shop.engine().commit(left.reference, "completion", "order_2")).state).toBe("committed");
  });

  it("settles all due charges in one run, or up to the limit", async () => {
    const charges = await dead(4);
    expect(await shop.engine().recover({ limit: 1 })).toHaveLength(1);
    expect(await shop.engine().recover()).toHaveLength(3);
    for (const charge of charges) expect(await stateOf(charge)).toBe("reversed");
  });
});

describe("an observer that fails", () => {
  const failure = Object.assign(new Error("card 1234567890123456789"), { code: "EPIPE" });
  const failing: Record<string, () => unknown> = {
    "at once": () => {
      throw failure;
    },
    later: () => Promise.reject(failure),
  };
  for (const [when, observer] of Object.entries(failing)) {
    it(`${when} doesn't affect the flow, and is reported`, async () => {
      const failures: unknown[] = [];
      const onFailure = (heard: unknown) => {
        failures.push(heard);
        return observer();
      };
      const engine = shop.engine({ onChange: observer, onTender: observer, onFailure });
      const card = await shop.card(7500);
      const charge = await beginCharge(engine, newCart(2000), card);
      await engine.devalue(charge.reference);
      expect((await engine.commit(charge.reference, "completion", "order_1")).state).toBe("committed");
      expect((await engine.reverse(charge.reference, "order_canceled")).state).toBe("reversed");
      expect(await card.balanceCents()).toBe(7500);
      // Applied, begun, sent, devalued, committed, reversing, reversed.
      await expect.poll(() => failures.length).toBe(7);
      expect(new Set(failures)).toEqual(new Set([failure]));
    });
  }

  it("is logged with its name and code, and nothing else", async () => {
    const lines: unknown[][] = [];
    vi.spyOn(console, "error").mockImplementation((...line) => lines.push(line));
    const engine = shop.engine({ onTender: () => Promise.reject(failure) });
    await engine.apply(newCart(2000), await shop.card(500));
    await expect.poll(() => lines).toEqual([["giftcard-pay: Error EPIPE"]]);
  });
});
