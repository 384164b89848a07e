import { cents } from "@giftcard-pay/client";
import { describe, expect, it } from "vitest";
import { readBlock } from "../../../test/support/page-blocks.js";
import { RefundError, type RefundErrorCode, type RefundRequest, type RefundRule } from "../src/index.js";
import { type Bank, gate } from "./bank.js";
import { onEachStore, refusal, type TestOrder } from "./each-store.js";
import { newId, oneTicket, tickets, withTickets } from "./tickets.js";

onEachStore("an order", (stage) => {
  const { shop, store, bank, card, newCard, checkout, newProcess, order, pay, recoverElsewhere, stateOf, paid } = stage;
  const { paidOrder, back, shares, ticketBack } = withTickets(stage);

  describe("that is partly refunded", () => {
    it("refunds each ticket the way it was paid, until nothing is left", async () => {
      const o = await paidOrder();
      expect(await back(o)).toEqual([0, 0]);
      expect(await checkout().refundPlan(o.id, oneTicket)).toEqual({ isPossible: true, ...ticketBack() });
      expect([await stateOf(o), ...(await paid())]).toEqual(["paid", 5000, 2498]);
      const by = newProcess();
      const id = newId();
      expect((await by.by.refund(o.id, { id, ...oneTicket })).refund).toEqual({ id, ...ticketBack(), isDone: true });
      expect([by.announced, ...(await paid())]).toEqual([["refunding", "paid"], 3749, 0]);
      expect(await back(o)).toEqual([1251, 2498]);
      expect((await checkout().refund(o.id, { id: newId(), ...oneTicket })).refund).toMatchObject(shares(3749, 0));
      expect([await stateOf(o), ...(await paid())]).toEqual(["refunded", 0, 0]);
      expect(await back(o)).toEqual([5000, 2498]);
      await expect(checkout().refund(o.id, { id: newId(), amountCents: cents(1) })).rejects.toMatchObject({
        ...{ name: "RefundError", possibleCents: [], nearest: [] },
      });
      await checkout().cancel(o.id);
      expect([await stateOf(o), ...(await paid())]).toEqual(["canceled", 0, 0]);
      expect(await back(o)).toEqual([5000, 2498]);
    });

    it("does what the README shows", async () => {
      const { id, cart, plan } = await order(tickets);
      const text = await readBlock("packages/checkout/README.md", "return.js");
      const names = ["checkout", "orderId", "cart", "plan", "console"];
      const run = new ((async () => {}).constructor as FunctionConstructor)(...names, text);
      const printed: unknown[] = [];
      const log = (...values: unknown[]) => void printed.push(...values);
      await run(checkout(), id, cart, plan, { log });
      const [lastFour, owedCents] = [card.cardNumber.slice(-4), 0];
      const last = { amountCents: 2498, refundedCents: 2498, owedCents };
      expect(printed).toEqual([
        ...[[{ lastFour, amountCents: 1251 }], 2498, true],
        ...[[{ lastFour, amountCents: 5000, refundedCents: 1251, owedCents }], last],
      ]);
    });

    it("splits an amount by the given rule", async () => {
      const splits: [RefundRule | undefined, number, number, number][] = [
        [undefined, 2000, 1251, 749],
        ["as-paid", 2000, 1251, 749],
        ["in-proportion", 3000, 1251, 1749],
        ["cards-first", 3749, 3749, 0],
        ["cards-first", 3800, 3749, 51],
        ["remainder-first", 2000, 0, 2000],
        ["remainder-first", 3749, 1251, 2498],
      ];
      const o = await paidOrder();
      for (const [rule, amountCents, cardCents, remainderCents] of splits) {
        const plan = { isPossible: true, ...shares(cardCents, remainderCents) };
        expect(await checkout().refundPlan(o.id, { amountCents: cents(amountCents), rule })).toEqual(plan);
      }
      await checkout().refund(o.id, { id: newId(), amountCents: cents(2000), rule: "remainder-first" });
      expect(await paid()).toEqual([5000, 498]);
      expect(await stateOf(o)).toBe("paid");
      await checkout().refund(o.id, { id: newId(), amountCents: cents(5498) });
      expect([await stateOf(o), ...(await paid())]).toEqual(["refunded", 0, 0]);
    });

    it("and a cancel end without the remainder once a person has settled it elsewhere", async () => {
      const asked: string[] = [];
      const refuse = (call: string) => async () => {
        asked.push(call);
        throw Object.assign(new Error("The charge is disputed."), { code: "charge_disputed" });
      };
      const remainder = { ...bank.method, refund: refuse("refund"), cancel: refuse("cancel") };
      const by = checkout({ remainder });
      const { markRemainderSettled } = by.operator;
      const o = await paidOrder();
      expect(await markRemainderSettled(o.id, "ada")).toBeNull();
      expect((await by.refund(o.id, { id: newId(), ...oneTicket })).refund).toMatchObject({ isDone: false });
      expect(await by.read(o.id)).toMatchObject({ state: "refunding", lastError: "refund:charge_disputed" });
      const settled = { remainderSettledBy: "ada", lastActor: "ada", lastError: null };
      expect(await markRemainderSettled(o.id, "ada")).toMatchObject({ state: "paid", ...settled });
      expect(await paid()).toEqual([3749, 2498]);
      await by.refund(o.id, { id: newId(), ...oneTicket });
      expect([await stateOf(o), ...(await paid())]).toEqual(["refunded", 0, 2498]);
      await newCard();
      const other = await paidOrder();
      await by.cancel(other.id);
      expect(await by.read(other.id)).toMatchObject({ state: "canceling", lastError: "cancel:charge_disputed" });
      expect(await markRemainderSettled(other.id, "grace")).toMatchObject({ state: "canceled" });
      expect(await by.read(other.id)).toMatchObject({ state: "canceled", remainderSettledBy: "grace" });
      expect(await markRemainderSettled(other.id, "ada")).toBeNull();
      expect(await card.balanceCents()).toBe(7500);
      expect(asked).toEqual(["refund", "cancel"]);
    });

    it("returns the nearest possible amounts if the card was charged as a whole", async () => {
      const o = await order(tickets);
      await pay(o, checkout({ charges: "whole" }));
      const nearest = [shares(0, 2498), shares(5000, 0)];
      expect(await checkout().refundPlan(o.id, oneTicket)).toEqual({
        ...{ isPossible: false, amountCents: 3749, nearest },
      });
      const refused = await checkout()
        .refund(o.id, { id: newId(), ...oneTicket })
        .catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(RefundError);
      expect(refused).toMatchObject({ possibleCents: [2498, 5000], nearest });
      expect([await stateOf(o), ...(await paid())]).toEqual(["paid", 5000, 2498]);
      await checkout().refund(o.id, { id: newId(), amountCents: cents(2498) });
      expect(await paid()).toEqual([5000, 0]);
    });

    it("refunds two cards, and shipping last", async () => {
      const more = await shop.card(2000);
      const o = await paidOrder([...tickets, { id: "shipping", quantity: 1, totalCents: cents(502) }], more);
      expect([...(await paid()), await more.balanceCents()]).toEqual([5000, 1000, 0]);
      const { refund } = await checkout().refund(o.id, { id: newId(), ...oneTicket });
      expect(refund.cards.map(({ amountCents }) => amountCents)).toEqual([1251, 2000]);
      expect([refund.remainderCents, await more.balanceCents(), ...(await paid())]).toEqual([
        ...[498, 2000, 3749, 502],
      ]);
      expect(await back(o)).toEqual([1251, 2000, 498]);
      await checkout().refund(o.id, { id: newId(), lines: { ticket: 1, shipping: 1 } });
      expect([await stateOf(o), ...(await paid())]).toEqual(["refunded", 0, 0]);
    });

    it("refuses invalid requests, and changes nothing", async () => {
      const o = await paidOrder([...tickets, { id: "programme", quantity: 1, totalCents: cents(0) }]);
      await newCard();
      const whole = await paidOrder([
        { id: "cheese", quantity: 1.5, totalCents: cents(900) },
        { id: "cup", quantity: 2, totalCents: cents(1000) },
      ]);
      const id = newId();
      const wrong: unknown[] = [
        ...[undefined, null, {}, { id }, { id, lines: null }, { id, lines: [1] }],
        ...[oneTicket, { id: "", ...oneTicket }, { id, ...oneTicket, amountCents: 5 }],
        ...[{ rule: "cards" }, { rules: "cards-first" }].map((more) => ({ id, amountCents: 5, ...more })),
        ...[0, -1, 1.5, "5", Number.NaN].map((amountCents) => ({ id, amountCents })),
        ...[0, -1, 3, 1.5, "1", Number.NaN, Number.POSITIVE_INFINITY].map((ticket) => ({
          id,
          lines: { ticket },
        })),
        ...[{}, { ticket: 1, cup: 1 }, { toString: 1 }, { programme: 1 }].map((lines) => ({ id, lines })),
      ];
      const refusalOf = async (wish: unknown) => {
        const error = await checkout()
          .refund(o.id, wish as never)
          .catch((refused: unknown) => refused);
        return [JSON.stringify(wish), (error as RefundError).code, (error as RefundError).status];
      };
      for (const wish of wrong) expect(await refusalOf(wish)).toEqual([JSON.stringify(wish), "invalid_refund", 400]);
      const tooMuch = { id, amountCents: cents(7499) };
      expect(await refusalOf(tooMuch)).toEqual([JSON.stringify(tooMuch), "refund_not_possible", 409]);
      await expect(checkout().refund(o.id, tooMuch)).rejects.toThrow("74.99 can't be refunded: only 74.98 is left.");
      const parts: Record<string, number>[] = [{ cheese: 0.5 }, { cheese: 1, cup: 1 }, { cup: 1, cheese: 1.4999 }];
      for (const lines of parts) {
        await expect(checkout().refundPlan(whole.id, { lines })).rejects.toThrow("no value");
        await expect(checkout().refund(whole.id, { id, lines })).rejects.toThrow("no value");
      }
      await expect(checkout().refund(o.id, { id, lines: { cup: 1 } })).rejects.toThrow('no line "cup"');
      await expect(checkout().refund(o.id, { id, lines: { ticket: 3 } })).rejects.toThrow(
        'The line "ticket" has only 2 units left, not 3.',
      );
      expect(await store.purchases.refunds(o.id)).toEqual([]);
      expect([await stateOf(o), await back(o)]).toEqual(["paid", [0, 0]]);
      await checkout().refund(o.id, { id, ...oneTicket });
      const again = { id: newId(), lines: { ticket: 2 } };
      await expect(checkout().refund(o.id, again)).rejects.toThrow("has only 1 units left, not 2");
      expect((await checkout().refund(whole.id, { id: newId(), lines: { cheese: 1.5 } })).refund).toMatchObject({
        amountCents: 900,
      });
    });

    it("needs lines for a refund by lines", async () => {
      const { lines: _, ...o } = await order(tickets);
      await checkout().pay(o);
      for (const ask of [checkout().refund, checkout().refundPlan])
        await expect(ask(o.id, { id: newId(), ...oneTicket })).rejects.toMatchObject({
          code: "invalid_refund",
        });
      expect((await checkout().refund(o.id, { id: newId(), amountCents: cents(5000) })).refund).toMatchObject({
        ...shares(5000, 0),
      });
    });

    it("refuses a refund if the order isn't paid, or was canceled", async () => {
      const ask = (o: TestOrder) => checkout().refund(o.id, { id: newId(), ...oneTicket });
      const o = await order(tickets);
      const both = [ask, (one: TestOrder) => checkout().refundPlan(one.id, oneTicket)];
      const refused = async (one: TestOrder, code: RefundErrorCode, words = "") => {
        for (const by of both)
          await expect(by(one)).rejects.toMatchObject({ code, message: expect.stringContaining(words) });
      };
      for (const call of [...both, ...(["read", "paidBy", "charges", "cancel", "confirm", "abandon"] as const)]) {
        const answer = typeof call === "function" ? call(o) : checkout()[call](o.id);
        await expect(answer).rejects.toEqual(refusal("order_not_found"));
      }
      await expect(checkout().assertPaid(o.id, cents(7498))).rejects.toEqual(refusal("order_not_found"));
      bank.mood = "page";
      await pay(o);
      const nothing = {
        orderId: o.id,
        totalCents: 7498,
        cards: [],
        remainder: { amountCents: 0, refundedCents: 0, owedCents: 0 },
      };
      await refused(o, "payment_in_progress");
      expect([await stateOf(o), await checkout().paidBy(o.id)]).toEqual(["pending", nothing]);
      bank.isDown = true;
      await checkout().cancel(o.id);
      expect(await stateOf(o)).toBe("voiding");
      await refused(o, "order_not_paid", "isn't paid");
      bank.isDown = false;
      await recoverElsewhere();
      expect([await stateOf(o), await checkout().paidBy(o.id)]).toEqual(["failed", nothing]);
      await refused(o, "order_not_paid", "isn't paid");
      bank.mood = "approve";
      await pay(o);
      bank.isDown = true;
      await checkout().cancel(o.id);
      expect([await stateOf(o), await back(o)]).toEqual(["canceling", [5000, 2498]]);
      await refused(o, "order_not_paid", "was canceled");
      bank.isDown = false;
      await recoverElsewhere();
      expect(await stateOf(o)).toBe("canceled");
      await refused(o, "order_not_paid", "was canceled");
      expect(await paid()).toEqual([0, 0]);
    });

    it("needs the remainder method's refund only if a part of the remainder is refunded", async () => {
      const o = await paidOrder();
      const { refund: _, ...remainder } = bank.method;
      const without = checkout({ remainder });
      for (const ask of [without.refund, without.refundPlan])
        await expect(ask(o.id, { id: newId(), ...oneTicket })).rejects.toThrow(
          new TypeError("This refunds a part of the remainder: createCheckout needs remainder.refund."),
        );
      expect([await stateOf(o), await store.purchases.refunds(o.id)]).toEqual(["paid", []]);
      const toCard = { amountCents: cents(3749), rule: "cards-first" } as const;
      expect((await without.refund(o.id, { id: newId(), ...toCard })).refund).toMatchObject(shares(3749, 0));
      expect(await paid()).toEqual([1251, 2498]);
    });

    it("stays paid for pay and confirm, but is no longer complete for its total", async () => {
      const o = await paidOrder();
      const asking = gate();
      const refund: Bank["method"]["refund"] = async (...part) => {
        await asking.pass(null);
        return bank.method.refund?.(...part);
      };
      const slow = checkout({ remainder: { ...bank.method, refund } });
      const refunding = slow.refund(o.id, { id: newId(), ...oneTicket });
      await asking.arrived;
      const answers = async () => [
        (await pay(o)).status,
        (await checkout().confirm(o.id)).status,
        await checkout()
          .assertPaid(o.id, cents(7498))
          .catch((error: unknown) => error),
      ];
      const expected = ["paid", "paid", refusal("amount_changed")];
      expect([await stateOf(o), ...(await answers())]).toEqual(["refunding", ...expected]);
      expect(await checkout().refundPlan(o.id, oneTicket)).toMatchObject(shares(3749, 0));
      expect(await back(o)).toEqual([1251, 2498]);
      asking.open();
      await refunding;
      expect([await stateOf(o), ...(await answers())]).toEqual(["paid", ...expected]);
    });

    it("is no longer complete for its total if only the remainder was refunded", async () => {
      const o = await paidOrder();
      expect(await checkout().assertPaid(o.id, cents(7498))).toMatchObject({ state: "paid" });
      await checkout().refund(o.id, { id: newId(), amountCents: cents(100), rule: "remainder-first" });
      await expect(checkout().assertPaid(o.id, cents(7498))).rejects.toEqual(refusal("amount_changed"));
    });

    it("is no difference if the shop's books have the cards' refund", async () => {
      const o = await paidOrder();
      await checkout().refund(o.id, { id: newId(), ...oneTicket });
      const today = (await store.journal.now()).toISOString().slice(0, 10);
      const days = { from: "2026-01-01", to: today > "2026-01-01" ? "2099-12-31" : today };
      const reconcile = (refundedCents: number) =>
        checkout().operator.reconcile({
          ...days,
          payments: [{ orderId: o.id, amountCents: 5000, refundedCents }],
        });
      const differences = async (refundedCents: number) =>
        (await reconcile(refundedCents)).differences.filter(({ orderId }) => orderId === o.id);
      expect(await differences(1251)).toEqual([]);
      expect(await differences(0)).toMatchObject([{ kind: "held", journal: { cents: 3749 } }]);
    });
  });

  describe("whose refund has an id", () => {
    it("is refunded once: a repeated call returns the same, and another request is refused", async () => {
      const o = await paidOrder();
      const id = newId();
      const { refund: first } = await checkout().refund(o.id, { id, ...oneTicket });
      for (let time = 0; time < 3; time++)
        expect((await checkout().refund(o.id, { id, ...oneTicket, rule: "as-paid" })).refund).toEqual(first);
      const others: RefundRequest[] = [
        { lines: { ticket: 2 } },
        { amountCents: cents(3749) },
        { ...oneTicket, rule: "cards-first" },
      ];
      for (const wish of others)
        await expect(checkout().refund(o.id, { id, ...wish })).rejects.toThrow(
          `The id "${id}" belongs to another refund of the order.`,
        );
      expect(await back(o)).toEqual([1251, 2498]);
      expect(bank.refunds.size).toBe(1);
      await checkout().cancel(o.id);
      expect((await checkout().refund(o.id, { id, ...oneTicket })).refund).toEqual(first);
    });

    it("is refunded once by concurrent calls", async () => {
      const o = await paidOrder();
      const id = newId();
      const asked = await Promise.all([1, 2, 3, 4].map(() => checkout().refund(o.id, { id, ...oneTicket })));
      for (const { refund } of asked) expect(refund).toMatchObject(ticketBack());
      expect((await checkout().refund(o.id, { id, ...oneTicket })).refund).toMatchObject({ isDone: true });
      expect([await back(o), ...(await paid()), bank.refunds.size]).toEqual([[1251, 2498], 3749, 0, 1]);
    });

    it("is refunded once if another call refunds it between two reads of the books", async () => {
      for (const wish of [oneTicket, { lines: { ticket: 2 } }]) {
        await newCard();
        const o = await paidOrder();
        const id = newId();
        const late = newProcess();
        late.purchases.before("read", () => checkout().refund(o.id, { id, ...wish }));
        const answer = await late.by.refund(o.id, { id, ...wish });
        expect(late.purchases.isOver()).toBe(true);
        expect(answer).toEqual(await checkout().refund(o.id, { id, ...wish }));
      }
    });

    it("is refunded by itself if another order uses the same id, even concurrently", async () => {
      const o = await paidOrder();
      await newCard();
      const other = await paidOrder();
      const late = newProcess();
      late.before("refunding", () => checkout().refund(other.id, { id: "return-1", ...oneTicket }));
      expect((await late.by.refund(o.id, { id: "return-1", ...oneTicket })).refund).toMatchObject({
        ...{ id: "return-1", amountCents: 3749, remainderCents: 2498, isDone: true },
      });
      expect([await back(o), await back(other)]).toEqual([
        [1251, 2498],
        [1251, 2498],
      ]);
      expect(bank.refunds.size).toBe(2);
      for (const { id } of [o, other])
        expect((await checkout().refund(id, { id: "return-1", ...oneTicket })).refund).toMatchObject({
          isDone: true,
        });
      expect(bank.refunds.size).toBe(2);
    });

    it("refuses another request with an id that a concurrent call has just used", async () => {
      const o = await paidOrder();
      const id = newId();
      const late = newProcess();
      late.before("refunding", () => checkout().refund(o.id, { id, ...oneTicket }));
      await expect(late.by.refund(o.id, { id, amountCents: cents(100), rule: "remainder-first" })).rejects.toThrow(
        "belongs to another refund of the order",
      );
      expect([await stateOf(o), await back(o)]).toEqual(["paid", [1251, 2498]]);
    });
  });
});
