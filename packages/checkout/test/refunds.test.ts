import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { readBlock } from "../../../test/support/page-blocks.js";
import {
  type Checkout,
  type CheckoutOptions,
  createCheckout,
  type OrderLine,
  type OrderRefund,
  type PurchaseState,
  RefundError,
  type RefundErrorCode,
  type RefundRequest,
  type RefundRule,
} from "../src/index.js";
import { Bank, gate } from "./bank.js";
import { withRival } from "./rival.js";
import { newCart, type Shop, sealingKeys, startShop, type TestCard } from "./shop.js";
import { stores, type TestStore } from "./stores.js";

const refusal = (code: string) => expect.objectContaining({ name: "CheckoutError", code });
const down = Object.assign(new Error("the connection was lost"), { code: "ECONNRESET" });
const fail = () => {
  throw down;
};

/** Two tickets of 37.49. The card pays 50.00: the first one, and 12.51 of the second; the bank pays the rest. */
const tickets: readonly OrderLine[] = [{ id: "ticket", quantity: 2, totalCents: 7498 }];
const oneTicket = { lines: { ticket: 1 } };

let shop: Shop;
beforeAll(async () => {
  shop = await startShop({ isUnlimited: true });
});
beforeEach(() => shop.proxy.clear());
afterAll(() => shop.stop());

for (const [name, open] of Object.entries(stores)) {
  describe(`an order on ${name}`, () => {
    let store: TestStore;
    let bank: Bank;
    let card: TestCard;
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store.close());
    beforeEach(async () => {
      bank = new Bank();
      card = await shop.card(7500);
      await store.sql("delete from giftcard_refund; delete from giftcard_purchase");
    });

    /** Each is a process of its own, as far as the flow can tell. */
    const checkout = (options: Partial<CheckoutOptions> = {}): Checkout =>
      createCheckout({
        client: shop.client,
        environment: "sandbox",
        store,
        sealingKeys,
        remainder: bank.method,
        onFailure: () => {},
        ...options,
      });

    /** A process that somebody else comes before, or whose database fails, and what it tells. */
    function newProcess(options: Partial<CheckoutOptions> = {}) {
      const purchases = withRival(store.purchases);
      const journal = withRival(store.journal);
      const told: PurchaseState[] = [];
      const by = checkout({
        store: { purchases: purchases.part, journal: journal.part },
        onPurchase: ({ state }) => told.push(state),
        ...options,
      });
      /** Does it right before this process writes that the purchase is in this state. */
      const before = (to: PurchaseState, act: () => unknown) =>
        purchases.before("change", act, (_, change) => change.to === to && !change.from.includes(to));
      return { by, told, purchases, journal, before };
    }

    async function order(lines: readonly OrderLine[] = tickets, ...more: TestCard[]) {
      const cart = newCart(lines.reduce((sum, { totalCents }) => sum + totalCents, 0));
      for (const each of [card, ...more]) await checkout().apply(cart, each);
      return { id: `order_${randomUUID()}`, cart, lines };
    }
    type Order = Awaited<ReturnType<typeof order>>;
    const commit = (o: Order, by = checkout()) => by.pay(o, { authorizeRemainder: bank.authorize });

    async function paidOrder(lines = tickets, ...more: TestCard[]): Promise<Order> {
      const o = await order(lines, ...more);
      expect(await commit(o)).toMatchObject({ status: "paid" });
      return o;
    }

    const newId = () => `return_${randomUUID()}`;
    const stateOf = async (o: Order) => (await store.purchases.read(o.id))?.state;
    const chargesOf = async (o: Order) => (await store.journal.chargesOfCart(o.cart.id)).toReversed();
    /** What the shopper has paid by now: of the card, and at the bank. */
    const paid = async () => [7500 - (await card.balanceCents()), bank.heldCents];
    /** What is written down to be back, of each card and of the remainder; the amounts are always the total. */
    async function back(o: Order) {
      const payment = await checkout().paidBy(o.id);
      if (!payment) throw new Error("the order is unknown");
      const { cards, remainder, totalCents } = payment;
      expect(cards.reduce((sum, one) => sum + one.amountCents, remainder.amountCents)).toBe(totalCents);
      return [...cards.map(({ refundedCents }) => refundedCents), remainder.refundedCents];
    }
    async function recoverElsewhere(options?: Partial<CheckoutOptions>) {
      await store.letLeasesRunOut();
      return checkout(options).recover();
    }
    const shares = (cardCents: number, remainderCents: number) => ({
      amountCents: cardCents + remainderCents,
      cards: cardCents === 0 ? [] : [{ lastFour: card.cardNumber.slice(-4), amountCents: cardCents }],
      remainderCents,
    });
    const ticketBack = () => shares(1251, 2498);

    describe("that is charged by line", () => {
      it("takes to the cent what one charge would, and says so by card", async () => {
        const o = await order();
        expect(await commit(o)).toEqual({
          ...{ status: "paid", remainderCents: 2498 },
          cards: [{ lastFour: card.cardNumber.slice(-4), amountCents: 5000 }],
        });
        expect((await chargesOf(o)).map(({ amountCents, pieces }) => [amountCents, pieces])).toEqual([
          [3749, [{ line: "ticket", unit: 1, cents: 3749 }]],
          [1251, [{ line: "ticket", unit: 2, cents: 1251 }]],
        ]);
        expect(await paid()).toEqual([5000, 2498]);
        expect((await checkout().read(o.id))?.lines).toEqual(tickets);
      });

      it("goes on with the next card where the first one stops", async () => {
        const more = await shop.card(1000);
        const o = await paidOrder(tickets, more);
        expect((await chargesOf(o)).map(({ amountCents }) => amountCents)).toEqual([3749, 1251, 1000]);
        expect([...(await paid()), await more.balanceCents()]).toEqual([5000, 1498, 0]);
      });

      it("has no more charges than a card may have", async () => {
        const cups = [{ id: "cup", quantity: 30, totalCents: 3000 }];
        const single = await paidOrder(cups);
        expect(await chargesOf(single)).toHaveLength(30);
        card = await shop.card(7500);
        const o = await order(cups);
        await commit(o, checkout({ maxChargesPerCard: 2 }));
        expect((await chargesOf(o)).map(({ amountCents }) => amountCents)).toEqual([100, 2900]);
        expect(await paid()).toEqual([3000, 0]);
      });

      for (const fault of ["cut-before", "cut-after", "error"] as const) {
        it(`takes nothing where its second charge fails (${fault})`, async () => {
          const o = await order();
          shop.proxy.set("devalue", fault, 1, 1);
          await expect(commit(o)).rejects.toThrow();
          await recoverElsewhere();
          expect(await stateOf(o)).toBe("failed");
          expect(await paid()).toEqual([0, 0]);
          expect(await commit(o)).toMatchObject({ status: "paid" });
          expect(await paid()).toEqual([5000, 2498]);
        });
      }

      it("takes nothing where its process dies between two charges", async () => {
        const o = await order();
        const death = gate();
        let sent = 0;
        const devalue: CheckoutOptions["client"]["devalue"] = async (charge) => {
          sent += 1;
          return sent === 2 ? death.pass(null as never) : shop.client.devalue(charge);
        };
        void commit(o, checkout({ client: { ...shop.client, devalue } })).catch(() => {});
        await death.arrived;
        expect(await paid()).toEqual([3749, 0]);
        await recoverElsewhere();
        expect(await stateOf(o)).toBe("failed");
        expect(await paid()).toEqual([0, 0]);
      });

      it("is refused before anything moves where its lines are none, or not its total", async () => {
        const o = await order();
        const of = (wrong: object) => [{ ...tickets[0], ...wrong }];
        const wrong: [string, unknown][] = [
          ["order.lines are needed", undefined],
          ["order.lines has to be a list", {}],
          ["order.lines has to add up", []],
          ["order.lines has to add up", of({ totalCents: 7499 })],
          ["order.lines has two lines of one id", [...of({ totalCents: 7000 }), ...of({ totalCents: 498 })]],
          ["order.lines has more than 10000 units", of({ quantity: 10_001 })],
          ["order.lines[0].id", of({ id: "" })],
          ["order.lines[0].id", [null]],
          ["order.lines[0].quantity", of({ quantity: 0 })],
          ["order.lines[0].quantity", of({ quantity: "2" })],
          ["order.lines[0].totalCents", of({ totalCents: "7498" })],
          ["order.lines[0].totalCents", of({ totalCents: 7498.5 })],
          [
            "order.lines[1].totalCents",
            [...of({ totalCents: 7499 }), { id: "b", quantity: 1, totalCents: -1 }],
          ],
        ];
        for (const [named, lines] of wrong) {
          const byLine = checkout({ charges: "by-line" });
          const error = await commit({ ...o, lines } as never, byLine).catch((thrown: unknown) => thrown);
          expect([lines, error]).toEqual([lines, expect.any(TypeError)]);
          expect(String(error)).toContain(named);
        }
        expect(await store.purchases.read(o.id)).toBeNull();
        const { lines: _, ...without } = o;
        expect(await checkout().pay(without, { authorizeRemainder: bank.authorize })).toMatchObject({
          status: "paid",
        });
        expect((await checkout().read(o.id))?.lines).toBeNull();
      });

      it("has the lines of the commit that paid it", async () => {
        const o = await order();
        bank.mood = "decline";
        await commit({ ...o, lines: [{ id: "other", quantity: 1, totalCents: 7498 }] });
        bank.mood = "approve";
        await commit(o);
        await commit({ ...o, lines: [{ id: "later", quantity: 1, totalCents: 7498 }] });
        expect((await checkout().read(o.id))?.lines).toEqual(tickets);
        expect(await paid()).toEqual([5000, 2498]);
      });
    });

    describe("that is refunded in part", () => {
      it("gives each ticket back the way in which it was paid, until nothing is left", async () => {
        const o = await paidOrder();
        expect(await back(o)).toEqual([0, 0]);
        expect(await checkout().refundPlan(o.id, oneTicket)).toEqual({ isPossible: true, ...ticketBack() });
        expect([await stateOf(o), ...(await paid())]).toEqual(["paid", 5000, 2498]);
        const by = newProcess();
        const id = newId();
        expect(await by.by.refund(o.id, { id, ...oneTicket })).toEqual({ id, ...ticketBack(), isDone: true });
        expect([by.told, ...(await paid())]).toEqual([["refunding", "paid"], 3749, 0]);
        expect(await back(o)).toEqual([1251, 2498]);
        expect(await checkout().refund(o.id, { id: newId(), ...oneTicket })).toMatchObject(shares(3749, 0));
        expect([await stateOf(o), ...(await paid())]).toEqual(["refunded", 0, 0]);
        expect(await back(o)).toEqual([5000, 2498]);
        await expect(checkout().refund(o.id, { id: newId(), amountCents: 1 })).rejects.toMatchObject({
          ...{ name: "RefundError", possibleCents: [], nearest: [] },
        });
        await checkout().cancel(o.id);
        expect([await stateOf(o), ...(await paid())]).toEqual(["canceled", 0, 0]);
        expect(await back(o)).toEqual([5000, 2498]);
      });

      it("does what the README shows", async () => {
        const { id, cart } = await order();
        const text = await readBlock("packages/checkout/README.md", "return.js");
        const names = ["checkout", "orderId", "cart", "authorizeRemainder", "console"];
        const run = new ((async () => {}).constructor as FunctionConstructor)(...names, text);
        const printed: unknown[] = [];
        const log = (...values: unknown[]) => void printed.push(...values);
        await run(checkout(), id, cart, bank.authorize, { log });
        const [lastFour, last] = [card.cardNumber.slice(-4), { amountCents: 2498, refundedCents: 2498 }];
        expect(printed).toEqual([
          ...[[{ lastFour, amountCents: 1251 }], 2498, true],
          ...[[{ lastFour, amountCents: 5000, refundedCents: 1251 }], last],
        ]);
      });

      it("splits an amount by the rule that is asked for", async () => {
        const splits: [RefundRule | undefined, number, number, number][] = [
          [undefined, 2000, 1251, 749],
          ["as-paid", 2000, 1251, 749],
          ["in-proportion", 3000, 1251, 1749],
          ["cards-first", 3749, 3749, 0],
          ["cards-first", 3800, 3749, 51],
          ["other-first", 2000, 0, 2000],
          ["other-first", 3749, 1251, 2498],
        ];
        const o = await paidOrder();
        for (const [rule, amountCents, cardCents, remainderCents] of splits) {
          const plan = { isPossible: true, ...shares(cardCents, remainderCents) };
          expect(await checkout().refundPlan(o.id, { amountCents, rule })).toEqual(plan);
        }
        await checkout().refund(o.id, { id: newId(), amountCents: 2000, rule: "other-first" });
        expect(await paid()).toEqual([5000, 498]);
        expect(await stateOf(o)).toBe("paid");
        await checkout().refund(o.id, { id: newId(), amountCents: 5498 });
        expect([await stateOf(o), ...(await paid())]).toEqual(["refunded", 0, 0]);
      });

      it("whose card was charged as a whole says what can go back instead", async () => {
        const o = await order();
        await commit(o, checkout({ charges: "whole" }));
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
        await checkout().refund(o.id, { id: newId(), amountCents: 2498 });
        expect(await paid()).toEqual([5000, 0]);
      });

      it("goes to two cards, and counts shipping last", async () => {
        const more = await shop.card(2000);
        const o = await paidOrder([...tickets, { id: "shipping", quantity: 1, totalCents: 502 }], more);
        expect([...(await paid()), await more.balanceCents()]).toEqual([5000, 1000, 0]);
        const refund = await checkout().refund(o.id, { id: newId(), ...oneTicket });
        expect(refund.cards.map(({ amountCents }) => amountCents)).toEqual([1251, 2000]);
        expect([refund.remainderCents, await more.balanceCents(), ...(await paid())]).toEqual([
          ...[498, 2000, 3749, 502],
        ]);
        expect(await back(o)).toEqual([1251, 2000, 498]);
        await checkout().refund(o.id, { id: newId(), lines: { ticket: 1, shipping: 1 } });
        expect([await stateOf(o), ...(await paid())]).toEqual(["refunded", 0, 0]);
      });

      it("is refused, and nothing has changed, where the wish makes no sense", async () => {
        const o = await paidOrder([...tickets, { id: "programme", quantity: 1, totalCents: 0 }]);
        card = await shop.card(7500);
        const whole = await paidOrder([{ id: "cheese", quantity: 1.5, totalCents: 900 }]);
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
        for (const wish of wrong)
          expect(await refusalOf(wish)).toEqual([JSON.stringify(wish), "invalid_refund", 400]);
        const tooMuch = { id, amountCents: 7499 };
        expect(await refusalOf(tooMuch)).toEqual([JSON.stringify(tooMuch), "refund_not_possible", 409]);
        await expect(checkout().refund(o.id, tooMuch)).rejects.toThrow("74.99 can't go back: 74.98 is left.");
        const part = checkout().refund(whole.id, { id, lines: { cheese: 0.5 } });
        await expect(part).rejects.toThrow("worth nothing");
        await expect(checkout().refund(o.id, { id, lines: { cup: 1 } })).rejects.toThrow('no line "cup"');
        await expect(checkout().refund(o.id, { id, lines: { ticket: 3 } })).rejects.toThrow(
          'Of the line "ticket" 2 are left, and not 3.',
        );
        expect(await store.purchases.refunds(o.id)).toEqual([]);
        expect([await stateOf(o), await back(o)]).toEqual(["paid", [0, 0]]);
        await checkout().refund(o.id, { id, ...oneTicket });
        const again = { id: newId(), lines: { ticket: 2 } };
        await expect(checkout().refund(o.id, again)).rejects.toThrow("1 are left, and not 2");
        expect(await checkout().refund(whole.id, { id: newId(), lines: { cheese: 1.5 } })).toMatchObject({
          amountCents: 900,
        });
      });

      it("has to have lines for a refund by lines", async () => {
        const { lines: _, ...o } = await order();
        await checkout().pay(o, { authorizeRemainder: bank.authorize });
        for (const ask of [checkout().refund, checkout().refundPlan])
          await expect(ask(o.id, { id: newId(), ...oneTicket })).rejects.toMatchObject({
            code: "invalid_refund",
          });
        expect(await checkout().refund(o.id, { id: newId(), amountCents: 5000 })).toMatchObject({
          ...shares(5000, 0),
        });
      });

      it("is refused while it isn't paid, and where it went back as a whole", async () => {
        const ask = (o: Order) => checkout().refund(o.id, { id: newId(), ...oneTicket });
        const o = await order();
        const both = [ask, (one: Order) => checkout().refundPlan(one.id, oneTicket)];
        const refused = async (one: Order, code: RefundErrorCode, words = "") => {
          for (const by of both)
            await expect(by(one)).rejects.toMatchObject({ code, message: expect.stringContaining(words) });
        };
        await refused(o, "order_not_paid", "commit it first");
        expect(await checkout().paidBy(o.id)).toBeNull();
        bank.mood = "page";
        await commit(o);
        const nothing = {
          orderId: o.id,
          totalCents: 7498,
          cards: [],
          remainder: { amountCents: 0, refundedCents: 0 },
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
        await commit(o);
        bank.isDown = true;
        await checkout().cancel(o.id);
        expect([await stateOf(o), await back(o)]).toEqual(["canceling", [5000, 2498]]);
        await refused(o, "order_not_paid", "as a whole");
        bank.isDown = false;
        await recoverElsewhere();
        expect(await stateOf(o)).toBe("canceled");
        await refused(o, "order_not_paid", "as a whole");
        expect(await paid()).toEqual([0, 0]);
      });

      it("needs a method that gives parts back only where one would go there", async () => {
        const o = await paidOrder();
        const { refund: _, ...remainder } = bank.method;
        const without = checkout({ remainder });
        for (const ask of [without.refund, without.refundPlan])
          await expect(ask(o.id, { id: newId(), ...oneTicket })).rejects.toThrow(
            new TypeError("A part of the remainder would go back: createCheckout needs remainder.refund."),
          );
        expect([await stateOf(o), await store.purchases.refunds(o.id)]).toEqual(["paid", []]);
        const toCard = { amountCents: 3749, rule: "cards-first" } as const;
        expect(await without.refund(o.id, { id: newId(), ...toCard })).toMatchObject(shares(3749, 0));
        expect(await paid()).toEqual([1251, 2498]);
      });

      it("stays paid for a commit or a confirm, and is complete for its total no more", async () => {
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
          (await commit(o)).status,
          (await checkout().confirm(o.id)).status,
          await checkout()
            .assertPaid(o.id, 7498)
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

      it("isn't complete for its total either where the remainder alone was refunded", async () => {
        const o = await paidOrder();
        expect(await checkout().assertPaid(o.id, 7498)).toMatchObject({ state: "paid" });
        await checkout().refund(o.id, { id: newId(), amountCents: 100, rule: "other-first" });
        await expect(checkout().assertPaid(o.id, 7498)).rejects.toEqual(refusal("amount_changed"));
      });

      it("is no difference where the shop's books say what went to the cards", async () => {
        const o = await paidOrder();
        await checkout().refund(o.id, { id: newId(), ...oneTicket });
        const today = (await store.journal.now()).toISOString().slice(0, 10);
        const days = { from: "2026-01-01", to: today > "2026-01-01" ? "2099-12-31" : today };
        const reconcile = (refundedCents: number) =>
          checkout().reconcile({
            ...days,
            payments: [{ orderId: o.id, amountCents: 5000, refundedCents }],
          });
        const differences = async (refundedCents: number) =>
          (await reconcile(refundedCents)).differences.filter(({ orderId }) => orderId === o.id);
        expect(await differences(1251)).toEqual([]);
        expect(await differences(0)).toMatchObject([{ kind: "held", journal: { cents: 3749 } }]);
      });
    });

    describe("that is refunded under an id", () => {
      it("gives nothing twice: the same id answers the same, another wish is refused", async () => {
        const o = await paidOrder();
        const id = newId();
        const first = await checkout().refund(o.id, { id, ...oneTicket });
        for (let time = 0; time < 3; time++)
          expect(await checkout().refund(o.id, { id, ...oneTicket, rule: "as-paid" })).toEqual(first);
        const others: RefundRequest[] = [
          { lines: { ticket: 2 } },
          { amountCents: 3749 },
          { ...oneTicket, rule: "cards-first" },
        ];
        for (const wish of others)
          await expect(checkout().refund(o.id, { id, ...wish })).rejects.toThrow(
            `The id "${id}" is that of another refund of the order.`,
          );
        expect(await back(o)).toEqual([1251, 2498]);
        expect(bank.refunds.size).toBe(1);
        await checkout().cancel(o.id);
        expect(await checkout().refund(o.id, { id, ...oneTicket })).toEqual(first);
      });

      it("is one refund where it is asked for at the same moment", async () => {
        const o = await paidOrder();
        const id = newId();
        const asked = await Promise.all(
          [1, 2, 3, 4].map(() => checkout().refund(o.id, { id, ...oneTicket })),
        );
        for (const answer of asked) expect(answer).toMatchObject(ticketBack());
        expect(await checkout().refund(o.id, { id, ...oneTicket })).toMatchObject({ isDone: true });
        expect([await back(o), ...(await paid()), bank.refunds.size]).toEqual([[1251, 2498], 3749, 0, 1]);
      });

      it("gives each order its own back where two orders use the same id, even at the same moment", async () => {
        const o = await paidOrder();
        card = await shop.card(7500);
        const other = await paidOrder();
        const late = newProcess();
        late.before("refunding", () => checkout().refund(other.id, { id: "return-1", ...oneTicket }));
        expect(await late.by.refund(o.id, { id: "return-1", ...oneTicket })).toMatchObject({
          ...{ id: "return-1", amountCents: 3749, remainderCents: 2498, isDone: true },
        });
        expect([await back(o), await back(other)]).toEqual([
          [1251, 2498],
          [1251, 2498],
        ]);
        expect(bank.refunds.size).toBe(2);
        for (const { id } of [o, other])
          expect(await checkout().refund(id, { id: "return-1", ...oneTicket })).toMatchObject({
            isDone: true,
          });
        expect(bank.refunds.size).toBe(2);
      });

      it("refuses another wish under an id that the order took at the same moment", async () => {
        const o = await paidOrder();
        const id = newId();
        const late = newProcess();
        late.before("refunding", () => checkout().refund(o.id, { id, ...oneTicket }));
        await expect(late.by.refund(o.id, { id, amountCents: 100, rule: "other-first" })).rejects.toThrow(
          "is that of another refund of the order",
        );
        expect([await stateOf(o), await back(o)]).toEqual(["paid", [1251, 2498]]);
      });
    });

    describe("whose refund meets a fault", () => {
      for (const fault of ["cut-before", "error", "busy"] as const) {
        it(`owes the card's part while the service can't take it (${fault})`, async () => {
          const o = await paidOrder();
          const id = newId();
          shop.proxy.set("canceldevalue", fault);
          const owed = { id, ...ticketBack(), isDone: false };
          expect(await checkout().refund(o.id, { id, ...oneTicket })).toEqual(owed);
          expect([await stateOf(o), await back(o), ...(await paid())]).toEqual([
            "paid",
            [1251, 2498],
            5000,
            0,
          ]);
          expect(await checkout().refund(o.id, { id, ...oneTicket })).toEqual(owed);
          shop.proxy.clear();
          await recoverElsewhere();
          expect(await paid()).toEqual([3749, 0]);
          expect(await checkout().refund(o.id, { id, ...oneTicket })).toEqual({ ...owed, isDone: true });
        });
      }

      it("gives the card's part back once where the service's answer is lost", async () => {
        const o = await paidOrder();
        const id = newId();
        shop.proxy.set("canceldevalue", "cut-after", 1);
        expect(await checkout().refund(o.id, { id, ...oneTicket })).toMatchObject({ isDone: false });
        expect(await paid()).toEqual([3749, 0]);
        await recoverElsewhere();
        expect(await checkout().refund(o.id, { id, ...oneTicket })).toMatchObject({ isDone: true });
        expect(await paid()).toEqual([3749, 0]);
      });

      for (const [what, refund] of Object.entries({
        "throws at once": fail,
        rejects: () => Promise.reject(down),
        "never answers": () => new Promise<never>(() => {}),
      })) {
        it(`owes the remainder's part where its method ${what}`, async () => {
          const o = await paidOrder();
          const id = newId();
          const remainder = { ...bank.method, refund };
          const bad = { remainder, leaseMs: 1000 };
          const code = what === "never answers" ? "refund:timeout" : "refund:ECONNRESET";
          expect(await checkout(bad).refund(o.id, { id, ...oneTicket })).toEqual({
            id,
            ...ticketBack(),
            isDone: false,
          });
          expect(await store.purchases.read(o.id)).toMatchObject({
            state: "refunding",
            tries: 1,
            lastError: code,
          });
          expect([await back(o), ...(await paid())]).toEqual([[1251, 2498], 3749, 2498]);
          for (const ask of [
            () => checkout(bad).refund(o.id, { id: newId(), ...oneTicket }),
            () => checkout(bad).refundCards(o.id),
          ])
            await expect(ask()).rejects.toMatchObject({ code: "refund_in_progress", status: 409 });
          expect(await checkout(bad).retryPurchase(o.id, "ada")).toMatchObject({
            state: "refunding",
            tries: 4,
          });
          expect((await checkout().recover()).purchases).toEqual([]);
          await recoverElsewhere();
          expect([await stateOf(o), ...(await paid())]).toEqual(["paid", 3749, 0]);
          expect(await checkout().refund(o.id, { id, ...oneTicket })).toMatchObject({ isDone: true });
        });
      }

      it("gives the remainder's part back once where its method answers late, or its answer is lost", async () => {
        const late = await paidOrder();
        const answering = gate();
        const slowly: Bank["method"]["refund"] = async (...part) => {
          await bank.method.refund?.(...part);
          await answering.pass(null);
        };
        const slow = checkout({ remainder: { ...bank.method, refund: slowly }, leaseMs: 1000 });
        expect(await slow.refund(late.id, { id: newId(), ...oneTicket })).toMatchObject({ isDone: false });
        await recoverElsewhere();
        answering.open();
        expect([await stateOf(late), ...(await paid()), bank.refunds.size]).toEqual(["paid", 3749, 0, 1]);
        card = await shop.card(7500);
        const lost = await paidOrder();
        const losing: Bank["method"]["refund"] = async (...part) => {
          await bank.method.refund?.(...part);
          throw down;
        };
        const bad = checkout({ remainder: { ...bank.method, refund: losing } });
        const id = newId();
        expect(await bad.refund(lost.id, { id, ...oneTicket })).toMatchObject({ isDone: false });
        // The shop itself asks again, before recovery does.
        expect(await checkout().refund(lost.id, { id, ...oneTicket })).toMatchObject({ isDone: true });
        expect([await stateOf(lost), ...(await paid()), bank.refunds.size]).toEqual(["paid", 3749, 0, 2]);
      });

      it("waits for a process whose method gives parts back", async () => {
        const o = await paidOrder();
        bank.isDown = true;
        await checkout().refund(o.id, { id: newId(), ...oneTicket });
        bank.isDown = false;
        const { refund: _, ...remainder } = bank.method;
        await recoverElsewhere({ remainder });
        expect(await store.purchases.read(o.id)).toMatchObject({
          ...{ state: "refunding", lastError: "refund:no_function" },
        });
        await recoverElsewhere();
        expect([await stateOf(o), ...(await paid())]).toEqual(["paid", 3749, 0]);
      });

      it("gives the remainder's part back though the card's can't be written, and that one later", async () => {
        const o = await paidOrder();
        const late = newProcess();
        // As often as it tries.
        for (let time = 0; time < 20; time++) late.journal.before("move", fail);
        for (let time = 0; time < 20; time++) late.journal.before("moveAll", fail);
        expect(await late.by.refund(o.id, { id: newId(), ...oneTicket })).toMatchObject({ isDone: false });
        expect(await store.purchases.read(o.id)).toMatchObject({
          ...{ state: "refunding", lastError: "card:ECONNRESET" },
        });
        expect(await paid()).toEqual([5000, 0]);
        // What it has taken is gone for everybody else, though the journal doesn't know yet.
        expect(await checkout().refundPlan(o.id, { amountCents: 5000 })).toEqual({
          ...{ isPossible: false, amountCents: 5000, nearest: [shares(3749, 0)] },
        });
        await recoverElsewhere();
        expect([await stateOf(o), ...(await paid()), bank.refunds.size]).toEqual(["paid", 3749, 0, 1]);
      });

      /** What a process does with its store until it dies: right before a call, or right after it. */
      function dyingStore(at: number, isAfter: boolean) {
        const death = gate();
        let calls = 0;
        const dying = <Part extends object>(part: Part): Part =>
          new Proxy(part, {
            get(target, method) {
              const own = Reflect.get(target, method);
              if (typeof own !== "function") return own;
              return async (...args: unknown[]) => {
                calls += 1;
                if (calls < at) return own.apply(target, args);
                if (isAfter && calls === at) await own.apply(target, args);
                return death.pass(null);
              };
            },
          });
        return {
          store: { purchases: dying(store.purchases), journal: dying(store.journal) },
          died: death.arrived,
        };
      }

      for (const isAfter of [false, true]) {
        it(`is whole whenever its process dies, ${isAfter ? "after" : "before"} each call of its store`, async () => {
          let hasEnded = false;
          for (let at = 1; !hasEnded; at++) {
            expect(at).toBeLessThan(60);
            bank = new Bank();
            card = await shop.card(7500);
            const o = await paidOrder();
            const id = newId();
            const dying = dyingStore(at, isAfter);
            const refunding = checkout({ store: dying.store }).refund(o.id, { id, ...oneTicket });
            hasEnded = await Promise.race([refunding.then(() => true), dying.died.then(() => false)]);
            await recoverElsewhere();
            // Not begun at all, or done as a whole.
            const refunds = await store.purchases.refunds(o.id);
            expect(refunds.every(({ doneAt }) => doneAt !== null)).toBe(true);
            const isBegun = refunds.length === 1;
            expect([at, await stateOf(o), ...(await paid())]).toEqual([
              ...[at, "paid", ...(isBegun ? [3749, 0] : [5000, 2498])],
            ]);
            expect(await checkout().refund(o.id, { id, ...oneTicket })).toEqual({
              id,
              ...ticketBack(),
              isDone: true,
            });
            expect([at, ...(await paid()), bank.refunds.size]).toEqual([at, 3749, 0, 1]);
          }
        }, 120_000);
      }

      it("leaves a charge with its order that wasn't given to it yet", async () => {
        const o = await order();
        const dying = newProcess();
        for (let time = 0; time < 2; time++)
          dying.journal.before("move", fail, (_, move) => move.to === "committed");
        await commit(o, dying.by);
        expect((await chargesOf(o)).map(({ state }) => state)).toEqual(["devalued", "devalued"]);
        bank.isDown = true;
        await checkout().refund(o.id, { id: newId(), ...oneTicket });
        expect(await stateOf(o)).toBe("refunding");
        await store.letLeasesRunOut(["charge"]);
        await checkout().recover();
        expect((await chargesOf(o)).map(({ state }) => state)).toEqual(["committed", "reversed"]);
        bank.isDown = false;
        await recoverElsewhere();
        expect([await stateOf(o), ...(await paid())]).toEqual(["paid", 3749, 0]);
      });
    });

    describe("that two want something of at the same moment", () => {
      it("is planned anew where another refund began and ended in between", async () => {
        const o = await paidOrder();
        const late = newProcess();
        let first: OrderRefund | undefined;
        late.before("refunding", async () => {
          first = await checkout().refund(o.id, { id: newId(), ...oneTicket });
        });
        const second = await late.by.refund(o.id, { id: newId(), ...oneTicket });
        expect([first, second]).toMatchObject([ticketBack(), shares(3749, 0)]);
        expect([await stateOf(o), ...(await paid())]).toEqual(["refunded", 0, 0]);
      });

      it("is refused where the other refund left too little", async () => {
        const o = await paidOrder();
        const late = newProcess();
        late.before("refunding", () => checkout().refund(o.id, { id: newId(), lines: { ticket: 2 } }));
        await expect(late.by.refund(o.id, { id: newId(), ...oneTicket })).rejects.toThrow("0 are left");
        expect([await stateOf(o), ...(await paid())]).toEqual(["refunded", 0, 0]);
      });

      it("waits while the other is at it", async () => {
        const o = await paidOrder();
        const asking = gate();
        const refund: Bank["method"]["refund"] = async (...part) => {
          await asking.pass(null);
          return bank.method.refund?.(...part);
        };
        const first = checkout({ remainder: { ...bank.method, refund } }).refund(o.id, {
          id: newId(),
          ...oneTicket,
        });
        await asking.arrived;
        const second = { id: newId(), ...oneTicket };
        for (const ask of [() => checkout().refund(o.id, second), () => checkout().refundCards(o.id)])
          await expect(ask()).rejects.toMatchObject({ code: "refund_in_progress" });
        await expect(checkout().cancel(o.id)).rejects.toEqual(refusal("payment_in_progress"));
        // What is on its way already is none of the other's.
        const [kept, going] = await chargesOf(o);
        expect(await checkout().refundCards(o.id, going?.reference)).toMatchObject([{ state: "reversed" }]);
        expect((await checkout().recover()).purchases).toEqual([]);
        expect([await stateOf(o), bank.refunds.size, kept?.state]).toEqual(["refunding", 0, "committed"]);
        asking.open();
        expect(await first).toMatchObject({ isDone: true });
        await checkout().refund(o.id, second);
        expect([await stateOf(o), ...(await paid()), bank.refunds.size]).toEqual(["refunded", 0, 0, 1]);
      });

      it("gives back what many ask for, each once, to the cent", async () => {
        const o = await paidOrder([{ id: "cup", quantity: 8, totalCents: 7499 }]);
        const ids = Array.from({ length: 8 }, newId);
        const ask = async (id: string): Promise<OrderRefund> => {
          try {
            return await checkout().refund(o.id, { id, lines: { cup: 1 } });
          } catch (error) {
            expect(error).toMatchObject({ code: "refund_in_progress" });
            await sleep(5);
            return ask(id);
          }
        };
        const refunds = await Promise.all(ids.map(ask));
        expect(refunds.reduce((sum, { amountCents }) => sum + amountCents, 0)).toBe(7499);
        const written = await store.purchases.refunds(o.id);
        expect(written.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
        expect([await stateOf(o), ...(await paid())]).toEqual(["refunded", 0, 0]);
      });

      it("is recovered once where the process that is at it only stood still", async () => {
        const o = await paidOrder();
        const id = newId();
        const late = newProcess();
        late.purchases.before(
          "change",
          recoverElsewhere,
          (_, change) => change.to === "refunding" && !change.refund,
        );
        expect(await late.by.refund(o.id, { id, ...oneTicket })).toMatchObject({ isDone: true });
        expect([late.told, await stateOf(o), ...(await paid()), bank.refunds.size]).toEqual([
          ...[["refunding"], "paid", 3749, 0, 1],
        ]);
      });

      it("stays with whoever took its refund over", async () => {
        const o = await paidOrder();
        const takeOver = async () => {
          await store.letLeasesRunOut(["purchase"]);
          await store.purchases.claim({ owner: "another", forMs: 60_000 }, 1, o.id);
        };
        const late = newProcess();
        late.before("paid", takeOver);
        expect(await late.by.refund(o.id, { id: newId(), ...oneTicket })).toMatchObject({ isDone: false });
        expect([late.told, await stateOf(o)]).toEqual([["refunding"], "refunding"]);
        await store.letLeasesRunOut();
        const canceler = newProcess();
        canceler.before("canceling", takeOver);
        await expect(canceler.by.cancel(o.id)).rejects.toEqual(refusal("payment_in_progress"));
        expect([canceler.told, await stateOf(o), bank.cancels]).toEqual([[], "refunding", []]);
        await recoverElsewhere();
        expect([await stateOf(o), ...(await paid()), bank.refunds.size]).toEqual(["paid", 3749, 0, 1]);
      });

      it("is reversed as a whole where nobody is at its refund, and that refund gives nothing more", async () => {
        const o = await paidOrder();
        const id = newId();
        const asking = gate();
        const refund: Bank["method"]["refund"] = async (...part) => {
          await asking.pass(null);
          return bank.method.refund?.(...part);
        };
        const frozen = checkout({ remainder: { ...bank.method, refund } }).refund(o.id, { id, ...oneTicket });
        await asking.arrived;
        await store.letLeasesRunOut();
        await checkout().cancel(o.id);
        expect([await stateOf(o), ...(await paid()), bank.cancels.length]).toEqual(["canceled", 0, 0, 1]);
        asking.open();
        expect(await frozen).toEqual({ id, ...ticketBack(), isDone: true });
        expect([await stateOf(o), ...(await paid()), bank.refunds.size]).toEqual(["canceled", 0, 0, 0]);
        expect(await back(o)).toEqual([5000, 2498]);
      });

      it("gives the rest back where it is reversed after a refund", async () => {
        const o = await paidOrder();
        await checkout().refund(o.id, { id: newId(), amountCents: 1000, rule: "other-first" });
        await checkout().refund(o.id, { id: newId(), amountCents: 1251, rule: "cards-first" });
        expect(await paid()).toEqual([3749, 1498]);
        await checkout().cancel(o.id);
        expect([await stateOf(o), ...(await paid()), await back(o)]).toEqual([
          "canceled",
          0,
          0,
          [5000, 2498],
        ]);
      });

      it("is reversed where the refund comes a moment later, and is refunded where it comes a moment before", async () => {
        const later = await paidOrder();
        const refunder = newProcess();
        refunder.before("refunding", () => checkout().cancel(later.id));
        await expect(refunder.by.refund(later.id, { id: newId(), ...oneTicket })).rejects.toThrow(
          RefundError,
        );
        expect([await stateOf(later), ...(await paid())]).toEqual(["canceled", 0, 0]);
        const before = await paidOrder();
        const canceler = newProcess();
        canceler.before("canceling", () => checkout().refund(before.id, { id: newId(), ...oneTicket }));
        await canceler.by.cancel(before.id);
        expect([await stateOf(before), ...(await paid())]).toEqual(["canceled", 0, 0]);
        expect(bank.refunds.size).toBe(1);
      });

      it("has its cards refunded once where a refund was as fast", async () => {
        const o = await paidOrder();
        const late = newProcess();
        late.before("refunding", () => checkout().refund(o.id, { id: newId(), ...oneTicket }));
        const views = await late.by.refundCards(o.id);
        expect(views.map(({ state }) => state)).toEqual(["reversed", "reversed"]);
        expect([await stateOf(o), ...(await paid()), await back(o)]).toEqual([
          "refunded",
          0,
          0,
          [5000, 2498],
        ]);
      });

      it("gives what is left to the remainder's method once its cards were refunded", async () => {
        const o = await paidOrder();
        await Promise.all([
          checkout().refundCards(o.id),
          checkout()
            .refundCards(o.id)
            .catch(() => {}),
        ]);
        expect([await stateOf(o), ...(await paid())]).toEqual(["paid", 0, 2498]);
        await checkout().refundCards(o.id);
        expect((await store.purchases.refunds(o.id)).length).toBe(1);
        const nearest = [shares(0, 2498)];
        expect(await checkout().refundPlan(o.id, oneTicket)).toMatchObject({ isPossible: false, nearest });
        await checkout().refund(o.id, { id: newId(), amountCents: 2498 });
        expect([await stateOf(o), ...(await paid())]).toEqual(["refunded", 0, 0]);
      });
    });
  });
}
