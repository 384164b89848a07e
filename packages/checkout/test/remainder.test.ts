import { randomUUID } from "node:crypto";
import { cents } from "@giftcard-pay/client";
import { describe, expect, it } from "vitest";
import { readBlock } from "../../../test/support/page-blocks.js";
import { ForeignWebhook, type RemainderMethod, type RemainderRequest } from "../src/remainder.js";
import { gate } from "./bank.js";
import { onEachStore, refusal, type TestOrder } from "./each-store.js";
import { newCart } from "./shop.js";

onEachStore("the remainder's method", (stage) => {
  const { bank, store, card, checkout, order, pay, reload, comeBack, stateOf, paid, recoverElsewhere } = stage;
  const fault = (code: string) => expect.objectContaining({ name: "RemainderFault", code });

  /** Returns an order whose remainder is open on the bank's page. */
  async function pending(): Promise<TestOrder> {
    const o = await order();
    bank.mood = "page";
    expect(await checkout().pay(o)).toMatchObject({ status: "pending" });
    return o;
  }

  describe("answers about another payment:", () => {
    const wrong = [
      ["too little", { amountCents: 2497 }, "wrong_amount"],
      ["too much", { amountCents: 2499 }, "wrong_amount"],
      ["no number", { amountCents: "2498" as never }, "wrong_amount"],
      ["another currency", { amountCents: 2498, currency: "USD" }, "wrong_currency"],
      ["data that is no object", { data: "pi_1" as never }, "wrong_data"],
    ] as const;

    it.each(wrong)("%s doesn't pay an order, and everything is returned", async (_name, answer, cause) => {
      const o = await order();
      const remainder = bank.with(async (request) => ({ ...(await bank.authorize(request)), ...answer }));
      await expect(checkout({ remainder }).pay(o)).rejects.toEqual(fault(`authorize:${cause}`));
      expect([await stateOf(o), ...(await paid())]).toEqual(["failed", 0, 0]);
    });

    it.each(wrong)("%s leaves a pending order to a person, who cancels it", async (_name, answer, cause) => {
      const o = await pending();
      bank.pay();
      const status: RemainderMethod["status"] = async (request) => ({
        ...(await bank.method.status(request)),
        ...answer,
      });
      const remainder = { ...bank.method, status };
      await expect(checkout({ remainder }).confirm(o.id)).rejects.toEqual(fault(`status:${cause}`));
      await recoverElsewhere({ remainder });
      const { purchases } = await checkout().operator.purchases({ minTries: 1 });
      expect(purchases).toMatchObject([{ orderId: o.id, state: "pending", lastError: `status:${cause}` }]);
      await checkout({ remainder }).cancel(o.id);
      expect([await stateOf(o), ...(await paid())]).toEqual(["failed", 0, 0]);
    });

    it("the amount and currency of a declined payment don't matter", async () => {
      const o = await order();
      const remainder = bank.with(async () => ({ status: "declined", amountCents: 0, currency: "USD" }));
      expect(await checkout({ remainder }).pay(o)).toMatchObject({ status: "declined" });
    });
  });

  it("is written as the README shows", async () => {
    const text = await readBlock("packages/checkout/README.md", "remainder.js");
    const payments = new Map<string, { key: string; cents: number; status: string }>();
    const played = {
      async create({ key, cents }: { key: string; cents: number }) {
        payments.set(`p_${key}`, { key, cents, status: "pending" });
        return { id: `p_${key}` };
      },
      async confirm(id: string, input: unknown) {
        const status = input === "token" ? "authorized" : "declined";
        payments.set(id, { ...(payments.get(id) as { key: string; cents: number }), status });
        return payments.get(id);
      },
      read: async (id: string) => ({ status: payments.get(id)?.status }),
      cancelOrRefund: async (id: string) => payments.delete(id),
    };
    const remainder: RemainderMethod = new Function("bank", text.replace("export const remainder =", "return"))(played);
    const by = checkout({ remainder });
    const o = await order();
    expect(await by.pay(o, { input: "wrong" })).toMatchObject({ status: "declined" });
    expect(payments.size).toBe(0);
    expect(await by.pay(o, { input: "token" })).toMatchObject({ status: "paid", remainderCents: 2498 });
    expect([...payments.values()]).toMatchObject([{ cents: 2498, status: "authorized" }]);
    await by.cancel(o.id);
    expect([payments.size, await card.balanceCents()]).toEqual([0, 7500]);
  });

  describe("keeps what identifies its payment:", () => {
    const data = { intent: "pi_1" };

    it("each later call gets it, also a refund after the order is paid", async () => {
      const seen: unknown[] = [];
      const see = ({ data: kept }: RemainderRequest) => void seen.push(kept);
      const remainder: RemainderMethod = {
        authorize: async (request, { keep }) => {
          see(request);
          await keep(data);
          return bank.authorize(request);
        },
        status: (request) => bank.method.status(request),
        cancel: async (request) => {
          see(request);
          await bank.method.cancel(request);
        },
        refund: async (request, part) => {
          see(request);
          await bank.method.refund?.(request, part);
        },
      };
      const o = await order([{ id: "ticket", quantity: 2, totalCents: cents(7498) }]);
      const by = checkout({ remainder });
      expect(await by.pay(o)).toMatchObject({ status: "paid" });
      await by.refund(o.id, { id: "return-1", lines: { ticket: 1 } });
      await by.cancel(o.id);
      expect(seen).toEqual([null, data, data]);
    });

    it("recovery gets it after a crash right after it was kept", async () => {
      const o = await order();
      const death = gate();
      const remainder = bank.with(async (request, { keep }) => {
        await keep(data);
        await bank.authorize(request);
        return death.pass({ status: "declined" } as const);
      });
      void checkout({ remainder }).pay(o);
      await death.arrived;
      const asked: unknown[] = [];
      const status: RemainderMethod["status"] = (request) => {
        asked.push(request.data);
        return bank.method.status(request);
      };
      await recoverElsewhere({ remainder: { ...bank.method, status } });
      expect(asked).toEqual([data]);
      expect([await stateOf(o), ...(await paid())]).toEqual(["paid", 5000, 2498]);
    });

    it("an attempt that was given up meanwhile can't go on", async () => {
      const o = await order();
      const stalled = gate();
      const remainder = bank.with(async (request, { keep }) => {
        await stalled.pass(null);
        await keep(data);
        return bank.authorize(request);
      });
      const paying = checkout({ remainder })
        .pay(o)
        .catch((error: unknown) => error);
      await stalled.arrived;
      await recoverElsewhere();
      stalled.open();
      expect(await paying).toEqual(refusal("payment_in_progress"));
      expect(bank.payments.size).toBe(0);
      expect([await stateOf(o), ...(await paid())]).toEqual(["failed", 0, 0]);
    });

    it("the data of an answer replaces it, and a pending result has it", async () => {
      const o = await order();
      const remainder = {
        ...bank.with(async (_, { keep }) => {
          await keep(data);
          return { status: "pending", data: { ...data, session: "cs_1" } } as const;
        }),
        status: async () => ({ status: "pending", data: { session: "cs_2" } }) as const,
      };
      const by = checkout({ remainder });
      expect(await by.pay(o)).toMatchObject({ status: "pending", data: { intent: "pi_1", session: "cs_1" } });
      expect(await by.confirm(o.id)).toMatchObject({ status: "pending", data: { session: "cs_2" } });
      expect(await by.pay(o)).toMatchObject({ status: "pending", data: { session: "cs_2" } });
      await by.cancel(o.id);
    });

    it("a payment that was made after its attempt was given up is canceled by its data", async () => {
      const o = await order();
      const stalled = gate();
      const seen: unknown[] = [];
      const remainder: RemainderMethod = {
        ...bank.with(() => stalled.pass({ status: "authorized", data } as const)),
        cancel: async (request) => void seen.push(request.data),
      };
      const paying = checkout({ remainder })
        .pay(o)
        .catch((error: unknown) => error);
      await stalled.arrived;
      await recoverElsewhere({ remainder });
      stalled.open();
      expect(await paying).toEqual(refusal("payment_in_progress"));
      expect([seen, await stateOf(o), await card.balanceCents()]).toEqual([[null, data], "failed", 7500]);
    });

    it("a payment that recovery finds declined is canceled by the newest data", async () => {
      const o = await order();
      bank.mood = "page";
      await checkout({ remainder: bank.with(async () => ({ status: "pending", data })) }).pay(o);
      await store.letLeasesRunOut();
      const seen: unknown[] = [];
      const cancel: RemainderMethod["cancel"] = async (request) => void seen.push(request.data);
      const status: RemainderMethod["status"] = async () => ({ status: "declined", data: { intent: "pi_2" } });
      await checkout({ remainder: { ...bank.method, status, cancel } }).recover();
      expect([seen, await stateOf(o), await card.balanceCents()]).toEqual([[{ intent: "pi_2" }], "failed", 7500]);
    });

    it("`input` reaches it, and is not stored", async () => {
      const o = await order();
      const input = { token: `token-${randomUUID()}` };
      const seen: unknown[] = [];
      const remainder = bank.with(async (request, authorizing) => {
        seen.push(authorizing.input);
        return bank.authorize(request);
      });
      await checkout({ remainder }).pay(o, { input });
      expect(seen).toEqual([input]);
      expect(JSON.stringify(await checkout().read(o.id))).not.toContain(input.token);
    });
  });

  describe("when the shopper comes back from the bank's page:", () => {
    it("a larger cart is paid by the same order", async () => {
      const o = await pending();
      bank.mood = "approve";
      expect(await pay(await comeBack(o, 9000))).toMatchObject({ status: "paid", remainderCents: 4000 });
      expect(await paid()).toEqual([5000, 4000]);
      expect(bank.cancels).toHaveLength(1);
    });

    it("a larger cart is paid by another order, at once if the page still shows the same amounts", async () => {
      const o = await pending();
      bank.mood = "approve";
      const other = { ...o, id: `order_${randomUUID()}` };
      bank.mood = "page";
      expect(await pay(other)).toMatchObject({ status: "pending", remainderCents: 2498 });
      expect(await stateOf(o)).toBe("failed");
      bank.mood = "approve";
      const grown = await comeBack({ ...o, id: `order_${randomUUID()}` }, 9000);
      expect(await pay(grown)).toMatchObject({ status: "paid", remainderCents: 4000 });
      expect(await paid()).toEqual([5000, 4000]);
      expect(await stateOf(other)).toBe("failed");
    });

    it("an abandoned order frees its cards, and can be paid by another method", async () => {
      const o = await pending();
      expect(await checkout().abandon(o.id)).toMatchObject({ status: "declined", cards: [] });
      expect(await paid()).toEqual([0, 0]);
      bank.pay(); // too late: it is canceled
      expect(await paid()).toEqual([0, 0]);
      bank.mood = "approve";
      expect(await checkout().pay(o)).toMatchObject({ status: "paid" });
      expect(await paid()).toEqual([5000, 2498]);
    });

    it("an order that was paid there meanwhile stays paid, once", async () => {
      for (const call of ["abandon", "same order", "another order"] as const) {
        await stage.newCard();
        stage.newBank();
        const o = await pending();
        bank.pay();
        const grown = await reload(o, 9000);
        if (call === "abandon") expect(await checkout().abandon(o.id)).toMatchObject({ status: "paid" });
        if (call === "same order") await expect(pay(grown)).rejects.toEqual(refusal("amount_changed"));
        if (call === "another order")
          await expect(pay({ ...grown, id: randomUUID() })).rejects.toEqual(refusal("cart_completed"));
        expect([call, await stateOf(o), ...(await paid())]).toEqual([call, "paid", 5000, 2498]);
      }
    });

    it("nothing changes while the bank can't be reached", async () => {
      const o = await pending();
      bank.isDown = true;
      await expect(checkout().abandon(o.id)).rejects.toThrow("the bank is down");
      await expect(pay(await reload(o, 9000))).rejects.toThrow("the bank is down");
      expect([await stateOf(o), await card.balanceCents()]).toEqual(["pending", 2500]);
    });

    it("five calls at once pay the changed order once", async () => {
      const o = await pending();
      bank.mood = "approve";
      const grown = await comeBack(o, 9000);
      const tries = Array.from({ length: 5 }, () =>
        checkout()
          .pay(grown)
          .catch(() => null),
      );
      const results = (await Promise.all(tries)).filter((result) => result?.status === "paid");
      if (results.length === 0) expect(await checkout().pay(grown)).toMatchObject({ status: "paid" });
      expect([await stateOf(o), ...(await paid())]).toEqual(["paid", 5000, 4000]);
    });

    it("an unknown order is refused, and a decided one is returned as it is", async () => {
      await expect(checkout().abandon("order_none")).rejects.toEqual(refusal("order_not_found"));
      const o = await order();
      await checkout().pay(o);
      expect(await checkout().abandon(o.id)).toMatchObject({ status: "paid" });
      expect(await paid()).toEqual([5000, 2498]);
    });
  });

  describe("its webhook", () => {
    const notice = async (request: Request) => {
      if (request.headers.get("signature") !== "right") throw new ForeignWebhook("not signed");
      return request.json();
    };
    const method = (): RemainderMethod => ({ ...bank.method, webhook: notice });
    const send = (body: unknown, signature = "right", remainder = method()) => {
      const request = new Request("https://shop.example/webhook", {
        method: "POST",
        headers: { signature },
        body: JSON.stringify(body),
      });
      return checkout({ remainder }).webhook(request);
    };
    const noticeOf = async (o: TestOrder) => {
      const { orderId, attemptId } = (await checkout().read(o.id)) ?? {};
      return { orderId, attemptId, data: {} };
    };

    it("pays a pending order, once, however often it arrives", async () => {
      const o = await pending();
      const body = await noticeOf(o);
      expect((await send(body)).status).toBe(204);
      expect(await stateOf(o)).toBe("pending");
      bank.pay();
      const answers = await Promise.all([send(body), send(body), send(body)]);
      expect(answers.map(({ status }) => status)).toEqual([204, 204, 204]);
      expect([await stateOf(o), ...(await paid())]).toEqual(["paid", 5000, 2498]);
    });

    it("of another sender, about something else or an unknown order changes nothing", async () => {
      const o = await pending();
      bank.pay();
      expect((await send(await noticeOf(o), "forged")).status).toBe(400);
      expect((await send(null)).status).toBe(204);
      expect((await send({ orderId: "order_none", attemptId: "1", data: {} })).status).toBe(204);
      expect((await send({}, "right", bank.method)).status).toBe(503);
      expect(await stateOf(o)).toBe("pending");
    });

    it("has to come again while the order is being paid, or if the bank can't be asked", async () => {
      const o = await order();
      const { goOn, ended } = await stage.stopAtBank(o);
      expect((await send(await noticeOf(o))).status).toBe(503);
      goOn();
      expect(await ended).toMatchObject({ status: "paid" });
      expect((await send(await noticeOf(o))).status).toBe(204);
      await stage.newCard();
      const down = await pending();
      bank.isDown = true;
      expect((await send(await noticeOf(down))).status).toBe(503);
      expect(await stateOf(down)).toBe("pending");
    });

    it("about a payment of a replaced attempt cancels that payment", async () => {
      const o = await pending();
      const old = await noticeOf(o);
      bank.isDown = false;
      await checkout({ remainder: { ...method(), cancel: async () => {} } }).abandon(o.id);
      bank.mood = "approve";
      expect(await checkout().pay(o)).toMatchObject({ status: "paid" });
      bank.pay();
      expect(await paid()).toEqual([5000, 2 * 2498]);
      expect((await send(old)).status).toBe(204);
      expect([await stateOf(o), ...(await paid())]).toEqual(["paid", 5000, 2498]);
    });

    it("about a payment of a replaced attempt that a person has settled elsewhere doesn't return it again", async () => {
      const o = await pending();
      const old = await noticeOf(o);
      const refuse = async () => {
        throw new Error("disputed");
      };
      const by = checkout({ remainder: { ...method(), cancel: refuse } });
      await by.cancel(o.id);
      expect(await by.operator.markRemainderSettled(o.id, "ada")).toMatchObject({ state: "failed" });
      bank.isDown = false;
      bank.mood = "approve";
      expect(await checkout().pay(o)).toMatchObject({ status: "paid" });
      const asked = bank.cancels.length;
      expect((await send(old)).status).toBe(204);
      expect(bank.cancels).toHaveLength(asked);
      expect([await stateOf(o), ...(await paid())]).toEqual(["paid", 5000, 2498]);
    });

    it("about a payment of a replaced attempt gives its method the cents of that attempt, also if the cart is another", async () => {
      const o = await pending();
      const old = await noticeOf(o);
      const first = (await checkout().read(o.id))?.attemptId;
      bank.isDown = false;
      const { cart, plan } = await order(11_247);
      // The card still misses what the first attempt took, when it is applied to the other cart.
      expect(await checkout().pay({ ...o, cart, plan })).toMatchObject({ status: "pending", remainderCents: 8747 });
      const asked: RemainderRequest[] = [];
      const cancel: RemainderMethod["cancel"] = async (request) => void asked.push(request);
      expect((await send(old, "right", { ...method(), cancel })).status).toBe(204);
      expect(asked).toMatchObject([{ orderId: o.id, attemptId: first, remainderCents: 2498, currency: "EUR" }]);
      expect((await checkout().charges(o.id)).map(({ attemptId, state }) => [attemptId === first, state])).toEqual([
        [false, "devalued"],
        [true, "reversed"],
      ]);
      await checkout().cancel(o.id);
    });
  });

  it("is left alone if another shop with the same account has an order with this id", async () => {
    const remainder: RemainderMethod = { ...bank.method, webhook: async (request) => request.json() };
    const o = await pending();
    bank.pay();
    await checkout().confirm(o.id);
    const body = JSON.stringify({ orderId: o.id, attemptId: "the-other-shop's", data: {} });
    const request = new Request("https://shop.example/webhook", { method: "POST", body });
    expect((await checkout({ remainder }).webhook(request)).status).toBe(204);
    expect(bank.cancels).toEqual([]);
    expect([await stateOf(o), ...(await paid())]).toEqual(["paid", 5000, 2498]);
  });

  describe("recovery", () => {
    /** Returns pending orders without cards, overdue, the earliest first. */
    async function overdue(count: number): Promise<string[]> {
      bank.mood = "page";
      const ids: string[] = [];
      for (let index = 0; index < count; index++) {
        const id = `order_${index}_${randomUUID()}`;
        await checkout().pay({ id, cart: newCart(1000) });
        ids.push(id);
      }
      bank.pay();
      await store.letLeasesRunOut();
      return ids;
    }
    const statesOf = (ids: readonly string[]) =>
      Promise.all(ids.map(async (id) => (await store.purchases.read(id))?.state));

    it("settles the others while one order's bank doesn't respond", async () => {
      const [stuck, ...others] = await overdue(5);
      const bankGate = gate();
      const status: RemainderMethod["status"] = async (request) =>
        request.orderId === stuck ? bankGate.pass({ status: "pending" }) : bank.method.status(request);
      const recovering = checkout({ remainder: { ...bank.method, status } }).recover();
      await bankGate.arrived;
      await expect.poll(() => statesOf(others)).toEqual(others.map(() => "paid"));
      bankGate.open();
      await recovering;
    });

    it("settles at most `limit` orders at a time", async () => {
      const ids = await overdue(5);
      expect((await checkout().recover({ limit: 2 })).purchases).toHaveLength(2);
      expect((await statesOf(ids)).filter((state) => state === "paid")).toHaveLength(2);
      expect((await checkout().recover()).purchases).toHaveLength(3);
      expect(await statesOf(ids)).toEqual(ids.map(() => "paid"));
    });

    it("reaches the other orders in later runs if the first ones hang until each deadline", async () => {
      const ids = await overdue(12);
      const hanging = new Set(ids.slice(0, 10));
      const status: RemainderMethod["status"] = (request) =>
        hanging.has(request.orderId) ? new Promise(() => {}) : bank.method.status(request);
      // Each run is shorter than the method's timeout, and the leases of a run end during the next ones.
      for (let run = 0; run < 12; run++)
        await checkout({ remainder: { ...bank.method, status }, leaseMs: 1000 }).recover({ deadlineMs: 400 });
      expect(await statesOf(ids.slice(10))).toEqual(["paid", "paid"]);
    });

    it("refuses a limit that isn't a whole number above 0", async () => {
      for (const limits of [{ limit: Number.NaN }, { limit: -1 }, { deadlineMs: Number.POSITIVE_INFINITY }])
        await expect(checkout().recover(limits)).rejects.toThrow(TypeError);
    });

    it("returns by its deadline or signal, and a later call settles what was left", async () => {
      const abort = new AbortController();
      for (const end of [{ deadlineMs: 300 }, { signal: abort.signal }]) {
        const ids = await overdue(2);
        const status: RemainderMethod["status"] = () => {
          abort.abort();
          return new Promise(() => {});
        };
        const { purchases } = await checkout({ remainder: { ...bank.method, status } }).recover(end);
        expect(purchases).toEqual([]);
        await store.letLeasesRunOut();
        await checkout().recover();
        expect(await statesOf(ids)).toEqual(["paid", "paid"]);
        expect((await checkout().recover({ signal: AbortSignal.abort() })).purchases).toEqual([]);
      }
    });
  });
});
