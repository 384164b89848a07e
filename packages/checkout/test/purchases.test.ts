import { randomUUID } from "node:crypto";
import { cents } from "@giftcard-pay/client";
import { describe, expect, it } from "vitest";
import { CheckoutError, type CheckoutOptions } from "../src/index.js";
import type { RemainderAnswer, RemainderMethod, RemainderRequest } from "../src/remainder.js";
import type { Purchase } from "../src/store/index.js";
import { type Bank, gate } from "./bank.js";
import { onEachStore, refusal, type TestOrder } from "./each-store.js";
import { newCart, type TestCard } from "./shop.js";

onEachStore("purchases", (stage) => {
  const { shop, store, bank, card, newCard, checkout, order, pay, reload, comeBack, stateOf, paid } = stage;
  /** Returns an order whose process died during the call to the bank, and whose leases have run out. */
  async function crashed({ asked = true } = {}): Promise<TestOrder> {
    const o = await order();
    const death = gate();
    const authorize = async (request: RemainderRequest) => {
      if (asked) await bank.authorize(request);
      return death.pass({ status: "declined" } as const);
    };
    void checkout({ remainder: bank.with(authorize) })
      .pay(o)
      .catch(() => {});
    await death.arrived;
    await store.letLeasesRunOut();
    return o;
  }

  it("are only paid by exactly the status authorized", async () => {
    for (const answer of [{ status: "failed" }, { status: "Authorized" }, "authorized", null]) {
      const o = await order();
      const authorize = async (request: RemainderRequest) => {
        await bank.authorize(request);
        return answer as RemainderAnswer;
      };
      const named = { name: "RemainderFault", code: "authorize:no_answer" };
      await expect(checkout({ remainder: bank.with(authorize) }).pay(o)).rejects.toThrow(
        expect.objectContaining(named),
      );
      expect([JSON.stringify(answer), await stateOf(o), ...(await paid())]).toEqual([
        ...[JSON.stringify(answer), "failed", 0, 0],
      ]);
    }
  });

  it("are not paid without a method for the remainder", async () => {
    const withoutCard = { id: `order_${randomUUID()}`, cart: newCart(7498), plan: "" };
    for (const each of [await order(), await reload(withoutCard)]) {
      const { remainder: _, ...options } = { remainder: null };
      const committed = checkout({ ...options, remainder: undefined as never }).pay(each);
      await expect(committed).rejects.toThrow(/createCheckout needs remainder/);
      expect([await stateOf(each), ...(await paid())]).toEqual([undefined, 0, 0]);
    }
  });

  it("use the status that was read first", async () => {
    for (const [first, state] of Object.entries({ declined: "failed", pending: "pending" })) {
      const o = await order();
      const announced = [first];
      const changing = {
        get status() {
          return announced.shift() ?? "authorized";
        },
      };
      const authorize = async () => changing as RemainderAnswer;
      expect(await checkout({ remainder: bank.with(authorize) }).pay(o)).toMatchObject({ status: first });
      expect(await stateOf(o)).toBe(state);
      await checkout().cancel(o.id);
    }
  });

  it("are neither paid nor declined by an invalid status", async () => {
    const o = await order();
    bank.mood = "page";
    await pay(o);
    bank.pay();
    for (const answer of ["authorized", { status: "failed" }, { status: "Authorized" }, {}, undefined]) {
      const remainder = { ...bank.method, status: async () => answer as never };
      await expect(checkout({ remainder }).confirm(o.id)).rejects.toThrow(/status/);
      await store.letLeasesRunOut();
      await checkout({ remainder }).recover();
      expect([JSON.stringify(answer), await stateOf(o), ...(await paid())]).toEqual([
        ...[JSON.stringify(answer), "pending", 5000, 2498],
      ]);
    }
    expect(await checkout().confirm(o.id)).toMatchObject({ status: "paid" });
  });

  it("are bound to cart and total: another one is refused for the same id, paid or not", async () => {
    const o = await order(500);
    expect(await checkout().pay(o)).toMatchObject({ status: "paid" });
    const grown = { ...o, cart: { ...o.cart, totalCents: cents(50_000) } };
    await expect(pay(grown)).rejects.toEqual(refusal("amount_changed"));
    await expect(pay({ ...o, cart: newCart(500) })).rejects.toEqual(refusal("amount_changed"));
    const waiting = await order();
    bank.mood = "page";
    expect(await pay(waiting)).toMatchObject({ status: "pending" });
    bank.mood = "approve";
    expect(await pay(await comeBack(waiting, 6000))).toMatchObject({ status: "paid", remainderCents: 1000 });
    expect(await paid()).toEqual([5500, 1000]);
    expect(bank.cancels).toHaveLength(1);
  });

  it("that one process decides are not voided by another process's recovery", async () => {
    const o = await crashed();
    const asking = gate();
    const slow = { ...bank.method, status: () => asking.pass({ status: "authorized" } as const) };
    const first = checkout({ remainder: slow }).recover();
    await asking.arrived;
    // The charge's own lease has run out; its purchase decides about it.
    await store.sql("update giftcard_charge set lease_until = null");
    await checkout().recover();
    expect(await paid()).toEqual([5000, 2498]);
    await checkout().list(o.cart);
    asking.open();
    await first;
    expect(await stateOf(o)).toBe("paid");
    expect(await paid()).toEqual([5000, 2498]);
    const [charge] = await store.journal.chargesOfCart(o.cart.id);
    expect(charge).toMatchObject({ state: "committed", orderId: o.id });
  });

  it("are completed, and not paid again, if another order of the same cart is begun", async () => {
    const o = await crashed();
    const other = { ...o, id: `order_${randomUUID()}` };
    await expect(pay(other)).rejects.toEqual(refusal("cart_completed"));
    expect(await paid()).toEqual([5000, 2498]);
    await checkout().recover();
    expect(await stateOf(o)).toBe("paid");
    expect(await paid()).toEqual([5000, 2498]);
  });

  for (const [what, status] of Object.entries({
    "throws at once": () => {
      throw new Error("not a promise");
    },
    "isn't async": () => "sold" as never,
    rejects: () => Promise.reject(new Error("down")),
    "never answers": () => new Promise<never>(() => {}),
  })) {
    it(`are recovered although the status of another one ${what}`, async () => {
      const bad = await crashed();
      await newCard();
      const good = await crashed();
      const remainder = {
        ...bank.method,
        status: (request: RemainderRequest) => (request.orderId === bad.id ? status() : bank.method.status(request)),
      };
      const owed = await shop.card(1000);
      await oweReversal(owed);
      const { purchases } = await checkout({ remainder, leaseMs: 2000 }).recover();
      expect(await stateOf(good)).toBe("paid");
      expect(await stateOf(bad)).toBe("charging");
      expect(await owed.balanceCents()).toBe(1000);
      expect(purchases.find(({ orderId }) => orderId === bad.id)).toMatchObject({
        tries: 1,
        lastError: expect.stringMatching(/^status:[\w-]+$/),
      });
      await store.letLeasesRunOut();
      await checkout().recover();
      expect(await stateOf(bad)).toBe("paid");
    });
  }

  it("are recovered in time although the method of many others hangs", async () => {
    const bad: string[] = [];
    for (let count = 0; count < 24; count++) {
      bad.push((await crashed()).id);
      await newCard();
    }
    const good = await crashed();
    const release = gate();
    const asked = new Set<string>();
    const status: RemainderMethod["status"] = (request) => {
      asked.add(request.orderId);
      return bad.includes(request.orderId) ? release.pass({ status: "declined" }) : bank.method.status(request);
    };
    const recovering = checkout({ remainder: { ...bank.method, status } }).recover();
    await expect.poll(() => stateOf(good)).toBe("paid");
    // None of the others has ended yet: with the default lease, each is waited for half a minute or longer.
    expect(bad.filter((id) => asked.has(id))).toHaveLength(24);
    expect(await Promise.all(bad.map((id) => stateOf({ id } as TestOrder)))).toEqual(bad.map(() => "charging"));
    release.open();
    await recovering;
    expect(await stateOf({ id: bad[0] } as TestOrder)).toBe("failed");
  });

  /** Makes a charge whose reversal is owed. */
  async function oweReversal(owed: TestCard): Promise<void> {
    const o = { id: `order_${randomUUID()}`, cart: newCart(1000) };
    const { plan } = await checkout().apply(o.cart, owed);
    await checkout().pay({ ...o, plan });
    shop.proxy.set("canceldevalue", "cut-before", 1);
    await checkout().cancel(o.id);
    expect(await owed.balanceCents()).toBe(0);
    await store.letLeasesRunOut();
  }

  it("whose remainder can't be canceled show attempts and cause until it is", async () => {
    const o = await order();
    await pay(o);
    bank.isDown = true;
    const secret = "4111111111111111";
    const refusing = {
      ...bank.method,
      cancel: async () => {
        throw Object.assign(new Error(`no refund to ${secret}`), { code: "ECONNREFUSED" });
      },
    };
    await checkout({ remainder: refusing }).cancel(o.id);
    // It isn't due yet.
    expect((await checkout({ remainder: refusing }).recover()).purchases).toEqual([]);
    for (let time = 2; time <= 3; time++) {
      await store.letLeasesRunOut();
      await checkout({ remainder: refusing }).recover();
    }
    const { purchases, count } = await checkout().operator.purchases();
    expect(count).toBe(1);
    expect(purchases).toMatchObject([
      { orderId: o.id, state: "canceling", tries: 3, lastError: "cancel:ECONNREFUSED" },
    ]);
    expect(purchases[0]?.createdAt).toBeInstanceOf(Date);
    expect(JSON.stringify(purchases)).not.toContain(secret);
    expect((await checkout().health()).purchases).toEqual({ open: 1, failing: 1 });
    expect(await checkout({ remainder: refusing }).operator.retryPurchase(o.id, "ada")).toMatchObject({
      state: "canceling",
      tries: 4,
      lastActor: "ada",
    });
    bank.isDown = false;
    expect(await checkout().operator.retryPurchase(o.id, "grace")).toMatchObject({
      state: "canceled",
      tries: 0,
      lastError: null,
      lastActor: "grace",
    });
    expect(await checkout().operator.retryPurchase(o.id, "grace")).toBeNull();
    expect((await checkout().health()).purchases).toEqual({ open: 0, failing: 0 });
    expect(await paid()).toEqual([0, 0]);
  });

  it("are not canceled by who means an earlier attempt", async () => {
    const o = await order();
    bank.mood = "decline";
    expect(await pay(o)).toMatchObject({ status: "declined" });
    const first = (await checkout().read(o.id))?.attemptId;
    bank.mood = "page";
    await pay(o);
    bank.pay();
    await checkout().confirm(o.id);
    expect(await checkout().cancel(o.id, first)).toMatchObject({ state: "paid" });
    expect(await paid()).toEqual([5000, 2498]);
    await checkout().cancel(o.id, (await checkout().read(o.id))?.attemptId);
    expect(await paid()).toEqual([0, 0]);
  });

  it("that are pending can be retried by a person, and are not voided before they expire", async () => {
    const o = await order();
    bank.mood = "page";
    await pay(o);
    expect(await checkout().operator.retryPurchase(o.id, "ada")).toMatchObject({ state: "pending" });
    bank.pay();
    expect(await checkout().operator.retryPurchase(o.id, "ada")).toMatchObject({ state: "paid" });
    expect(await paid()).toEqual([5000, 2498]);
  });

  it("announce each change of state, and continue if the observer fails", async () => {
    const heard: Purchase["state"][] = [];
    const onPurchase = (purchase: Purchase) => {
      heard.push(purchase.state);
      if (heard.length % 2 === 0) throw new Error("an observer that throws");
      return Promise.reject(new Error("an observer that rejects")) as never;
    };
    const by = checkout({ onPurchase });
    const o = await order();
    bank.mood = "decline";
    expect(await pay(o, by)).toMatchObject({ status: "declined" });
    expect(heard.splice(0)).toEqual(["charging", "voiding", "failed"]);
    bank.mood = "page";
    expect(await pay(o, by)).toMatchObject({ status: "pending" });
    bank.pay();
    expect(await by.confirm(o.id)).toMatchObject({ status: "paid" });
    expect(heard.splice(0)).toEqual(["charging", "pending", "paid"]);
    await by.refundCards(o.id);
    await by.cancel(o.id);
    expect(heard.splice(0)).toEqual(["refunding", "paid", "canceling", "canceled"]);
    expect(await paid()).toEqual([0, 0]);
  });

  it("are voided completely although an observer of charges fails", async () => {
    const onChange = () => {
      throw new Error("an observer that throws");
    };
    const o = await order();
    bank.mood = "decline";
    const by = checkout({ onChange });
    expect(await pay(o, by)).toMatchObject({ status: "declined" });
    expect(await stateOf(o)).toBe("failed");
    expect(await paid()).toEqual([0, 0]);
  });

  it("are unaffected if an observer changes its argument", async () => {
    // Like a log that redacts sealed values and converts cents to euro.
    const blot = (observed: object) => {
      for (const [key, value] of Object.entries(observed)) {
        if (typeof value === "number") Object.assign(observed, { [key]: value / 100 });
        else if (key.startsWith("sealed")) Object.assign(observed, { [key]: "***" });
      }
    };
    const by = checkout({ onChange: blot, onPurchase: blot, onTender: blot });
    const o = await order();
    expect(await pay(o, by)).toMatchObject({ status: "paid", remainderCents: 2498 });
    expect(await paid()).toEqual([5000, 2498]);
    expect(await by.cancel(o.id)).toMatchObject({ state: "canceled" });
    expect(await paid()).toEqual([0, 0]);
  });

  it("are not complete any more once a single charge was reversed", async () => {
    const o = await order();
    await pay(o);
    const [charge] = await store.journal.chargesOfCart(o.cart.id);
    await checkout().refundCards(o.id, charge?.reference);
    expect(await paid()).toEqual([0, 2498]);
    await expect(checkout().assertPaid(o.id, cents(7498))).rejects.toEqual(refusal("amount_changed"));
  });

  it("are complete only if they are paid for exactly their total", async () => {
    const o = await order();
    await expect(checkout().assertPaid(o.id, cents(7498))).rejects.toEqual(refusal("order_not_found"));
    bank.mood = "page";
    await pay(o);
    await expect(checkout().assertPaid(o.id, cents(7498))).rejects.toEqual(refusal("payment_in_progress"));
    bank.pay();
    await checkout().confirm(o.id);
    expect(await checkout().assertPaid(o.id, cents(7498))).toMatchObject({ state: "paid", remainderCents: 2498 });
    await expect(checkout().assertPaid(o.id, cents(7499))).rejects.toEqual(refusal("amount_changed"));
    await checkout().refundCards(o.id);
    await expect(checkout().assertPaid(o.id, cents(7498))).rejects.toEqual(refusal("amount_changed"));
  });

  it("of a platform that collects the remainder are not completed once the cards are reversed", async () => {
    // The platform's own payments by order, and the orders that it must not accept payments for.
    const collected = new Set<string>();
    const closed = new Set<string>();
    const platform = checkout({
      pendingRemainderMs: 1000,
      remainder: {
        authorize: async () => ({ status: "pending" }),
        status: async ({ orderId }) => ({ status: collected.has(orderId) ? "authorized" : "pending" }),
        cancel: async ({ orderId }) => {
          closed.add(orderId);
          collected.delete(orderId);
        },
      },
    });
    const complete = async (o: TestOrder) => {
      if (!closed.has(o.id)) collected.add(o.id);
      return (await platform.confirm(o.id)).status;
    };
    const late = await order();
    await platform.pay(late);
    await store.letLeasesRunOut();
    await platform.recover();
    expect(await card.balanceCents()).toBe(7500);
    expect(await complete(late)).toBe("declined");
    expect(collected.has(late.id)).toBe(false);
    const inTime = await order();
    await platform.pay(inTime);
    expect(await complete(inTime)).toBe("paid");
    await store.letLeasesRunOut();
    await platform.recover();
    expect(await card.balanceCents()).toBe(2500);
  });

  it("with slow cards renew their lease between cards, so that recovery leaves them", async () => {
    const second = await shop.card(5000);
    const o = await order(9000, second);
    let devalues = 0;
    const devalue: CheckoutOptions["issuer"]["devalue"] = async (charge) => {
      devalues += 1;
      if (devalues === 2) await checkout().recover();
      const answer = await shop.client.devalue(charge);
      // The first card takes longer than the lease of the purchase.
      if (devalues === 1) await store.letLeasesRunOut();
      return answer;
    };
    const by = checkout({ issuer: { ...shop.client, devalue } });
    expect(await by.pay(o)).toMatchObject({ status: "paid", remainderCents: 0 });
    expect([await card.balanceCents(), await second.balanceCents()]).toEqual([2500, 1000]);
  });

  it("whose card was reversed elsewhere are not paid by the remainder alone", async () => {
    const o = await order();
    const authorize = async (request: RemainderRequest) => {
      const [charge] = await store.journal.chargesOfCart(o.cart.id);
      await shop.engine({ journal: store.journal }).reverse(String(charge?.reference), "by_hand");
      return bank.authorize(request);
    };
    await expect(checkout({ remainder: bank.with(authorize) }).pay(o)).rejects.toEqual(refusal("payment_in_progress"));
    expect(await stateOf(o)).toBe("failed");
    expect(await paid()).toEqual([0, 0]);
  });

  describe("decided concurrently:", () => {
    it("confirm and recover pay once or decline, to the cent", async () => {
      const o = await order();
      bank.mood = "page";
      await pay(o);
      const asking = gate();
      const slow = { ...bank.method, status: () => asking.pass({ status: "declined" } as const) };
      await store.letLeasesRunOut();
      const recovering = checkout({ remainder: slow }).recover();
      await asking.arrived;
      bank.pay();
      expect(await checkout().confirm(o.id)).toMatchObject({ status: "paid" });
      asking.open();
      await recovering;
      expect(await stateOf(o)).toBe("paid");
      expect(await paid()).toEqual([5000, 2498]);
      expect(bank.cancels).toEqual([]);
    });

    it("a late decline returns paid if a confirm has found the order paid", async () => {
      const o = await order();
      bank.mood = "page";
      await pay(o);
      const asking = gate();
      const stale = { ...bank.method, status: () => asking.pass({ status: "declined" } as const) };
      const late = checkout({ remainder: stale }).confirm(o.id);
      await asking.arrived;
      bank.pay();
      expect(await checkout().confirm(o.id)).toMatchObject({ status: "paid" });
      asking.open();
      expect(await late).toMatchObject({ status: "paid", cards: [{ amountCents: 5000 }] });
      expect(await paid()).toEqual([5000, 2498]);
    });

    it("a slow cancel is not repeated", async () => {
      const o = await order();
      await pay(o);
      const cancelling = gate();
      const cancel: Bank["method"]["cancel"] = async (request) => {
        await cancelling.pass(null);
        await bank.method.cancel(request);
      };
      const first = checkout({ remainder: { ...bank.method, cancel } }).cancel(o.id);
      await cancelling.arrived;
      await checkout().cancel(o.id);
      await checkout().recover();
      expect(bank.cancels).toEqual([]);
      cancelling.open();
      await first;
      expect(bank.cancels).toHaveLength(1);
      expect(await stateOf(o)).toBe("canceled");
      expect(await paid()).toEqual([0, 0]);
    });

    it("an order that is canceled while the bank authorizes it is reversed in full", async () => {
      const o = await order();
      const authorizing = gate();
      const authorize = async (request: RemainderRequest) => {
        await authorizing.pass(null);
        return bank.authorize(request);
      };
      const committing = checkout({ remainder: bank.with(authorize) })
        .pay(o)
        .catch((error: unknown) => error);
      await authorizing.arrived;
      await checkout().cancel(o.id);
      authorizing.open();
      expect(await committing).toEqual(refusal("payment_in_progress"));
      expect(await stateOf(o)).toBe("failed");
      expect(await paid()).toEqual([0, 0]);
    });

    it("an order that recovery voids while its last card is charged has all cards reversed at once", async () => {
      const more = await shop.card(1000);
      const o = await order(6000, more);
      shop.proxy.set("devalue", "hold", 1, 1);
      const before = shop.proxy.seen.length;
      const committing = checkout()
        .pay(o)
        .catch((error: unknown) => error);
      const sent = () => shop.proxy.seen.slice(before).filter(({ operation }) => operation === "devalue");
      await expect.poll(() => sent().length).toBe(2);
      await store.letLeasesRunOut(["purchase"]);
      await checkout().recover();
      expect(await stateOf(o)).toBe("failed");
      await shop.proxy.release();
      expect(await committing).toBeInstanceOf(CheckoutError);
      expect([await more.balanceCents(), ...(await paid())]).toEqual([1000, 0, 0]);
      const reasons = (await store.journal.chargesOfCart(o.cart.id)).map(({ reason }) => reason);
      expect(reasons.sort()).toEqual(["completion_failed", "never_ordered"]);
    });

    it("a late payment whose cancel fails is canceled by a retry", async () => {
      const o = await order();
      const authorizing = gate();
      const authorize = async (request: RemainderRequest) => {
        await authorizing.pass(null);
        const answer = await bank.authorize(request);
        bank.isDown = true;
        return answer;
      };
      const committing = checkout({ remainder: bank.with(authorize) })
        .pay(o)
        .catch((error: unknown) => error);
      await authorizing.arrived;
      await checkout().cancel(o.id);
      expect(await stateOf(o)).toBe("failed");
      authorizing.open();
      expect(await committing).toEqual(refusal("payment_in_progress"));
      expect(await paid()).toEqual([0, 2498]);
      expect(await stateOf(o)).toBe("voiding");
      bank.isDown = false;
      await store.letLeasesRunOut();
      await checkout().recover();
      expect(await paid()).toEqual([0, 0]);
      expect(await stateOf(o)).toBe("failed");
    });
  });
});
