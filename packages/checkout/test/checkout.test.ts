import { randomUUID } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { testDatabase } from "../../../test/support/test-database.js";
import {
  type Checkout,
  type CheckoutOptions,
  type CheckoutStore,
  createCheckout,
  createPostgresStore,
  type RemainderAnswer,
  type RemainderRequest,
} from "../src/index.js";
import { createSqliteStore } from "../src/sqlite-store.js";
import { newCart, type Shop, sealingKeys, startShop, type TestCard } from "./shop.js";

const LEASE_MS = 1000;
const refusal = (code: string) => expect.objectContaining({ name: "CheckoutError", code });

/** The shop's other payment method, with a book of its own. */
class Bank {
  mood: "approve" | "decline" | "page" | "fail" | "approve-then-fail" = "approve";
  isDown = false;
  readonly payments = new Map<string, { cents: number; state: "open" | "authorized" | "canceled" }>();

  authorize = async ({ runId, remainderCents }: RemainderRequest): Promise<RemainderAnswer> => {
    if (this.mood === "fail") throw new Error("the bank can't be reached");
    if (this.mood === "decline") return { status: "declined" };
    const isOpen = this.mood === "page";
    this.payments.set(runId, { cents: remainderCents, state: isOpen ? "open" : "authorized" });
    if (this.mood === "approve-then-fail") throw new Error("the connection was lost");
    return isOpen ? { status: "pending", data: { page: `/pay/${runId}` } } : { status: "authorized" };
  };

  method: NonNullable<CheckoutOptions["remainder"]> = {
    status: async ({ runId }) => {
      if (this.isDown) throw new Error("the bank is down");
      const state = this.payments.get(runId)?.state;
      return state === "authorized" ? "authorized" : state === "open" ? "pending" : "declined";
    },
    cancel: async ({ runId }) => {
      if (this.isDown) throw new Error("the bank is down");
      const payment = this.payments.get(runId);
      if (payment) payment.state = "canceled";
    },
  };

  /** The shopper pays on the bank's page. */
  pay(): void {
    for (const payment of this.payments.values()) if (payment.state === "open") payment.state = "authorized";
  }

  get heldCents(): number {
    return [...this.payments.values()].reduce((sum, p) => sum + (p.state === "authorized" ? p.cents : 0), 0);
  }
}

let shop: Shop;
const closers: (() => Promise<void> | void)[] = [];
beforeAll(async () => {
  shop = await startShop();
});
beforeEach(() => shop.proxy.clear());
afterAll(async () => {
  for (const close of closers) await close();
  await shop.stop();
});

async function openPostgres(): Promise<CheckoutStore> {
  const pool = new pg.Pool({ connectionString: await testDatabase(), max: 10 });
  closers.push(() => pool.end());
  const store = createPostgresStore({ pool, schema: "gift_cards" });
  await Promise.all([store.migrate(), store.migrate()]);
  return store;
}

async function openSqlite(): Promise<CheckoutStore> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-store-"));
  const store = await createSqliteStore({ file: path.join(folder, "shop.db") });
  closers.push(() => {
    store.close();
    fs.rmSync(folder, { recursive: true });
  });
  return store;
}

for (const [name, open] of Object.entries({ PostgreSQL: openPostgres, SQLite: openSqlite })) {
  describe(`a purchase on ${name}`, () => {
    let store: CheckoutStore;
    let bank: Bank;
    let card: TestCard;
    beforeAll(async () => {
      store = await open();
    });
    beforeEach(async () => {
      bank = new Bank();
      card = await shop.card(7500);
    });

    const checkout = (options: Partial<CheckoutOptions> = {}): Checkout =>
      createCheckout({
        client: shop.client,
        environment: "sandbox",
        store,
        sealingKeys,
        remainder: bank.method,
        leaseMs: LEASE_MS,
        pendingLifeMs: LEASE_MS,
        ...options,
      });

    /** A cart with the card on it, as an order. */
    async function order(totalCents = 7498) {
      const cart = newCart(totalCents);
      await checkout().apply(cart, card);
      return { id: `order_${randomUUID()}`, cart };
    }

    const commit = (o: Awaited<ReturnType<typeof order>>, by = checkout()) =>
      by.commit(o, { authorizeRemainder: bank.authorize });

    /** What the shopper has paid by now: of the card, and at the bank. */
    const paid = async () => [7500 - (await card.balanceCents()), bank.heldCents];

    it("takes the card's part, then the remainder, and is one however often it is asked for", async () => {
      const o = await order();
      const result = { status: "paid", remainderCents: 2498 };
      expect(await commit(o)).toMatchObject({ ...result, cards: [{ amountCents: 5000 }] });
      expect(await commit(o)).toMatchObject(result);
      expect(await paid()).toEqual([5000, 2498]);
      expect((await checkout().list(o.cart)).cards).toEqual([]);
    });

    it("asked for by ten at once is one", async () => {
      const o = await order();
      const results = await Promise.allSettled(Array.from({ length: 10 }, () => commit(o)));
      expect(results.some((r) => r.status === "fulfilled")).toBe(true);
      for (const r of results) if (r.status === "rejected") expect(r.reason.code).toBe("payment_in_progress");
      expect(await paid()).toEqual([5000, 2498]);
    });

    it("that the card covers asks nobody else", async () => {
      const o = await order(4000);
      expect(await checkout().commit(o)).toMatchObject({ status: "paid", remainderCents: 0 });
      expect(await paid()).toEqual([4000, 0]);
    });

    it("needs a way to pay the remainder, and the remainder that the shopper saw, before anything moves", async () => {
      const o = await order();
      await expect(checkout().commit(o)).rejects.toThrow(/authorizeRemainder/);
      await expect(commit({ ...o, expectedRemainderCents: 1000 } as never)).rejects.toEqual(
        refusal("amount_changed"),
      );
      expect(await paid()).toEqual([0, 0]);
      expect(await commit({ ...o, expectedRemainderCents: 2498 } as never)).toMatchObject({ status: "paid" });
    });

    it("that the bank declines leaves the card whole, and may be tried again", async () => {
      const o = await order();
      bank.mood = "decline";
      expect(await commit(o)).toMatchObject({ status: "declined", cards: [] });
      expect(await paid()).toEqual([0, 0]);
      bank.mood = "approve";
      expect(await commit(o)).toMatchObject({ status: "paid" });
      expect(await paid()).toEqual([5000, 2498]);
    });

    for (const mood of ["fail", "approve-then-fail"] as const) {
      it(`whose remainder gets no answer (${mood}) leaves nothing taken`, async () => {
        const o = await order();
        bank.mood = mood;
        await expect(commit(o)).rejects.toThrow();
        expect(await paid()).toEqual([0, 0]);
        expect((await checkout().read(o.id))?.state).toBe("failed");
      });
    }

    it("whose card is refused asks no bank", async () => {
      const o = await order();
      await shop.service.command("card", "block", card.cardNumber);
      await expect(commit(o)).rejects.toEqual(refusal("card_blocked"));
      expect(bank.payments.size).toBe(0);
      await shop.service.command("card", "unblock", card.cardNumber);
      expect(await commit(o)).toMatchObject({ status: "paid" });
    });

    it("whose devalue lost its answer leaves the card whole", async () => {
      const o = await order();
      shop.proxy.set("devalue", "cut-after", 1);
      await expect(commit(o)).rejects.toEqual(refusal("service_unavailable"));
      expect(await paid()).toEqual([0, 0]);
    });

    it("that is paid on the bank's page is confirmed once, by whoever comes back", async () => {
      const o = await order();
      bank.mood = "page";
      const pending = await commit(o, checkout({ pendingLifeMs: 60_000 }));
      expect(pending).toMatchObject({ status: "pending", remainderData: { page: expect.any(String) } });
      expect(await commit(o)).toMatchObject({ status: "pending" });
      expect(await checkout().confirm(o.id)).toMatchObject({ status: "pending" });
      bank.pay();
      const results = await Promise.all([1, 2, 3].map(() => checkout().confirm(o.id)));
      for (const result of results) expect(result.status).toBe("paid");
      expect(await paid()).toEqual([5000, 2498]);
    });

    it("of a shopper who closed the tab is given back when its time has run out", async () => {
      const o = await order();
      bank.mood = "page";
      await commit(o);
      expect((await checkout().recover()).purchases).toEqual([]);
      expect(await paid()).toEqual([5000, 0]);
      await sleep(LEASE_MS * 1.5);
      expect((await checkout().recover()).purchases).toMatchObject([{ orderId: o.id, state: "failed" }]);
      expect(await paid()).toEqual([0, 0]);
      bank.pay();
      expect(await checkout().confirm(o.id)).toMatchObject({ status: "declined" });
      expect(await paid()).toEqual([0, 0]);
    });

    it("that was paid in time, though nobody came back, is found paid", async () => {
      const o = await order();
      bank.mood = "page";
      await commit(o);
      bank.pay();
      await sleep(LEASE_MS * 1.5);
      const [one, two] = await Promise.all([checkout().recover(), checkout().recover()]);
      expect([...one.purchases, ...two.purchases]).toMatchObject([{ orderId: o.id, state: "paid" }]);
      expect(await paid()).toEqual([5000, 2498]);
    });

    it("isn't decided while the bank can't be asked", async () => {
      const o = await order();
      bank.mood = "page";
      await commit(o);
      bank.pay();
      bank.isDown = true;
      // Longer than its attempts are held by themselves.
      await sleep(LEASE_MS * 4);
      expect((await checkout().recover()).purchases).toMatchObject([{ state: "pending" }]);
      expect(await paid()).toEqual([5000, 2498]);
      bank.isDown = false;
      expect(await checkout().confirm(o.id)).toMatchObject({ status: "paid" });
      expect(await paid()).toEqual([5000, 2498]);
    });

    it("that was overtaken by recovery while it asked the bank gives the bank's part back too", async () => {
      const o = await order();
      const slow = checkout().commit(o, {
        authorizeRemainder: async (request) => {
          // Frozen for longer than it owns its purchase, as by a stopped process.
          await sleep(LEASE_MS * 3);
          return bank.authorize(request);
        },
      });
      const outcome = slow.catch((error: unknown) => error);
      await sleep(LEASE_MS * 2);
      await checkout().recover();
      expect(await outcome).toEqual(refusal("payment_in_progress"));
      expect(await paid()).toEqual([0, 0]);
      expect(await commit(o)).toMatchObject({ status: "paid" });
      expect(await paid()).toEqual([5000, 2498]);
    });

    for (const approved of [true, false]) {
      it(`of a process that died while it asked the bank (${approved ? "approved" : "never asked"}) is ended by what the bank says`, async () => {
        const o = await order();
        const dying = checkout().commit(o, {
          authorizeRemainder: async (request) => {
            if (approved) await bank.authorize(request);
            return new Promise<never>(() => {});
          },
        });
        void dying.catch(() => {});
        await expect.poll(paid).toEqual([5000, approved ? 2498 : 0]);
        await sleep(LEASE_MS * 1.5);
        await checkout().recover();
        expect((await checkout().read(o.id))?.state).toBe(approved ? "paid" : "failed");
        expect(await paid()).toEqual(approved ? [5000, 2498] : [0, 0]);
      });
    }

    it("that is cancelled gives everything back, once, whoever is down then", async () => {
      const o = await order();
      await commit(o);
      shop.proxy.set("canceldevalue", "cut-before");
      bank.isDown = true;
      expect((await checkout().reverse(o.id)).map((a) => a.state)).toEqual(["reversing"]);
      expect((await checkout().read(o.id))?.state).toBe("reversing");
      expect(await paid()).toEqual([5000, 2498]);
      shop.proxy.clear();
      expect((await checkout().reverse(o.id)).map((a) => a.state)).toEqual(["reversed"]);
      expect(await paid()).toEqual([0, 2498]);
      bank.isDown = false;
      const twice = await Promise.all([checkout().reverse(o.id), checkout().reverse(o.id)]);
      expect(twice.flat().map((a) => a.state)).toEqual(["reversed", "reversed"]);
      expect(await paid()).toEqual([0, 0]);
      expect((await checkout().read(o.id))?.state).toBe("reversed");
      await expect(commit(o)).rejects.toEqual(refusal("cart_completed"));
    });

    it("whose cancel died in the midst is cancelled by recovery", async () => {
      const o = await order();
      await commit(o);
      let asked = 0;
      const remainder = { ...bank.method, cancel: () => new Promise<never>(() => void asked++) };
      void checkout({ remainder }).reverse(o.id);
      await expect.poll(() => asked).toBe(1);
      expect(await paid()).toEqual([0, 2498]);
      expect((await checkout().recover()).purchases).toEqual([]);
      await sleep(LEASE_MS * 1.5);
      expect((await checkout().recover()).purchases).toMatchObject([{ orderId: o.id, state: "reversed" }]);
      expect(await paid()).toEqual([0, 0]);
    });

    it("that is refunded keeps its remainder until it is cancelled", async () => {
      const o = await order();
      await commit(o);
      await checkout().refund(o.id);
      expect((await checkout().read(o.id))?.state).toBe("refunded");
      expect(await paid()).toEqual([0, 2498]);
      await expect(commit(o)).rejects.toEqual(refusal("cart_completed"));
      await checkout().reverse(o.id);
      expect((await checkout().refund(o.id)).map((a) => a.state)).toEqual(["reversed"]);
      expect((await checkout().read(o.id))?.state).toBe("reversed");
      expect(await paid()).toEqual([0, 0]);
    });

    it("is refunded card by card", async () => {
      const other = await shop.card(1000);
      const o = await order(6500);
      await checkout().apply(o.cart, other);
      await commit(o);
      const [attempt] = await store.journal.attemptsOfCart(o.cart.id);
      const reversed = await checkout().refund(o.id, attempt?.reference);
      expect(reversed).toMatchObject([{ state: "reversed", amountCents: attempt?.amountCents }]);
      await expect(checkout().refund(o.id, "gc_other")).rejects.toEqual(refusal("applied_card_not_found"));
      await checkout().refund(o.id);
      expect([await card.balanceCents(), await other.balanceCents()]).toEqual([7500, 1000]);
    });
  });
}

describe("a store on PostgreSQL", () => {
  it("refuses a schema whose name could be anything else", () => {
    expect(() => createPostgresStore({ pool: {} as never, schema: 'a"; drop table x' })).toThrow(TypeError);
  });
});
