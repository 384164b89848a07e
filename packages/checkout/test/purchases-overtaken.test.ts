import { randomUUID } from "node:crypto";
import { cents } from "@giftcard-pay/client";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { RemainderRequest } from "../src/remainder.js";
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
    /** Makes a bank that acts while its status is read. */
    const asking = (act: () => unknown, answer?: "authorized" | "declined") => ({
      ...bank.method,
      status: async (request: RemainderRequest) => {
        await act();
        return answer ? { status: answer } : bank.method.status(request);
      },
    });

    /** Returns a pending order. */
    async function pending(o?: TestOrder): Promise<TestOrder> {
      const it = o ?? (await order());
      bank.mood = "page";
      expect(await pay(it)).toMatchObject({ status: "pending" });
      bank.mood = "approve";
      return it;
    }

    /** Begins to confirm an order, and stops when the bank's status is read. */
    async function stopAtConfirm(o: TestOrder) {
      const reading = gate();
      const remainder = asking(() => reading.pass(null), "authorized");
      const ended = checkout({ remainder }).confirm(o.id);
      await reading.arrived;
      return { goOn: reading.open, ended };
    }

    /** Makes the process of an order die right before it records that the order is paid. */
    async function deadBeforePaid(o: TestOrder): Promise<void> {
      const dying = newProcess();
      const death = gate();
      dying.before("paid", () => death.pass(null));
      void pay(o, dying.by).catch(() => {});
      await death.arrived;
      await store.letLeasesRunOut();
    }

    describe("that two calls pay concurrently", () => {
      it("is refused to the second call while the first one is running", async () => {
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

      it("can't be paid while it is being reversed", async () => {
        const o = await pending();
        const cancelling = gate();
        const cancel: Bank["method"]["cancel"] = async (request) => {
          await cancelling.pass(null);
          await bank.method.cancel(request);
        };
        const first = checkout({ remainder: { ...bank.method, cancel } }).cancel(o.id);
        await cancelling.arrived;
        await expect(pay(o)).rejects.toEqual(refusal("payment_in_progress"));
        // Recovery doesn't take it over either.
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

    describe("that is decided while its process stalls", () => {
      it("is paid if recovery found it paid, although the bank's response was lost", async () => {
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

      it("is not the payment of a later attempt", async () => {
        const o = await order();
        const frozen = await stopAtBank(o, { answer: fail });
        await checkout().cancel(o.id);
        expect(await pay(o)).toMatchObject({ status: "paid" });
        frozen.goOn();
        expect(await frozen.ended).toBe(down);
        expect(await stateOf(o)).toBe("paid");
        expect(await paid()).toEqual([5000, 2498]);
      });

      it("is not pending if the bank's page is opened after it was voided", async () => {
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

      it("cancels a late payment although another process is canceling already", async () => {
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

      it("cancels a late payment although another process finishes its cancel right then", async () => {
        const o = await order();
        const late = newProcess();
        const frozen = await stopAtBank(o, { start: late.start });
        const cancelling = gate();
        const tooEarly: Bank["method"]["cancel"] = async (request) => {
          await bank.method.cancel(request);
          await cancelling.pass(null);
        };
        const other = checkout({ remainder: { ...bank.method, cancel: tooEarly } }).cancel(o.id);
        await cancelling.arrived;
        const finish = async () => {
          cancelling.open();
          await other;
        };
        late.purchases.before("change", finish, (_, { from }) => from.includes("voiding"));
        frozen.goOn();
        expect(await frozen.ended).toEqual(refusal("payment_in_progress"));
        expect(await stateOf(o)).toBe("failed");
        expect(await paid()).toEqual([0, 0]);
        expect(bank.cancels).toHaveLength(2);
      });

      it("leaves the remainder to the person who settles it while a cancel stalls after its lease was renewed", async () => {
        const o = await pending();
        bank.pay();
        const { now } = Date;
        let aheadMs = 0;
        const clock = vi.spyOn(Date, "now").mockImplementation(() => now() + aheadMs);
        onTestFinished(() => clock.mockRestore());
        const late = newProcess({ remainder: asking(() => {}, "declined") });
        const isRenewal = (_: string, { from, to }: { from: readonly string[]; to: string }) => to === from[0];
        const stall = () => {
          aheadMs = 3_600_000;
        };
        const settle = async () => {
          await store.letLeasesRunOut();
          expect(await checkout().operator.markRemainderSettled(o.id, "staff")).toMatchObject({ state: "failed" });
        };
        late.purchases.before("change", stall, isRenewal);
        late.purchases.before("change", settle, isRenewal);
        expect(await late.by.cancel(o.id)).toMatchObject({ state: "failed" });
        expect(bank.cancels).toEqual([]);
        expect(await paid()).toEqual([0, 2498]);
      });

      it("throws the first error if recording the reversal fails too", async () => {
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

    describe("that is decided while a confirm reads the bank's status", () => {
      it("is declined if it was canceled meanwhile, and the remainder is canceled again", async () => {
        const o = await pending();
        bank.pay();
        const late = newProcess({ remainder: asking(() => checkout().cancel(o.id), "authorized") });
        expect(await late.by.confirm(o.id)).toMatchObject({ status: "declined", cards: [] });
        expect(late.announced).toEqual(["voiding", "failed"]);
        expect(bank.cancels).toHaveLength(2);
        expect(await stateOf(o)).toBe("failed");
        expect(await paid()).toEqual([0, 0]);
      });

      it("is declined if its reversal was still owed, and is then reversed in full", async () => {
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

      it("returns the current state if a new attempt has begun meanwhile", async () => {
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

      for (const [then, again, held] of [
        ["paid", pay, [5000, 2498]],
        ["pending", pending, [5000, 0]],
      ] as const)
        it(`cancels a late remainder if a new attempt has begun meanwhile (${then})`, async () => {
          const o = await pending();
          const first = (await store.purchases.read(o.id))?.attemptId;
          // The bank takes the shopper's payment after it was told to cancel it.
          await checkout({ remainder: { ...bank.method, cancel: async () => {} } }).cancel(o.id);
          bank.pay();
          const late = newProcess({ remainder: asking(() => again(o), "authorized") });
          expect(await late.by.confirm(o.id)).toMatchObject({ status: then });
          expect(await paid()).toEqual(held);
          expect(bank.cancels).toEqual([first]);
          expect(await stateOf(o)).toBe(then);
        });

      it("cancels a late remainder if a new attempt has begun since the bank's notice was read", async () => {
        const o = await pending();
        const first = String((await store.purchases.read(o.id))?.attemptId);
        await checkout({ remainder: { ...bank.method, cancel: async () => {} } }).cancel(o.id);
        bank.pay();
        const webhook = async () => ({ orderId: o.id, attemptId: first, data: {} });
        const late = newProcess({ remainder: { ...bank.method, webhook } });
        late.purchases.before("read", () => late.purchases.before("read", () => pay(o)));
        expect(await late.by.webhook(new Request("https://shop.example"))).toMatchObject({ status: 204 });
        expect(await paid()).toEqual([5000, 2498]);
        expect(bank.cancels).toEqual([first]);
        expect(await stateOf(o)).toBe("paid");
      });

      for (const [what, begin] of [
        ["paying", (o: TestOrder) => stopAtBank(o, { asked: true })],
        ["confirming", stopAtConfirm],
      ] as const)
        it(`leaves a remainder alone that a person has settled elsewhere before the new attempt (${what})`, async () => {
          const o = await (what === "paying" ? order() : pending());
          const frozen = await begin(o);
          bank.pay();
          await checkout({ remainder: { ...bank.method, cancel: fail } }).cancel(o.id);
          expect(await checkout().operator.markRemainderSettled(o.id, "staff")).toMatchObject({ state: "failed" });
          expect(await pay(o)).toMatchObject({ status: "paid" });
          frozen.goOn();
          await frozen.ended;
          expect(bank.cancels).toEqual([]);
          expect(await paid()).toEqual([5000, 2 * 2498]);
        });

      it("is reversed once if recovery races", async () => {
        const o = await pending();
        const late = newProcess({ remainder: asking(recoverElsewhere, "declined") });
        expect(await late.by.confirm(o.id)).toMatchObject({ status: "declined" });
        expect(late.announced).toEqual([]);
        expect(bank.cancels).toHaveLength(1);
      });

      it("is left to the process that is reversing it already", async () => {
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

      it("is reversed in full if one of its cards was reversed", async () => {
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
      it("while it is being paid is canceled as a paid order", async () => {
        const o = await pending();
        bank.pay();
        const late = newProcess();
        late.before("voiding", () => checkout().confirm(o.id));
        expect(await late.by.cancel(o.id)).toMatchObject({ state: "canceled" });
        expect(late.announced).toEqual(["canceling", "canceled"]);
        expect(await stateOf(o)).toBe("canceled");
        expect(await paid()).toEqual([0, 0]);
      });

      it("by its attempt is left alone if another process voids that one, and a later attempt is paid", async () => {
        const o = await pending();
        const first = (await store.purchases.read(o.id))?.attemptId;
        const cancelling = gate();
        const cancel: Bank["method"]["cancel"] = async (request) => {
          await cancelling.pass(null);
          await bank.method.cancel(request);
        };
        const other = checkout({ remainder: { ...bank.method, cancel } }).cancel(o.id);
        await cancelling.arrived;
        const late = newProcess();
        late.purchases.before("claim", async () => {
          cancelling.open();
          await other;
          await pay(o);
        });
        expect(await late.by.cancel(o.id, first)).toMatchObject({ state: "paid" });
        expect(late.announced).toEqual([]);
        expect(await stateOf(o)).toBe("paid");
        expect(await paid()).toEqual([5000, 2498]);
      });

      it("while the bank is down calls it once, reports the error, and leaves the remainder to recovery", async () => {
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

      it("while another process waits for the bank has its cards reversed at once", async () => {
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
        expect(await checkout().cancel(o.id)).toMatchObject({ state: "canceling" });
        expect(await paid()).toEqual([0, 2498]);
        cancelling.open();
        await first;
        expect(await paid()).toEqual([0, 0]);
        expect(bank.cancels).toHaveLength(1);
      });

      it("cancels the remainder although a card's reversal can't be recorded, and reverses the card later", async () => {
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

      it("is left to the process that cancels it, also while its cards are being reversed", async () => {
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

      it("doesn't call the bank if the cards paid the total", async () => {
        const o = await order(4000);
        await checkout().pay(o);
        await checkout().cancel(o.id);
        expect(await stateOf(o)).toBe("canceled");
        expect([...bank.cancels, ...(await paid())]).toEqual([0, 0]);
      });

      it("is refused if it is unknown", async () => {
        for (const ask of [checkout().cancel, checkout().refundCards, checkout().confirm])
          await expect(ask("order_none")).rejects.toEqual(refusal("order_not_found"));
      });
    });

    describe("of two cards, one of which is refunded,", () => {
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
        it(`is voided in full if it isn't paid (${state})`, async () => {
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

    describe("stores the reason of its reversal:", () => {
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

    describe("that recovery settles", () => {
      it("has its charge committed, if its process died before that", async () => {
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

      it("commits no charge of another attempt, nor one without an order", async () => {
        const o = await order();
        await pay(o);
        const engine = shop.engine({ journal: store.journal });
        const strays = [await shop.card(1000), await shop.card(1000)];
        for (const [index, stray] of strays.entries()) {
          const cart = { ...o.cart, totalCents: cents(1000) };
          await engine.apply(cart, stray);
          const [part] = (await engine.plan(cart)).parts;
          if (!part) throw new Error("nothing is planned");
          const orderId = index === 0 ? o.id : undefined;
          const { reference } = await beginOne(engine, cart, part, `${randomUUID()}:0`, "older", { orderId });
          await engine.devalue(reference);
        }
        await recoverElsewhere();
        expect((await chargesOf(o)).map((a) => a.state).toSorted()).toEqual([...["committed", "reversed", "reversed"]]);
        for (const stray of strays) expect(await stray.balanceCents()).toBe(1000);
        expect(await paid()).toEqual([5000, 2498]);
      });

      for (const totalCents of [5000, 7498]) {
        it(`is left to another recovery that takes it over (${totalCents})`, async () => {
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

      it("is not canceled twice if another recovery reverses it first", async () => {
        const o = await order();
        await pay(o);
        bank.isDown = true;
        shop.proxy.set("canceldevalue", "cut-before");
        await checkout().cancel(o.id);
        shop.proxy.clear();
        bank.isDown = false;
        await store.letLeasesRunOut();
        const late = newProcess();
        // Right before this process renews its lease to call the bank.
        late.purchases.before("change", recoverElsewhere, (_, { to }) => to === "canceling");
        expect((await late.by.recover()).purchases).toMatchObject([{ orderId: o.id, state: "canceled" }]);
        expect(late.announced).toEqual([]);
        expect(bank.cancels).toHaveLength(1);
        expect(await paid()).toEqual([0, 0]);
      });

      it("returns the current state if a confirm comes first and the bank fails", async () => {
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

      it("is reversed in full if the bank was paid and a card was reversed", async () => {
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

      it("reports an error of the database, and is settled the next time", async () => {
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

      it("stays unchanged with an error if there is no remainder method any more", async () => {
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

      it("stores which call has timed out if the bank never responds", async () => {
        const o = await pending();
        const remainder = asking(() => new Promise<never>(() => {}));
        await expect(checkout({ remainder, leaseMs: 2000 }).confirm(o.id)).rejects.toMatchObject({
          name: "RemainderFault",
          code: "status:timeout",
          message: "remainder.status did not respond within 1000 ms.",
        });
      });

      it("stores that the bank has failed, but nothing of its error", async () => {
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

    describe("that a person retries", () => {
      it("announces nothing if nothing changes, and stores the error", async () => {
        const o = await pending();
        const late = newProcess();
        expect(await late.by.operator.retryPurchase(o.id, "ada")).toMatchObject({
          ...{ state: "pending", lastActor: "ada", tries: 0, lastError: null },
        });
        bank.isDown = true;
        expect(await late.by.operator.retryPurchase(o.id, "grace")).toMatchObject({
          ...{ state: "pending", lastActor: "grace", tries: 1, lastError: "status:Error" },
        });
        expect(late.failures).toMatchObject([{ message: "the bank is down" }]);
        expect(late.announced).toEqual([]);
      });
    });
  },
);
