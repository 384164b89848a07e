import { randomUUID } from "node:crypto";
import { cents } from "@giftcard-pay/client";
import { describe, expect, it } from "vitest";
import type { RemainderAnswer } from "../src/remainder.js";
import { down, fail, onEachStore, refusal, type TestOrder } from "./each-store.js";
import { beginOne, newCart } from "./shop.js";

onEachStore(
  "paying an order",
  ({ shop, store, bank, card, checkout, newProcess, order, pay, reload, stopAtBank, stateOf, paid }) => {
    const reasonsOf = async (o: TestOrder) => (await store.journal.chargesOfCart(o.cart.id)).map((a) => a.reason);
    const lastFour = ({ cardNumber }: { cardNumber: string }) => cardNumber.slice(-4);

    it("pays a cart once if two orders of it are placed at once, or one after the other", async () => {
      const o = await order();
      const others = [1, 2, 3].map(() => ({ ...o, id: `order_${randomUUID()}` }));
      const results = await Promise.allSettled([o, ...others].map((one) => pay(one)));
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(await paid()).toEqual([5000, 2498]);
      for (const one of [o, ...others].filter((_, index) => results[index]?.status === "rejected"))
        await expect(pay(one)).rejects.toEqual(refusal("cart_completed"));
      expect(await paid()).toEqual([5000, 2498]);
      const sold = [o, ...others].find((_, index) => results[index]?.status === "fulfilled");
      await checkout().cancel(String(sold?.id));
      const again = { ...(await reload(o)), id: `order_${randomUUID()}` };
      expect(await pay(again)).toMatchObject({ status: "paid", remainderCents: 7498 });
      expect(await paid()).toEqual([0, 7498]);
    });

    it("lists the charges of all its attempts, the newest first, and none of another order's", async () => {
      const o = await order();
      bank.mood = "decline";
      await pay(o);
      bank.mood = "approve";
      const retried = { ...o, cart: { ...o.cart } };
      await pay(retried);
      const other = await order(1000);
      await pay(other);
      const charges = await checkout().charges(o.id);
      expect(charges.map(({ state, amountCents }) => [state, amountCents])).toEqual([
        ["committed", 5000],
        ["reversed", 5000],
      ]);
      const { attemptId } = (await checkout().read(o.id)) ?? {};
      expect(charges.map(({ externalId }) => externalId.startsWith(`${attemptId}:`))).toEqual([true, false]);
      await expect(checkout().charges("unknown")).rejects.toEqual(refusal("order_not_found"));
    });

    describe("the result", () => {
      it("has each card with its amount, in the order in which they were applied", async () => {
        const more = await shop.card(1000);
        const o = await order(7498, more);
        const answer = {
          status: "paid",
          cards: [
            { lastFour: lastFour(card), amountCents: 5000 },
            { lastFour: lastFour(more), amountCents: 1000 },
          ],
          remainderCents: 1498,
        };
        expect(await pay(o)).toMatchObject(answer);
        expect(await pay(o)).toMatchObject(answer);
        expect(await checkout().confirm(o.id)).toMatchObject(answer);
      });

      it("has the bank's data for its page, if there is any", async () => {
        const answers = [{ data: { page: "/pay" } }, {}, { data: undefined }];
        for (const answer of answers) {
          const o = await order();
          const remainder = bank.with(async () => ({ status: "pending", ...answer }) as RemainderAnswer);
          const cards = [{ lastFour: lastFour(card), amountCents: 5000 }];
          const expected = { status: "pending", cards, remainderCents: 2498, data: answer.data ?? null };
          expect(await checkout({ remainder }).pay(o)).toMatchObject(expected);
          expect(await checkout().confirm(o.id)).toMatchObject({ status: "declined", cards: [] });
        }
      });

      it("of a confirm that is too early or too late is the current state", async () => {
        const o = await order();
        const first = await stopAtBank(o);
        await expect(checkout().confirm(o.id)).rejects.toEqual(refusal("payment_in_progress"));
        first.goOn();
        await first.ended;
        await checkout().cancel(o.id);
        await expect(checkout().confirm(o.id)).rejects.toEqual(refusal("cart_completed"));
      });
    });

    it("doesn't return another cart's payment if the process stalled until the order was paid again", async () => {
      const o = await order();
      const first = await stopAtBank(o);
      await checkout().cancel(o.id);
      expect(await checkout().pay({ id: o.id, cart: newCart(900) })).toMatchObject({ status: "paid" });
      bank.mood = "decline";
      first.goOn();
      expect(await first.ended).toEqual(refusal("amount_changed"));
      expect(await paid()).toEqual([0, 900]);
    });

    describe("refuses before any money moves", () => {
      it("an expired card that the shown remainder included", async () => {
        const o = await order();
        await store.sql(`update giftcard_tender set expires_at = created_at where cart_id = '${o.cart.id}'`);
        await expect(pay(o)).rejects.toEqual(refusal("applied_card_expired"));
        expect([await stateOf(o), ...(await paid())]).toEqual([undefined, 0, 0]);
        expect(await pay(await reload(o))).toMatchObject({
          status: "paid",
          cards: [],
        });
        expect(await paid()).toEqual([0, 7498]);
      });

      it("a card that another attempt charges, if the shown remainder included it", async () => {
        const o = await order();
        const engine = shop.engine({ journal: store.journal });
        const [part] = (await engine.plan(o.cart)).parts;
        if (!part) throw new Error("nothing is planned");
        const { reference } = await beginOne(engine, o.cart, part, `other_${o.id}`, "other");
        await expect(pay(o)).rejects.toEqual(refusal("payment_in_progress"));
        expect([await stateOf(o), ...(await paid())]).toEqual([undefined, 0, 0]);
        expect(await pay(await reload(o))).toMatchObject({
          status: "paid",
          cards: [],
        });
        await engine.reverse(reference, "test");
      });

      it("if createCheckout has no remainder, or the order has no id", async () => {
        const o = await order();
        await expect(pay(o, checkout({ remainder: undefined }))).rejects.toThrow("createCheckout needs remainder");
        for (const id of ["", 12, null])
          await expect(pay({ ...o, id } as never)).rejects.toThrow("order.id has to be a non-empty string");
        expect([await stateOf(o), ...(await paid())]).toEqual([undefined, 0, 0]);
      });
    });

    describe("after an attempt whose process died", () => {
      for (const asked of [true, false]) {
        it(`settles that attempt first, by the bank's status (${asked ? "authorized" : "not requested"})`, async () => {
          const o = await order();
          await stopAtBank(o, { asked });
          await expect(pay(o)).rejects.toEqual(refusal("payment_in_progress"));
          await store.letLeasesRunOut();
          const runs = bank.payments.size;
          expect(await pay(o)).toMatchObject({ status: "paid" });
          expect(bank.payments.size).toBe(1);
          expect(runs).toBe(asked ? 1 : 0);
          expect(await paid()).toEqual([5000, 2498]);
        });
      }

      it("first completes that attempt's owed reversal", async () => {
        const o = await order();
        bank.mood = "page";
        await pay(o);
        bank.isDown = true;
        await checkout().cancel(o.id);
        expect(await stateOf(o)).toBe("voiding");
        await expect(pay(o)).rejects.toEqual(refusal("payment_in_progress"));
        bank.isDown = false;
        bank.mood = "approve";
        expect(await pay(o)).toMatchObject({ status: "paid" });
        expect(bank.cancels).toHaveLength(1);
        expect(await paid()).toEqual([5000, 2498]);
      });
    });

    describe("slowly", () => {
      it("keeps the leases of cards that are not charged yet", async () => {
        const more = await shop.card(1000);
        const o = await order(6000, more);
        const slow = newProcess();
        slow.journal.before(
          "move",
          async () => {
            await store.letLeasesRunOut(["charge"]);
            slow.journal.before(
              "move",
              () => checkout().recover(),
              (_, { to }) => to === "sent",
            );
          },
          (_, { to }) => to === "devalued",
        );
        expect(await slow.by.pay(o)).toMatchObject({ status: "paid", remainderCents: 0 });
        expect([await more.balanceCents(), ...(await paid())]).toEqual([0, 5000, 0]);
      });

      it("doesn't call the bank once recovery has taken the order over", async () => {
        const o = await order();
        const slow = newProcess();
        slow.purchases.before(
          "change",
          async () => {
            await store.letLeasesRunOut();
            await checkout().recover();
          },
          (_, { to }) => to === "charging",
        );
        await expect(pay(o, slow.by)).rejects.toEqual(refusal("payment_in_progress"));
        expect(bank.payments.size).toBe(0);
        expect([await stateOf(o), ...(await paid())]).toEqual(["failed", 0, 0]);
      });

      it("is not recovered during the call to the bank", async () => {
        const o = await order();
        const slow = newProcess();
        slow.purchases.before(
          "change",
          () => store.letLeasesRunOut(["purchase"]),
          (_, { to }) => to === "charging",
        );
        const { goOn, ended } = await stopAtBank(o, { start: slow.start });
        expect((await checkout().recover()).purchases).toEqual([]);
        goOn();
        expect(await ended).toMatchObject({ status: "paid" });
        expect(await paid()).toEqual([5000, 2498]);
      });

      it("calls the bank's cancel once if the order is voided while a card is charged", async () => {
        const o = await order();
        shop.proxy.set("devalue", "hold", 1);
        const before = shop.proxy.seen.length;
        const committing = pay(o).catch((error: unknown) => error);
        const isSent = () => shop.proxy.seen.slice(before).some(({ operation }) => operation === "devalue");
        await expect.poll(isSent).toBe(true);
        await store.letLeasesRunOut(["purchase"]);
        await checkout().recover();
        await shop.proxy.release();
        expect(await committing).toMatchObject({ name: "CheckoutError" });
        expect(bank.cancels).toHaveLength(1);
        expect([await stateOf(o), ...(await paid())]).toEqual(["failed", 0, 0]);
      });

      it("doesn't complete a later attempt, and the bank cancels this attempt's payment", async () => {
        const o = await order();
        const { goOn, ended } = await stopAtBank(o);
        await checkout().cancel(o.id);
        expect(await pay(o)).toMatchObject({ status: "paid" });
        const cancels = bank.cancels.length;
        goOn();
        expect(await ended).toEqual(refusal("payment_in_progress"));
        expect(bank.cancels).toHaveLength(cancels + 1);
        expect(await stateOf(o)).toBe("paid");
        expect(await paid()).toEqual([5000, 2498]);
      });
    });

    describe("with a pending remainder", () => {
      it("is still pending if it is paid again after its time", async () => {
        const o = await order();
        bank.mood = "page";
        await pay(o);
        await store.letLeasesRunOut();
        expect(await pay(o)).toMatchObject({ status: "pending" });
        expect(bank.payments.size).toBe(1);
      });

      it("stores the reason of the reversal if it is declined", async () => {
        const o = await order();
        bank.mood = "page";
        await pay(o);
        bank.payments.clear();
        expect(await checkout().confirm(o.id)).toMatchObject({ status: "declined" });
        expect(await reasonsOf(o)).toEqual(["remainder_declined"]);
      });

      it("is canceled in full if a card was reversed before it is found paid", async () => {
        const more = await shop.card(1000);
        const o = await order(7498, more);
        bank.mood = "page";
        await pay(o);
        bank.pay();
        const [one] = await store.journal.chargesOfCart(o.cart.id);
        await shop.engine({ journal: store.journal }).reverse(one?.reference ?? "", "test");
        await store.letLeasesRunOut(["purchase"]);
        await checkout().recover();
        expect([await stateOf(o), ...(await paid())]).toEqual(["failed", 0, 0]);
        expect((await reasonsOf(o)).sort()).toEqual(["completion_failed", "test"]);
      });

      const isForPage = (_: string, forMs: number) => forMs === 30 * 60_000;

      it("keeps the leases of its charges until it expires", async () => {
        const o = await order();
        bank.mood = "page";
        const { by, journal } = newProcess();
        journal.before("renew", () => store.letLeasesRunOut(["charge"]), isForPage);
        expect(await pay(o, by)).toMatchObject({ status: "pending" });
        expect(await store.journal.nextDue("", o.cart.id)).toBeNull();
      });

      it("is pending even if the leases can't be renewed, and reports that", async () => {
        const o = await order();
        bank.mood = "page";
        const { by, journal, failures } = newProcess();
        journal.before("renew", fail, isForPage);
        expect(await pay(o, by)).toMatchObject({ status: "pending" });
        expect(failures).toEqual([down]);
        await store.letLeasesRunOut(["charge"]);
        await checkout().recover();
        expect(await paid()).toEqual([5000, 0]);
        bank.pay();
        expect(await checkout().confirm(o.id)).toMatchObject({ status: "paid" });
        expect(await paid()).toEqual([5000, 2498]);
      });
    });

    describe("that the bank declined", () => {
      it("is declined with a reason although the bank's cancel fails", async () => {
        const o = await order();
        bank.mood = "decline";
        bank.isDown = true;
        expect(await pay(o)).toMatchObject({ status: "declined", cards: [] });
        expect([await stateOf(o), await reasonsOf(o)]).toEqual(["voiding", ["remainder_declined"]]);
        bank.isDown = false;
        await store.letLeasesRunOut();
        await checkout().recover();
        expect([await stateOf(o), ...(await paid())]).toEqual(["failed", 0, 0]);
      });

      it("reads the status if it is confirmed, and doesn't cancel again", async () => {
        const o = await order();
        bank.mood = "decline";
        await pay(o);
        const before = bank.cancels.length;
        expect(await checkout().confirm(o.id)).toMatchObject({ status: "declined" });
        expect(bank.cancels).toHaveLength(before);
      });

      it("doesn't call the bank if the cards covered the total", async () => {
        const o = await order(3000);
        const { by, purchases } = newProcess();
        purchases.before("change", fail, (_, { to }) => to === "paid");
        await expect(pay(o, by)).rejects.toBe(down);
        expect([await stateOf(o), await reasonsOf(o)]).toEqual(["failed", ["completion_failed"]]);
        bank.isDown = true;
        expect(await checkout().confirm(o.id)).toMatchObject({ status: "declined" });
      });
    });

    describe("with a failing database", () => {
      it("is paid once that is recorded, even before its charges are committed", async () => {
        const o = await order();
        const { by, purchases } = newProcess();
        purchases.before(
          "change",
          async () => {
            const run = (await store.purchases.read(o.id))?.attemptId as string;
            await store.purchases.change(o.id, {
              from: ["charging"],
              to: "paid",
              attemptId: run,
              lease: null,
            });
            throw down;
          },
          (_, { to }) => to === "paid",
        );
        expect(await pay(o, by)).toMatchObject({ status: "paid", remainderCents: 2498 });
        expect(await paid()).toEqual([5000, 2498]);
        await store.letLeasesRunOut();
        await checkout().recover();
        expect(await paid()).toEqual([5000, 2498]);
        expect((await store.journal.chargesOfCart(o.cart.id))[0]).toMatchObject({ state: "committed" });
      });

      it("stays pending if a confirm fails, and is paid by the next one", async () => {
        const o = await order();
        bank.mood = "page";
        await pay(o);
        bank.pay();
        const { by, purchases } = newProcess();
        purchases.before("change", fail, (_, { to }) => to === "paid");
        await expect(by.confirm(o.id)).rejects.toBe(down);
        expect([await stateOf(o), ...(await paid())]).toEqual(["pending", 5000, 2498]);
        expect(await checkout().confirm(o.id)).toMatchObject({ status: "paid" });
        expect(await paid()).toEqual([5000, 2498]);
      });

      it("reverses the charge of a voided purchase although purchases can't be read", async () => {
        const o = await order();
        const dead = newProcess();
        dead.journal.before(
          "move",
          () => new Promise(() => {}),
          (_, { to }) => to === "reversing",
        );
        bank.mood = "decline";
        void pay(o, dead.by);
        await expect.poll(() => stateOf(o)).toBe("voiding");
        await store.letLeasesRunOut();
        const { by, purchases } = newProcess();
        purchases.before("claim", fail);
        await expect(by.recover()).rejects.toBe(down);
        expect(await paid()).toEqual([0, 0]);
      });
    });

    describe("assertPaid", () => {
      it("succeeds only for a paid order whose cards were not reversed", async () => {
        const o = await order();
        const { goOn, ended } = await stopAtBank(o);
        await expect(checkout().assertPaid(o.id, cents(7498))).rejects.toEqual(refusal("payment_in_progress"));
        goOn();
        await ended;
        expect(await checkout().assertPaid(o.id, cents(7498))).toMatchObject({ state: "paid" });
        const [charge] = await store.journal.chargesOfCart(o.cart.id);
        await shop.engine({ journal: store.journal }).reverse(charge?.reference ?? "", "test");
        for (const totalCents of [7498, 2498])
          await expect(checkout().assertPaid(o.id, cents(totalCents))).rejects.toEqual(refusal("amount_changed"));
      });

      it("fails if the bank declined", async () => {
        const o = { id: `order_${randomUUID()}`, cart: newCart(900) };
        bank.mood = "decline";
        expect(await checkout().pay(o)).toMatchObject({ status: "declined" });
        await expect(checkout().assertPaid(o.id, cents(900))).rejects.toEqual(refusal("amount_changed"));
      });
    });

    describe("recovery", () => {
      it("settles purchases although charges can't be read, and throws that error", async () => {
        const o = await order();
        await stopAtBank(o);
        await store.letLeasesRunOut();
        const { by, journal } = newProcess();
        journal.before("nextDue", fail);
        await expect(by.recover()).rejects.toBe(down);
        expect([await stateOf(o), ...(await paid())]).toEqual(["failed", 0, 0]);
      });

      it("settles charges although purchases can't be read, and throws that error", async () => {
        const o = await order(1000);
        const engine = shop.engine({ journal: store.journal });
        const [part] = (await engine.plan(o.cart)).parts;
        if (!part) throw new Error("nothing is planned");
        const { reference } = await beginOne(engine, o.cart, part, `other_${o.id}`, "other");
        await engine.devalue(reference);
        await store.letLeasesRunOut();
        const { by, purchases } = newProcess();
        purchases.before("claim", fail);
        await expect(by.recover()).rejects.toBe(down);
        expect(await paid()).toEqual([0, 0]);
      });

      it("that settles a purchase first leaves a person's retry nothing to do", async () => {
        const o = await order();
        await pay(o);
        bank.isDown = true;
        await checkout().cancel(o.id);
        bank.isDown = false;
        const { by, purchases } = newProcess();
        purchases.before(
          "change",
          async () => {
            await store.letLeasesRunOut();
            await checkout().recover();
          },
          (_, { to }) => to === "canceling",
        );
        expect(await by.operator.retryPurchase(o.id, "ada")).toBeNull();
        expect(await checkout().read(o.id)).toMatchObject({ state: "canceled", lastActor: null });
        expect(bank.cancels).toHaveLength(1);
      });
    });
  },
);
