import { setTimeout as sleep } from "node:timers/promises";
import { cents } from "@giftcard-pay/client";
import { expect, it } from "vitest";
import { type OrderRefund, RefundError } from "../src/index.js";
import { type Bank, gate } from "./bank.js";
import { onEachStore, refusal } from "./each-store.js";
import { newId, oneTicket, withTickets } from "./tickets.js";

onEachStore("an order that two processes refund or cancel at once", (stage) => {
  const { store, bank, checkout, newProcess, recoverElsewhere, stateOf, chargesOf, paid } = stage;
  const { paidOrder, back, shares, ticketBack } = withTickets(stage);

  it("is planned again if another refund was made in between", async () => {
    const o = await paidOrder();
    const late = newProcess();
    let first: OrderRefund | undefined;
    late.before("refunding", async () => {
      first = (await checkout().refund(o.id, { id: newId(), ...oneTicket })).refund;
    });
    const { refund: second } = await late.by.refund(o.id, { id: newId(), ...oneTicket });
    expect([first, second]).toMatchObject([ticketBack(), shares(3749, 0)]);
    expect([await stateOf(o), ...(await paid())]).toEqual(["refunded", 0, 0]);
  });

  it("is refused if another refund has left too little", async () => {
    const o = await paidOrder();
    const late = newProcess();
    late.before("refunding", () => checkout().refund(o.id, { id: newId(), lines: { ticket: 2 } }));
    await expect(late.by.refund(o.id, { id: newId(), ...oneTicket })).rejects.toThrow("has only 0 units left");
    expect([await stateOf(o), ...(await paid())]).toEqual(["refunded", 0, 0]);
  });

  it("is refused during another refund", async () => {
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
    // The charges of the running refund are not available to others.
    const [kept, going] = await chargesOf(o);
    expect(await checkout().refundCards(o.id, going?.reference)).toMatchObject([{ state: "reversed" }]);
    expect((await checkout().recover()).purchases).toEqual([]);
    expect([await stateOf(o), bank.refunds.size, kept?.state]).toEqual(["refunding", 0, "committed"]);
    asking.open();
    expect((await first).refund).toMatchObject({ isDone: true });
    await checkout().refund(o.id, second);
    expect([await stateOf(o), ...(await paid()), bank.refunds.size]).toEqual(["refunded", 0, 0, 1]);
  });

  it("makes each of many concurrent refunds once, to the cent", async () => {
    const o = await paidOrder([{ id: "cup", quantity: 8, totalCents: cents(7499) }]);
    const ids = Array.from({ length: 8 }, newId);
    const ask = async (id: string): Promise<OrderRefund> => {
      try {
        return (await checkout().refund(o.id, { id, lines: { cup: 1 } })).refund;
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

  it("is refunded once if its process stalled and recovery took over", async () => {
    const o = await paidOrder();
    const id = newId();
    const late = newProcess();
    late.purchases.before("change", recoverElsewhere, (_, change) => change.to === "refunding" && !change.refund);
    expect((await late.by.refund(o.id, { id, ...oneTicket })).refund).toMatchObject({ isDone: true });
    expect([late.announced, await stateOf(o), ...(await paid()), bank.refunds.size]).toEqual([
      ...[["refunding"], "paid", 3749, 0, 1],
    ]);
  });

  it("stays with the process that has taken its refund over", async () => {
    const o = await paidOrder();
    const takeOver = async () => {
      await store.letLeasesRunOut(["purchase"]);
      await store.purchases.claim({ owner: "another", forMs: 60_000 }, 1, o.id);
    };
    const late = newProcess();
    late.before("paid", takeOver);
    expect((await late.by.refund(o.id, { id: newId(), ...oneTicket })).refund).toMatchObject({ isDone: false });
    expect([late.announced, await stateOf(o)]).toEqual([["refunding"], "refunding"]);
    await store.letLeasesRunOut();
    const canceler = newProcess();
    canceler.before("canceling", takeOver);
    await expect(canceler.by.cancel(o.id)).rejects.toEqual(refusal("payment_in_progress"));
    expect([canceler.announced, await stateOf(o), bank.cancels]).toEqual([[], "refunding", []]);
    await recoverElsewhere();
    expect([await stateOf(o), ...(await paid()), bank.refunds.size]).toEqual(["paid", 3749, 0, 1]);
  });

  it("is canceled in full if the process of its refund died, and that refund refunds nothing more", async () => {
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
    expect((await frozen).refund).toEqual({ id, ...ticketBack(), isDone: true });
    expect([await stateOf(o), ...(await paid()), bank.refunds.size]).toEqual(["canceled", 0, 0, 0]);
    expect(await back(o)).toEqual([5000, 2498]);
  });

  it("refunds what is left if it is canceled after a refund", async () => {
    const o = await paidOrder();
    await checkout().refund(o.id, { id: newId(), amountCents: cents(1000), rule: "remainder-first" });
    await checkout().refund(o.id, { id: newId(), amountCents: cents(1251), rule: "cards-first" });
    expect(await paid()).toEqual([3749, 1498]);
    await checkout().cancel(o.id);
    expect([await stateOf(o), ...(await paid()), await back(o)]).toEqual(["canceled", 0, 0, [5000, 2498]]);
  });

  it("is canceled right before a refund, or right after it", async () => {
    const later = await paidOrder();
    const refunder = newProcess();
    refunder.before("refunding", () => checkout().cancel(later.id));
    await expect(refunder.by.refund(later.id, { id: newId(), ...oneTicket })).rejects.toThrow(RefundError);
    expect([await stateOf(later), ...(await paid())]).toEqual(["canceled", 0, 0]);
    const before = await paidOrder();
    const canceler = newProcess();
    canceler.before("canceling", () => checkout().refund(before.id, { id: newId(), ...oneTicket }));
    await canceler.by.cancel(before.id);
    expect([await stateOf(before), ...(await paid())]).toEqual(["canceled", 0, 0]);
    expect(bank.refunds.size).toBe(1);
  });

  it("has its cards refunded once if a refund races", async () => {
    const o = await paidOrder();
    const late = newProcess();
    late.before("refunding", () => checkout().refund(o.id, { id: newId(), ...oneTicket }));
    const views = await late.by.refundCards(o.id);
    expect(views.map(({ state }) => state)).toEqual(["reversed", "reversed"]);
    expect([await stateOf(o), ...(await paid()), await back(o)]).toEqual(["refunded", 0, 0, [5000, 2498]]);
  });

  it("refunds what is left by the remainder method once its cards are refunded", async () => {
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
    await checkout().refund(o.id, { id: newId(), amountCents: cents(2498) });
    expect([await stateOf(o), ...(await paid())]).toEqual(["refunded", 0, 0]);
  });
});
