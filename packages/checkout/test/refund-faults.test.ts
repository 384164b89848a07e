import { cents } from "@giftcard-pay/client";
import { expect, it } from "vitest";
import { type Bank, gate } from "./bank.js";
import { down, fail, onEachStore } from "./each-store.js";
import { newId, oneTicket, tickets, withTickets } from "./tickets.js";

onEachStore("a refund with faults", (stage) => {
  const {
    shop,
    store,
    bank,
    newCard,
    newBank,
    checkout,
    newProcess,
    order,
    pay,
    recoverElsewhere,
    stateOf,
    chargesOf,
    paid,
  } = stage;
  const { paidOrder, shares, ticketBack, back } = withTickets(stage);

  for (const fault of ["cut-before", "error", "busy"] as const) {
    it(`owes the card's part while the service fails (${fault})`, async () => {
      const o = await paidOrder();
      const id = newId();
      shop.proxy.set("canceldevalue", fault);
      const owed = { id, ...ticketBack(), isDone: false };
      expect((await checkout().refund(o.id, { id, ...oneTicket })).refund).toEqual(owed);
      expect([await stateOf(o), await back(o), ...(await paid())]).toEqual(["paid", [1251, 2498], 5000, 0]);
      expect((await checkout().refund(o.id, { id, ...oneTicket })).refund).toEqual(owed);
      const owedParts = async () => {
        const { cards, remainder } = await checkout().paidBy(o.id);
        return [...cards, remainder].map(({ refundedCents, owedCents }) => [refundedCents, owedCents]);
      };
      expect(await owedParts()).toEqual([
        [0, 1251],
        [2498, 0],
      ]);
      shop.proxy.clear();
      await recoverElsewhere();
      expect(await paid()).toEqual([3749, 0]);
      expect(await owedParts()).toEqual([
        [1251, 0],
        [2498, 0],
      ]);
      expect((await checkout().refund(o.id, { id, ...oneTicket })).refund).toEqual({ ...owed, isDone: true });
    });
  }

  it("reverses the card once if the service's response is lost", async () => {
    const o = await paidOrder();
    const id = newId();
    shop.proxy.set("canceldevalue", "cut-after", 1);
    expect((await checkout().refund(o.id, { id, ...oneTicket })).refund).toMatchObject({ isDone: false });
    expect(await paid()).toEqual([3749, 0]);
    await recoverElsewhere();
    expect((await checkout().refund(o.id, { id, ...oneTicket })).refund).toMatchObject({ isDone: true });
    expect(await paid()).toEqual([3749, 0]);
  });

  for (const [what, refund] of Object.entries({
    "throws at once": fail,
    rejects: () => Promise.reject(down),
    "never answers": () => new Promise<never>(() => {}),
  })) {
    it(`owes the remainder's part if its method ${what}`, async () => {
      const o = await paidOrder();
      const id = newId();
      const remainder = { ...bank.method, refund };
      const bad = { remainder, leaseMs: 1000 };
      const code = what === "never answers" ? "refund:timeout" : "refund:ECONNRESET";
      expect((await checkout(bad).refund(o.id, { id, ...oneTicket })).refund).toEqual({
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
      expect(await checkout(bad).operator.retryPurchase(o.id, "ada")).toMatchObject({
        state: "refunding",
        tries: 4,
      });
      expect((await checkout().recover()).purchases).toEqual([]);
      await recoverElsewhere();
      expect([await stateOf(o), ...(await paid())]).toEqual(["paid", 3749, 0]);
      expect((await checkout().refund(o.id, { id, ...oneTicket })).refund).toMatchObject({ isDone: true });
    });
  }

  it("refunds the remainder once if its method responds late, or its response is lost", async () => {
    const late = await paidOrder();
    const answering = gate();
    const slowly: Bank["method"]["refund"] = async (...part) => {
      await bank.method.refund?.(...part);
      await answering.pass(null);
    };
    const slow = checkout({ remainder: { ...bank.method, refund: slowly }, leaseMs: 1000 });
    expect((await slow.refund(late.id, { id: newId(), ...oneTicket })).refund).toMatchObject({ isDone: false });
    await recoverElsewhere();
    answering.open();
    expect([await stateOf(late), ...(await paid()), bank.refunds.size]).toEqual(["paid", 3749, 0, 1]);
    await newCard();
    const lost = await paidOrder();
    const losing: Bank["method"]["refund"] = async (...part) => {
      await bank.method.refund?.(...part);
      throw down;
    };
    const bad = checkout({ remainder: { ...bank.method, refund: losing } });
    const id = newId();
    expect((await bad.refund(lost.id, { id, ...oneTicket })).refund).toMatchObject({ isDone: false });
    // The shop itself repeats the call before recovery does.
    expect((await checkout().refund(lost.id, { id, ...oneTicket })).refund).toMatchObject({ isDone: true });
    expect([await stateOf(lost), ...(await paid()), bank.refunds.size]).toEqual(["paid", 3749, 0, 2]);
  });

  it("waits for a process with the remainder method's refund", async () => {
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

  it("refunds the remainder although the card's reversal can't be recorded, and the card later", async () => {
    const o = await paidOrder();
    const late = newProcess();
    // For every attempt.
    for (let time = 0; time < 20; time++) late.journal.before("move", fail);
    for (let time = 0; time < 20; time++) late.journal.before("moveAll", fail);
    expect((await late.by.refund(o.id, { id: newId(), ...oneTicket })).refund).toMatchObject({ isDone: false });
    expect(await store.purchases.read(o.id)).toMatchObject({
      ...{ state: "refunding", lastError: "card:ECONNRESET" },
    });
    expect(await paid()).toEqual([5000, 0]);
    // Its charges are taken for all other refunds, although the journal doesn't show it yet.
    expect(await checkout().refundPlan(o.id, { amountCents: cents(5000) })).toEqual({
      ...{ isPossible: false, amountCents: 5000, nearest: [shares(3749, 0)] },
    });
    await recoverElsewhere();
    expect([await stateOf(o), ...(await paid()), bank.refunds.size]).toEqual(["paid", 3749, 0, 1]);
  });

  /** Makes a store whose process dies right before or right after a certain call. */
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
    it(`is completed if its process dies ${isAfter ? "after" : "before"} any call of its store`, async () => {
      let hasEnded = false;
      for (let at = 1; !hasEnded; at++) {
        expect(at).toBeLessThan(60);
        newBank();
        await newCard();
        const o = await paidOrder();
        const id = newId();
        const dying = dyingStore(at, isAfter);
        const refunding = checkout({ store: dying.store }).refund(o.id, { id, ...oneTicket });
        hasEnded = await Promise.race([refunding.then(() => true), dying.died.then(() => false)]);
        await recoverElsewhere();
        // Either not recorded, or done completely.
        const refunds = await store.purchases.refunds(o.id);
        expect(refunds.every(({ doneAt }) => doneAt !== null)).toBe(true);
        const isBegun = refunds.length === 1;
        expect([at, await stateOf(o), ...(await paid())]).toEqual([
          ...[at, "paid", ...(isBegun ? [3749, 0] : [5000, 2498])],
        ]);
        expect((await checkout().refund(o.id, { id, ...oneTicket })).refund).toEqual({
          id,
          ...ticketBack(),
          isDone: true,
        });
        expect([at, ...(await paid()), bank.refunds.size]).toEqual([at, 3749, 0, 1]);
      }
    }, 120_000);
  }

  it("keeps a charge of the order that was not committed yet", async () => {
    const o = await order(tickets);
    const dying = newProcess();
    for (let time = 0; time < 2; time++) dying.journal.before("move", fail, (_, move) => move.to === "committed");
    await pay(o, dying.by);
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
