import { type Cents, cents } from "@giftcard-pay/client";
import { expect, it } from "vitest";
import type { CheckoutOptions } from "../src/index.js";
import { gate } from "./bank.js";
import { onEachStore } from "./each-store.js";
import { tickets, withTickets } from "./tickets.js";

onEachStore("an order that is charged by line", (stage) => {
  const { shop, store, bank, card, newCard, checkout, order, pay, recoverElsewhere, stateOf, chargesOf, paid } = stage;
  const { paidOrder } = withTickets(stage);

  it("takes the same amount as a single charge, and returns it by card", async () => {
    const o = await order(tickets);
    expect(await pay(o)).toMatchObject({
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

  it("continues with the next card", async () => {
    const more = await shop.card(1000);
    const o = await paidOrder(tickets, more);
    expect((await chargesOf(o)).map(({ amountCents }) => amountCents)).toEqual([3749, 1251, 1000]);
    expect([...(await paid()), await more.balanceCents()]).toEqual([5000, 1498, 0]);
  });

  it("has at most the maximum number of charges per card", async () => {
    const cups = [{ id: "cup", quantity: 30, totalCents: cents(3000) }];
    const single = await paidOrder(cups);
    expect(await chargesOf(single)).toHaveLength(30);
    await newCard();
    const o = await order(cups);
    await pay(o, checkout({ maxChargesPerCard: 2 }));
    expect((await chargesOf(o)).map(({ amountCents }) => amountCents)).toEqual([100, 2900]);
    expect(await paid()).toEqual([3000, 0]);
  });

  for (const fault of ["cut-before", "cut-after", "error"] as const) {
    it(`takes nothing if its second charge fails (${fault})`, async () => {
      const o = await order(tickets);
      shop.proxy.set("devalue", fault, 1, 1);
      await expect(pay(o)).rejects.toThrow();
      await recoverElsewhere();
      expect(await stateOf(o)).toBe("failed");
      expect(await paid()).toEqual([0, 0]);
      expect(await pay(o)).toMatchObject({ status: "paid" });
      expect(await paid()).toEqual([5000, 2498]);
    });
  }

  it("takes nothing if its process dies between two charges", async () => {
    const o = await order(tickets);
    const death = gate();
    let sent = 0;
    const devalue: CheckoutOptions["issuer"]["devalue"] = async (charge) => {
      sent += 1;
      return sent === 2 ? death.pass(null as never) : shop.client.devalue(charge);
    };
    void pay(o, checkout({ issuer: { ...shop.client, devalue } })).catch(() => {});
    await death.arrived;
    expect(await paid()).toEqual([3749, 0]);
    await recoverElsewhere();
    expect(await stateOf(o)).toBe("failed");
    expect(await paid()).toEqual([0, 0]);
  });

  it("is refused before any money moves if its lines are invalid or don't add up", async () => {
    const o = await order(tickets);
    const of = (wrong: object) => [{ ...tickets[0], ...wrong }];
    const wrong: [string, unknown][] = [
      ["order.lines are needed", undefined],
      ["order.lines has to be a list", {}],
      ["order.lines has to add up", []],
      ["order.lines has to add up", of({ totalCents: 7499 })],
      ["order.lines has two lines with the same id", [...of({ totalCents: 7000 }), ...of({ totalCents: 498 })]],
      ["order.lines has more than 10000 units", of({ quantity: 10_001 })],
      ["order.lines[0].id", of({ id: "" })],
      ["order.lines[0].id", [null]],
      ["order.lines[0].quantity", of({ quantity: 0 })],
      ["order.lines[0].quantity", of({ quantity: "2" })],
      ["order.lines[0].totalCents", of({ totalCents: "7498" })],
      ["order.lines[0].totalCents", of({ totalCents: 7498.5 })],
      ["order.lines[1].totalCents", [...of({ totalCents: 7499 }), { id: "b", quantity: 1, totalCents: -1 as Cents }]],
    ];
    for (const [named, lines] of wrong) {
      const byLine = checkout({ charges: "by-line" });
      const error = await pay({ ...o, lines } as never, byLine).catch((thrown: unknown) => thrown);
      expect([lines, error]).toEqual([lines, expect.any(TypeError)]);
      expect(String(error)).toContain(named);
    }
    expect(await store.purchases.read(o.id)).toBeNull();
    const { lines: _, ...without } = o;
    expect(await checkout().pay(without)).toMatchObject({
      status: "paid",
    });
    expect((await checkout().read(o.id))?.lines).toBeNull();
  });

  it("has the lines of the attempt that paid it", async () => {
    const o = await order(tickets);
    bank.mood = "decline";
    await pay({ ...o, lines: [{ id: "other", quantity: 1, totalCents: cents(7498) }] });
    bank.mood = "approve";
    await pay(o);
    await pay({ ...o, lines: [{ id: "later", quantity: 1, totalCents: cents(7498) }] });
    expect((await checkout().read(o.id))?.lines).toEqual(tickets);
    expect(await paid()).toEqual([5000, 2498]);
  });
});
