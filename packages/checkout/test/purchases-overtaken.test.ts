import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { RemainderRequest } from "../src/index.js";
import { type Bank, gate } from "./bank.js";
import { down, fail, onEachStore, refusal, type TestOrder } from "./each-store.js";
import { beginOne } from "./shop.js";

onEachStore(
  "a purchase",
  ({
    shop,
    store,
    bank,
    card,
    checkout,
    newProcess,
    order,
    pay,
    stopAtBank,
    recoverElsewhere,
    stateOf,
    chargesOf,
    paid,
  }) => {
    /** The bank, that something happens at while it is asked what became of the remainder. */
    const asking = (act: () => unknown, answer?: "authorized" | "declined") => ({
      ...bank.method,
      status: async (request: RemainderRequest) => {
        await act();
        return answer ?? bank.method.status(request);
      },
    });

    /** An order that waits for the bank's page. */
    async function pending(o?: TestOrder): Promise<TestOrder> {
      const it = o ?? (await order());
      bank.mood = "page";
      expect(await pay(it)).toMatchObject({ status: "pending" });
      bank.mood = "approve";
      return it;
    }

    /** An order whose process died right before it wrote that it is paid. */
    async function deadBeforePaid(o: TestOrder): Promise<void> {
      const dying = newProcess();
      const death = gate();
      dying.before("paid", () => death.pass(null));
      void pay(o, dying.by).catch(() => {});
      await death.arrived;
      await store.letLeasesRunOut();
    }

    describe("that a second commit begins at the same moment", () => {
      it("is the first one's, and the second answers with what became of it", async () => {
        const o = await order();
        const late = newProcess();
        late.purchases.before("begin", () => pay(o));
        expect(await pay(o, late.by)).toMatchObject({ status: "paid", cards: [{ amountCents: 5000 }] });
        expect(late.announced).toEqual([]);
        expect(await paid()).toEqual([5000, 2498]);
        expect(bank.payments.size).toBe(1);
      });

      it("is refused to the second while the first is at it", async () => {
        const o = await order();
        const late = newProcess();
        let first: Awaited<ReturnType<typeof stopAtBank>> | undefined;
        late.purchases.before("begin", async () => {
          first = await stopAtBank(o);
        });
        await expect(pay(o, late.by)).rejects.toEqual(refusal("payment_in_progress"));
        expect(late.announced).toEqual([]);
        first?.goOn();
        expect(await first?.ended).toMatchObject({ status: "paid" });
        expect(await paid()).toEqual([5000, 2498]);
      });

      it("is refused while it is being reversed", async () => {
        const o = await pending();
        const cancelling = gate();
        const cancel: Bank["method"]["cancel"] = async (request) => {
          await cancelling.pass(null);
          await bank.method.cancel(request);
        };
        const first = checkout({ remainder: { ...bank.method, cancel } }).cancel(o.id);
        await cancelling.arrived;
        await expect(pay(o)).rejects.toEqual(refusal("payment_in_progress"));
        // Nor does recovery take it over.
        expect((await checkout().recover()).purchases).toEqual([]);
        expect(bank.cancels).toEqual([]);
        cancelling.open();
        await first;
        expect(bank.cancels).toHaveLength(1);
        expect(await stateOf(o)).toBe("failed");
        expect(await pay(o)).toMatchObject({ status: "paid" });
        expect(await paid()).toEqual([5000, 2498]);
      });
    });

    describe("that is decided while its commit stands still", () => {
      it("is paid where recovery found it so, though the bank's answer was lost", async () => {
        const o = await order();
        bank.mood = "approve-then-fail";
        const frozen = await stopAtBank(o, {
          answer: async (request) => {
            const answer = await bank.authorize(request).catch((error: unknown) => error);
            await recoverElsewhere();
            throw answer;
          },
        });
        frozen.goOn();
        expect(await frozen.ended).toMatchObject({ status: "paid", cards: [{ amountCents: 5000 }] });
        expect(await stateOf(o)).toBe("paid");
        expect(await paid()).toEqual([5000, 2498]);
        expect(bank.cancels).toEqual([]);
      });

      it("isn't what a later commit of the order paid", async () => {
        const o = await order();
        const frozen = await stopAtBank(o, { answer: fail });
        await checkout().cancel(o.id);
        expect(await pay(o)).toMatchObject({ status: "paid" });
        frozen.goOn();
        expect(await frozen.ended).toBe(down);
        expect(await stateOf(o)).toBe("paid");
        expect(await paid()).toEqual([5000, 2498]);
      });

      it("waits for no page that is opened after it was given up", async () => {
        const o = await order();
        bank.mood = "page";
        const frozen = await stopAtBank(o);
        await checkout().cancel(o.id);
        expect(await stateOf(o)).toBe("failed");
        frozen.goOn();
        expect(await frozen.ended).toEqual(refusal("payment_in_progress"));
        bank.pay();
        expect(await stateOf(o)).toBe("failed");
        expect(await paid()).toEqual([0, 0]);
      });

      it("reverses what the bank took while somebody else was already doing so", async () => {
        const o = await order();
        const frozen = await stopAtBank(o);
        const cancelling = gate();
        const tooEarly: Bank["method"]["cancel"] = async (request) => {
          await bank.method.cancel(request);
          await cancelling.pass(null);
        };
        const other = checkout({ remainder: { ...bank.method, cancel: tooEarly } }).cancel(o.id);
        await cancelling.arrived;
        expect(await stateOf(o)).toBe("voiding");
        frozen.goOn();
        expect(await frozen.ended).toEqual(refusal("payment_in_progress"));
        cancelling.open();
        await other;
        expect(await stateOf(o)).toBe("failed");
        expect(await paid()).toEqual([0, 0]);
        expect(bank.cancels).toHaveLength(2);
      });

      it("says what went wrong first, where the database can't take that it goes back either", async () => {
        const o = await order();
        const late = newProcess();
        late.before("voiding", fail);
        bank.mood = "fail";
        await expect(pay(o, late.by)).rejects.toThrow("the bank can't be reached");
        expect(late.failures).toEqual([down]);
        expect(await stateOf(o)).toBe("charging");
        await recoverElsewhere();
        expect(await stateOf(o)).toBe("failed");
        expect(await paid()).toEqual([0, 0]);
      });
    });

    describe("that is decided while its confirm asks the bank", () => {
      it("is declined where it was canceled meanwhile, and the bank's part goes back again", async () => {
        const o = await pending();
        bank.pay();
        const late = newProcess({ remainder: asking(() => checkout().cancel(o.id), "authorized") });
        expect(await late.by.confirm(o.id)).toMatchObject({ status: "declined", cards: [] });
        expect(late.announced).toEqual(["voiding", "failed"]);
        expect(bank.cancels).toHaveLength(2);
        expect(await stateOf(o)).toBe("failed");
        expect(await paid()).toEqual([0, 0]);
      });

      it("is declined where its cards couldn't go back yet, and they go back with the rest", async () => {
        const o = await pending();
        bank.pay();
        const other = newProcess();
        other.beforeCharge("refused", fail);
        const remainder = asking(() => other.by.cancel(o.id), "authorized");
        expect(await checkout({ remainder }).confirm(o.id)).toMatchObject({ status: "declined" });
        expect(other.failures).toEqual([down]);
        expect(await chargesOf(o)).toMatchObject([{ state: "reversed", reason: "remainder_lapsed" }]);
        expect(await stateOf(o)).toBe("failed");
        expect(await paid()).toEqual([0, 0]);
      });

      it("answers as it stands where it was begun anew meanwhile", async () => {
        const o = await pending();
        bank.pay();
        const beginAnew = async () => {
          await checkout().cancel(o.id);
          await pending(o);
        };
        const late = newProcess({ remainder: asking(beginAnew, "authorized") });
        expect(await late.by.confirm(o.id)).toMatchObject({ status: "pending" });
        expect(late.announced).toEqual([]);
        expect(await stateOf(o)).toBe("pending");
        expect(await paid()).toEqual([5000, 0]);
        bank.pay();
        expect(await checkout().confirm(o.id)).toMatchObject({ status: "paid" });
      });

      it("is reversed once where recovery was as fast", async () => {
        const o = await pending();
        const late = newProcess({ remainder: asking(recoverElsewhere, "declined") });
        expect(await late.by.confirm(o.id)).toMatchObject({ status: "declined" });
        expect(late.announced).toEqual([]);
        expect(bank.cancels).toHaveLength(1);
      });

      it("leaves it to whoever is giving it back already", async () => {
        const o = await pending();
        const cancelling = gate();
        const cancel: Bank["method"]["cancel"] = async (request) => {
          await cancelling.pass(null);
          await bank.method.cancel(request);
        };
        let other: Promise<unknown> | undefined;
        const cancelElsewhere = async () => {
          other = checkout({ remainder: { ...bank.method, cancel } }).cancel(o.id);
          await cancelling.arrived;
        };
        const late = newProcess({ remainder: asking(cancelElsewhere, "declined") });
        expect(await late.by.confirm(o.id)).toMatchObject({ status: "declined" });
        expect([late.announced, bank.cancels]).toEqual([[], []]);
        cancelling.open();
        await other;
        expect(bank.cancels).toHaveLength(1);
        expect(await stateOf(o)).toBe("failed");
      });

      it("goes back as a whole where one of its cards was reversed", async () => {
        const more = await shop.card(1000);
        const o = await pending(await order(7498, more));
        const [first] = await chargesOf(o);
        await shop.engine({ journal: store.journal }).reverse(String(first?.reference), "by_hand");
        bank.pay();
        await expect(checkout().confirm(o.id)).rejects.toEqual(refusal("payment_in_progress"));
        expect((await chargesOf(o)).map((a) => [a.state, a.reason])).toEqual([
          ["reversed", "by_hand"],
          ["reversed", "completion_failed"],
        ]);
        expect(await stateOf(o)).toBe("failed");
        expect([await more.balanceCents(), ...(await paid())]).toEqual([1000, 0, 0]);
      });
    });

    describe("that is canceled", () => {
      it("at the moment in which it is paid goes back as what it is", async () => {
        const o = await pending();
        bank.pay();
        const late = newProcess();
        late.before("voiding", () => checkout().confirm(o.id));
        expect(await late.by.cancel(o.id)).toMatchObject([{ state: "reversed", reason: "order_canceled" }]);
        expect(late.announced).toEqual(["canceling", "canceled"]);
        expect(await stateOf(o)).toBe("canceled");
        expect(await paid()).toEqual([0, 0]);
      });

      it("while the bank is down asks it once, tells why it failed, and leaves the rest to recovery", async () => {
        const o = await pending();
        bank.isDown = true;
        let asked = 0;
        const cancel: Bank["method"]["cancel"] = async (request) => {
          asked += 1;
          await bank.method.cancel(request);
        };
        const late = newProcess({ remainder: { ...bank.method, cancel } });
        await late.by.cancel(o.id);
        expect(asked).toBe(1);
        expect(late.failures).toMatchObject([{ message: "the bank is down" }]);
        expect(await store.purchases.read(o.id)).toMatchObject({
          ...{ state: "voiding", tries: 1, lastError: "cancel:Error" },
        });
        bank.isDown = false;
        await recoverElsewhere();
        expect(await stateOf(o)).toBe("failed");
      });

      it("while somebody else waits for the bank has its cards reversed at once", async () => {
        const o = await order();
        await pay(o);
        shop.proxy.set("canceldevalue", "cut-before");
        const cancelling = gate();
        const cancel: Bank["method"]["cancel"] = async (request) => {
          await cancelling.pass(null);
          await bank.method.cancel(request);
        };
        const first = checkout({ remainder: { ...bank.method, cancel } }).cancel(o.id);
        await cancelling.arrived;
        expect(await paid()).toEqual([5000, 2498]);
        shop.proxy.clear();
        expect(await checkout().cancel(o.id)).toMatchObject([{ state: "reversed" }]);
        expect(await paid()).toEqual([0, 2498]);
        cancelling.open();
        await first;
        expect(await paid()).toEqual([0, 0]);
        expect(bank.cancels).toHaveLength(1);
      });

      it("gives the bank's part back though a card's can't be written, and that one later", async () => {
        const o = await order();
        await pay(o);
        const late = newProcess();
        late.beforeCharge("reversing", fail);
        await late.by.cancel(o.id);
        expect(late.failures).toEqual([down]);
        expect(await store.purchases.read(o.id)).toMatchObject({
          ...{ state: "canceling", lastError: "card:ECONNRESET" },
        });
        expect(await paid()).toEqual([5000, 0]);
        await recoverElsewhere();
        expect(await chargesOf(o)).toMatchObject([{ state: "reversed", reason: "order_canceled" }]);
        expect(await stateOf(o)).toBe("canceled");
        expect(await paid()).toEqual([0, 0]);
      });

      it("is left to whoever cancels it, also while its cards go back", async () => {
        const ways = [pending, async (o: TestOrder) => void (await pay(o))];
        for (const get of ways) {
          const o = await order();
          await get(o);
          const slow = newProcess();
          let found: unknown;
          slow.beforeCharge("reversed", async () => {
            found = (await checkout().recover()).purchases;
          });
          await slow.by.cancel(o.id);
          expect(found).toEqual([]);
          expect(await chargesOf(o)).toMatchObject([{ state: "reversed" }]);
          expect(await paid()).toEqual([0, 0]);
        }
      });

      it("and that its cards paid alone asks no bank", async () => {
        const o = await order(4000);
        await checkout().pay(o);
        await checkout().cancel(o.id);
        expect(await stateOf(o)).toBe("canceled");
        expect([...bank.cancels, ...(await paid())]).toEqual([0, 0]);
      });

      it("and isn't there is refused", async () => {
        for (const ask of [checkout().cancel, checkout().refundCards, checkout().confirm])
          await expect(ask("order_none")).rejects.toEqual(refusal("cart_not_found"));
      });
    });

    describe("of two cards, of which one is to be refunded,", () => {
      const ways: Record<string, (o: TestOrder) => Promise<unknown>> = {
        charging: (o) => stopAtBank(o),
        pending: (o) => pending(o),
        voiding: async (o) => {
          await pending(o);
          bank.isDown = true;
          await checkout().cancel(o.id);
          bank.isDown = false;
        },
        failed: async (o) => {
          await pending(o);
          await checkout().cancel(o.id);
        },
      };
      for (const [state, get] of Object.entries(ways)) {
        it(`goes back as a whole where it isn't paid (${state})`, async () => {
          const more = await shop.card(1000);
          const o = await order(7498, more);
          await get(o);
          expect(await stateOf(o)).toBe(state);
          const [one] = await chargesOf(o);
          const refunded = await checkout().refundCards(o.id, one?.reference);
          expect(refunded.map((charge) => charge.state)).toEqual(["reversed", "reversed"]);
          expect(await stateOf(o)).toBe("failed");
          expect([await more.balanceCents(), ...(await paid())]).toEqual([1000, 0, 0]);
        });
      }
    });

    describe("says why its charges went back:", () => {
      const ways: Record<string, () => Promise<TestOrder>> = {
        order_canceled: async () => {
          const o = await order();
          await pay(o);
          await checkout().cancel(o.id);
          return o;
        },
        refunded: async () => {
          const o = await order();
          await pay(o);
          await checkout().refundCards(o.id);
          return o;
        },
        remainder_declined: async () => {
          const o = await order();
          bank.mood = "decline";
          await pay(o);
          return o;
        },
        remainder_lapsed: async () => {
          const o = await pending();
          await recoverElsewhere();
          return o;
        },
        never_ordered: async () => {
          const o = await order();
          await stopAtBank(o);
          await recoverElsewhere();
          return o;
        },
        "never_ordered, of cards alone": async () => {
          const o = await order(5000);
          await deadBeforePaid(o);
          const late = newProcess({ remainder: asking(fail) });
          await late.by.recover();
          expect(late.failures).toEqual([]);
          return o;
        },
        "order_canceled, before it was paid": async () => {
          const o = await pending();
          await checkout().cancel(o.id);
          return o;
        },
        "refunded, before it was paid": async () => {
          const o = await pending();
          await checkout().refundCards(o.id);
          return o;
        },
        "refunded, of one card": async () => {
          const o = await order();
          await pay(o);
          await checkout().refundCards(o.id, (await chargesOf(o))[0]?.reference);
          return o;
        },
      };
      for (const [why, get] of Object.entries(ways)) {
        it(why, async () => {
          const o = await get();
          const [reason] = why.split(",");
          expect(await chargesOf(o)).toMatchObject([{ state: "reversed", reason }]);
          expect(await card.balanceCents()).toBe(7500);
        });
      }
    });

    describe("that recovery comes to", () => {
      it("has its charge, where its process died between the two", async () => {
        const o = await order();
        const dying = newProcess();
        dying.beforeCharge("committed", fail);
        expect(await pay(o, dying.by)).toMatchObject({ status: "paid" });
        expect(dying.failures).toEqual([down]);
        expect(await chargesOf(o)).toMatchObject([{ state: "devalued" }]);
        await recoverElsewhere();
        expect(await chargesOf(o)).toMatchObject([{ state: "committed", orderId: o.id }]);
        expect(await paid()).toEqual([5000, 2498]);
      });

      it("has no charge of another run, nor one without an order", async () => {
        const o = await order();
        await pay(o);
        const engine = shop.engine({ journal: store.journal });
        const strays = [await shop.card(1000), await shop.card(1000)];
        for (const [index, stray] of strays.entries()) {
          const cart = { ...o.cart, totalCents: 1000 };
          await engine.apply(cart, stray);
          const [part] = (await engine.plan(cart)).parts;
          if (!part) throw new Error("nothing is planned");
          const orderId = index === 0 ? o.id : undefined;
          const { reference } = await beginOne(engine, cart, part, `${randomUUID()}:0`, "older", orderId);
          await engine.devalue(reference);
        }
        await recoverElsewhere();
        expect((await chargesOf(o)).map((a) => a.state).toSorted()).toEqual([
          ...["committed", "reversed", "reversed"],
        ]);
        for (const stray of strays) expect(await stray.balanceCents()).toBe(1000);
        expect(await paid()).toEqual([5000, 2498]);
      });

      for (const totalCents of [5000, 7498]) {
        it(`and that another recovery takes over is left to that one (${totalCents})`, async () => {
          const o = await order(totalCents);
          await (totalCents === 5000 ? deadBeforePaid(o) : stopAtBank(o));
          await store.letLeasesRunOut();
          const late = newProcess();
          late.before("voiding", async () => {
            await store.letLeasesRunOut(["purchase"]);
            await store.purchases.claim({ owner: "another", forMs: 60_000 }, 1, o.id);
          });
          expect((await late.by.recover()).purchases).toMatchObject([{ state: "charging" }]);
          expect([await stateOf(o), ...(await paid())]).toEqual(["charging", Math.min(5000, totalCents), 0]);
          await recoverElsewhere();
          expect([await stateOf(o), ...(await paid())]).toEqual(["failed", 0, 0]);
        });
      }

      it("and another one reverses while this one waits for the service isn't reversed twice", async () => {
        const o = await order();
        await pay(o);
        bank.isDown = true;
        shop.proxy.set("canceldevalue", "cut-before");
        await checkout().cancel(o.id);
        shop.proxy.clear();
        bank.isDown = false;
        await store.letLeasesRunOut();
        const late = newProcess();
        // It is its charge's turn, and then the bank's.
        late.purchases.before("change", recoverElsewhere, (_, { to }) => to === "canceling");
        expect((await late.by.recover()).purchases).toMatchObject([{ orderId: o.id, state: "canceled" }]);
        expect(late.announced).toEqual([]);
        expect(bank.cancels).toHaveLength(1);
        expect(await paid()).toEqual([0, 0]);
      });

      it("and somebody confirms while the bank can't tell this one answers with what stands", async () => {
        const o = await pending();
        bank.pay();
        await store.letLeasesRunOut();
        const confirmElsewhere = async () => {
          await checkout().confirm(o.id);
          throw down;
        };
        const late = newProcess({ remainder: asking(confirmElsewhere) });
        expect((await late.by.recover()).purchases).toMatchObject([
          { orderId: o.id, state: "paid", tries: 0, lastError: null },
        ]);
        expect(late.failures).toEqual([down]);
        expect(await paid()).toEqual([5000, 2498]);
      });

      it("goes back as a whole where the bank has its part, and a card was reversed", async () => {
        const o = await order();
        const frozen = await stopAtBank(o, {
          answer: async (request) => {
            await bank.authorize(request);
            return gate().pass({ status: "declined" });
          },
        });
        frozen.goOn();
        await expect.poll(() => bank.heldCents).toBe(2498);
        const [first] = await chargesOf(o);
        await shop.engine({ journal: store.journal }).reverse(String(first?.reference), "by_hand");
        await store.letLeasesRunOut();
        const late = newProcess();
        expect((await late.by.recover()).purchases).toMatchObject([{ orderId: o.id, state: "failed" }]);
        expect(late.failures).toEqual([]);
        expect(await paid()).toEqual([0, 0]);
      });

      it("and the database fails at is announced of, and ended the next time", async () => {
        const o = await pending();
        bank.pay();
        await store.letLeasesRunOut();
        const late = newProcess();
        late.before("paid", fail);
        expect((await late.by.recover()).purchases).toMatchObject([{ orderId: o.id, state: "pending" }]);
        expect(late.failures).toEqual([down]);
        expect(await paid()).toEqual([5000, 2498]);
        await recoverElsewhere();
        expect(await stateOf(o)).toBe("paid");
      });

      it("where nobody can be asked for the remainder any more stays as it is, and says so", async () => {
        const o = await pending();
        bank.pay();
        await store.letLeasesRunOut();
        const without = { remainder: undefined };
        await expect(checkout(without).confirm(o.id)).rejects.toMatchObject({
          name: "RemainderFault",
          code: "status:no_remainder",
          message: "The order has a remainder: createCheckout needs remainder.",
        });
        expect((await checkout(without).recover()).purchases).toMatchObject([
          { orderId: o.id, state: "pending", lastError: "status:no_remainder" },
        ]);
        expect(await paid()).toEqual([5000, 2498]);
      });

      it("where the bank never answers says after a while which call that was", async () => {
        const o = await pending();
        const remainder = asking(() => new Promise<never>(() => {}));
        await expect(checkout({ remainder, leaseMs: 2000 }).confirm(o.id)).rejects.toMatchObject({
          name: "RemainderFault",
          code: "status:timeout",
          message: "remainder.status did not respond within 1000 ms.",
        });
      });

      it("where the bank fails with anything says that it failed, and nothing of what", async () => {
        const o = await pending();
        bank.pay();
        for (const thrown of ["card 1234", null, { code: "two words" }, { code: 42 }]) {
          await store.letLeasesRunOut();
          const remainder = asking(() => {
            throw thrown;
          });
          expect((await checkout({ remainder }).recover()).purchases).toMatchObject([
            { orderId: o.id, state: "pending", lastError: "status:failed" },
          ]);
        }
      });
    });

    describe("that a person has tried again", () => {
      it("tells nobody where nothing changes, and writes down why it failed", async () => {
        const o = await pending();
        const late = newProcess();
        expect(await late.by.retryPurchase(o.id, "ada")).toMatchObject({
          ...{ state: "pending", lastActor: "ada", tries: 0, lastError: null },
        });
        bank.isDown = true;
        expect(await late.by.retryPurchase(o.id, "grace")).toMatchObject({
          ...{ state: "pending", lastActor: "grace", tries: 1, lastError: "status:Error" },
        });
        expect(late.failures).toMatchObject([{ message: "the bank is down" }]);
        expect(late.announced).toEqual([]);
      });
    });
  },
);
