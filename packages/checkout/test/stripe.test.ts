import { cents } from "@giftcard-pay/client";
import { expect, it } from "vitest";
import type { RemainderFault } from "../src/remainder.js";
import { onEachStore, refusal } from "./each-store.js";
import { newId, oneTicket, withTickets } from "./tickets.js";
import { ASKS_FOR_MORE, DECLINED, VISA, withStripe } from "./with-stripe.js";

onEachStore("a remainder by Stripe, confirmed by the server,", (stage) => {
  const { store, checkout, order, recoverElsewhere, stateOf } = stage;
  const { played, wire, inPage, hears, intentOf, intentsOf, standing, diesAt, token } = withStripe(stage);

  it("is paid, with the attempt as idempotency key and the order in the metadata", async () => {
    const o = await order();
    const remainder = inPage();
    expect(await checkout({ remainder }).pay(o, { input: token() })).toMatchObject({ status: "paid" });
    expect(await standing(o)).toEqual(["paid", 5000, 2498]);
    const { attemptId, remainderData } = (await store.purchases.read(o.id)) ?? {};
    expect(intentOf(o)).toMatchObject({ amount: 2498, currency: "eur", metadata: { orderId: o.id, attemptId } });
    const keys = played.calls.filter(({ method }) => method === "POST").map(({ key }) => key);
    expect(keys).toEqual([attemptId, `${attemptId}:confirm`]);
    expect(JSON.parse(String(remainderData))).toEqual({ intent: intentOf(o).id, confirmedBy: "shop" });
  });

  it("confirms nothing before the id is stored, whatever the shop's parameters are", async () => {
    const o = await order();
    const remainder = inPage({ parameters: () => ({ confirm: true, amount: 1, description: "Two tickets" }) });
    expect(await checkout({ remainder }).pay(o)).toMatchObject({ status: "pending" });
    expect(intentOf(o)).toMatchObject({
      status: "requires_payment_method",
      amount: 2498,
      description: "Two tickets",
    });
    expect(await standing(o)).toEqual(["pending", 5000, 0]);
  });

  it("is declined: the card is reversed, the intent is canceled, and the shopper can pay anew", async () => {
    const o = await order();
    const by = checkout({ remainder: inPage() });
    expect(await by.pay(o, { input: token(DECLINED) })).toMatchObject({ status: "declined" });
    expect(await standing(o)).toEqual(["failed", 0, 0]);
    expect(intentOf(o)).toMatchObject({ status: "canceled" });
    expect(await by.pay(o, { input: token() })).toMatchObject({ status: "paid" });
    expect(await standing(o)).toEqual(["paid", 5000, 2498]);
  });

  it("refuses another input than an id of Stripe's before anything is sent", async () => {
    for (const input of ["", "tok_visa", "pi_1", 7, { id: "pm_1" }, "pm_1&amount=1"]) {
      const o = await order();
      await expect(checkout({ remainder: inPage() }).pay(o, { input })).rejects.toThrow(/confirmation token/);
      expect(await standing(o)).toEqual(["failed", 0, 0]);
    }
    expect(played.calls).toEqual([]);
  });

  for (const [outcome, expected] of [
    ["succeed", ["paid", 5000, 2498]],
    ["fail", ["failed", 0, 0]],
  ] as const) {
    it(`waits while the bank asks the shopper, who authenticates: ${outcome}`, async () => {
      const o = await order();
      const remainder = inPage();
      const by = checkout({ remainder });
      const pending = await by.pay(o, { input: token(ASKS_FOR_MORE) });
      expect(pending.status).toBe("pending");
      const secret = await remainder.clientSecret(pending.status === "pending" ? pending.data : null);
      expect(await by.confirm(o.id)).toMatchObject({ status: "pending" });
      expect(await by.pay(o, { input: token() })).toMatchObject({ status: "pending" });
      await played.authenticate(secret, outcome);
      await by.confirm(o.id);
      expect(await standing(o)).toEqual(expected);
      expect(intentsOf(o.id)).toHaveLength(1);
      if (outcome === "fail") expect(await by.pay(o, { input: token() })).toMatchObject({ status: "paid" });
    });
  }

  for (const operation of ["create", "confirm"])
    for (const fault of ["cut-before", "cut-after", "error", "garbage", "half"] as const) {
      it(`is paid or not, but never in part, if each answer to ${operation} is lost (${fault})`, {
        tags: fault === "cut-after" ? [] : "long",
      }, async () => {
        const o = await order();
        const remainder = inPage();
        wire.set(operation, fault);
        await expect(checkout({ remainder }).pay(o, { input: token() })).rejects.toThrow();
        wire.clear();
        await recoverElsewhere({ remainder });
        expect(await standing(o)).toEqual(["failed", 0, 0]);
        expect(await checkout({ remainder }).pay(o, { input: token() })).toMatchObject({ status: "paid" });
        expect(await standing(o)).toEqual(["paid", 5000, 2498]);
      });

      it(`is paid once if one answer to ${operation} is lost (${fault})`, {
        tags: fault === "cut-after" ? [] : "long",
      }, async () => {
        const o = await order();
        const remainder = inPage();
        wire.set(operation, fault, 1);
        const paid = checkout({ remainder }).pay(o, { input: token() });
        // The SDK repeats the call, unless the answer arrived and can't be read.
        if (fault === "garbage" || fault === "half") await paid.catch(() => {});
        else expect(await paid).toMatchObject({ status: "paid" });
        await recoverElsewhere({ remainder });
        const isPaid = (await stateOf(o)) === "paid";
        expect(await standing(o)).toEqual(isPaid ? ["paid", 5000, 2498] : ["failed", 0, 0]);
      });
    }

  for (const moment of ["before keep", "after keep"] as const) {
    it(`takes nothing if the process dies ${moment}, or was frozen and goes on`, async () => {
      const o = await order();
      const remainder = inPage();
      const { goOn, ended } = await diesAt(moment, o, remainder, token());
      await checkout({ remainder }).recover();
      expect(await standing(o)).toEqual(["failed", 0, 0]);
      goOn();
      expect(await ended).toBeInstanceOf(Error);
      expect(await standing(o)).toEqual(["failed", 0, 0]);
      expect(intentOf(o)).toMatchObject({ status: "canceled" });
    });
  }

  it("is paid if the process dies after Stripe has taken the money", async () => {
    const o = await order();
    const remainder = inPage();
    const { goOn, ended } = await diesAt("after the answer", o, remainder, token());
    await checkout({ remainder }).recover();
    expect(await standing(o)).toEqual(["paid", 5000, 2498]);
    goOn();
    expect(await ended).toMatchObject({ status: "paid" });
    expect(await standing(o)).toEqual(["paid", 5000, 2498]);
  });

  it("is refunded if a replaced attempt's payment arrives by webhook", async () => {
    const o = await order();
    const remainder = inPage();
    await diesAt("before keep", o, remainder, token());
    await checkout({ remainder }).recover();
    const late = intentOf(o);
    expect(await checkout({ remainder }).pay(o, { input: token() })).toMatchObject({ status: "paid" });
    await played.confirm(late.client_secret, VISA);
    expect(await standing(o)).toEqual(["paid", 5000, 4996]);
    const send = await hears({ remainder });
    const isLate = ({ type, data }: { type: string; data: { object: { id: string } } }) =>
      type === "payment_intent.succeeded" && data.object.id === late.id;
    expect(await send(isLate)).toEqual([204]);
    expect(await send(isLate)).toEqual([204]);
    expect(await standing(o)).toEqual(["paid", 5000, 2498]);
  });

  it("decides nothing while Stripe doesn't answer, and is paid once it does", async () => {
    const o = await order();
    const remainder = inPage();
    const by = checkout({ remainder, leaseMs: 1000 });
    await by.pay(o, { input: token(ASKS_FOR_MORE) });
    await played.authenticate(intentOf(o).client_secret);
    wire.set("retrieve", "hold");
    await expect(by.confirm(o.id)).rejects.toThrow(expect.objectContaining({ code: "status:timeout" }));
    expect(await standing(o)).toEqual(["pending", 5000, 2498]);
    wire.clear();
    expect(await by.confirm(o.id)).toMatchObject({ status: "paid" });
  });
});

onEachStore("a remainder by Stripe, confirmed in the page,", (stage) => {
  const { store, checkout, order, reload, comeBack, recoverElsewhere, stateOf } = stage;
  const { played, wire, inPage, options, hears, intentOf, intentsOf, standing, diesAt } = withStripe(stage);

  /** Returns a pending order, and the secret of the page. */
  async function pending(more?: Parameters<typeof inPage>[0]) {
    const o = await order();
    const remainder = inPage(more);
    const by = checkout({ remainder });
    const result = await by.pay(o);
    if (result.status !== "pending") throw new Error(`the order is ${result.status}`);
    return { o, remainder, by, secret: await remainder.clientSecret(result.data) };
  }

  it("is the same payment after a reload and in a second tab, and is paid once", async () => {
    const { o, remainder, by, secret } = await pending();
    const again = await by.pay(o);
    expect(again.status === "pending" && (await remainder.clientSecret(again.data))).toBe(secret);
    expect(JSON.stringify(await store.purchases.read(o.id))).not.toContain("secret");
    expect(await by.confirm(o.id)).toMatchObject({ status: "pending" });
    await played.confirm(secret, DECLINED);
    expect(await by.confirm(o.id)).toMatchObject({ status: "pending" });
    expect(await played.confirm(secret, VISA)).toMatchObject({ status: 200 });
    await Promise.all([by.confirm(o.id), checkout({ remainder }).confirm(o.id), by.pay(o)]);
    expect(await standing(o)).toEqual(["paid", 5000, 2498]);
    expect(intentsOf(o.id)).toHaveLength(1);
  });

  it("is paid by a webhook before the shopper returns, and once if it comes twice", async () => {
    const { o, remainder, by, secret } = await pending();
    await played.confirm(secret, VISA);
    const send = await hears({ remainder });
    expect(await send()).toEqual([204, 204]);
    expect(await standing(o)).toEqual(["paid", 5000, 2498]);
    expect(await by.confirm(o.id)).toMatchObject({ status: "paid" });
    expect(await send()).toEqual([204, 204]);
    expect(await standing(o)).toEqual(["paid", 5000, 2498]);
  });

  it("is paid by recovery if neither webhook nor shopper comes", async () => {
    const { o, remainder, secret } = await pending();
    await played.confirm(secret, VISA);
    await recoverElsewhere({ remainder });
    expect(await standing(o)).toEqual(["paid", 5000, 2498]);
  });

  it("is canceled by recovery if the shopper doesn't pay, and then takes nothing", async () => {
    const { o, remainder, secret } = await pending();
    await recoverElsewhere({ remainder });
    expect(await standing(o)).toEqual(["failed", 0, 0]);
    expect(await played.confirm(secret, VISA)).toMatchObject({ status: 400 });
    expect(await standing(o)).toEqual(["failed", 0, 0]);
  });

  it("refuses webhooks that Stripe didn't sign, and ignores other payments", async () => {
    const { o, remainder, secret } = await pending();
    await played.confirm(secret, VISA);
    const send = await hears({ remainder: inPage({ webhookSecret: "whsec_another" }) });
    expect(await send()).toEqual([400, 400]);
    expect(await stateOf(o)).toBe("pending");
    const { webhook } = checkout({ remainder });
    const unsigned = new Request("https://shop.example/webhook", { method: "POST", body: "{}" });
    expect((await webhook(unsigned)).status).toBe(400);
    const { client } = options();
    const other = await client.paymentIntents.create({ amount: 500, currency: "eur" });
    const unknown = { orderId: "another-shop's", attemptId: "1" };
    const elsewhere = await client.paymentIntents.create({ amount: 500, currency: "eur", metadata: unknown });
    for (const { client_secret } of [other, elsewhere]) await played.confirm(String(client_secret), VISA);
    const answers = await (await hears({ remainder }))(({ type }) => type === "payment_intent.succeeded");
    expect(answers).toEqual([204, 204, 204]);
    expect(await standing(o)).toEqual(["paid", 5000, 2498]);
  });

  it("asks Stripe to send a webhook again that comes while Stripe can't be asked", async () => {
    const { o, remainder, secret } = await pending();
    await played.confirm(secret, VISA);
    const send = await hears({ remainder });
    wire.set("retrieve", "cut-before");
    const isDone = ({ type }: { type: string }) => type === "payment_intent.succeeded";
    expect(await send(isDone)).toEqual([503]);
    wire.clear();
    expect(await send(isDone)).toEqual([204]);
    expect(await standing(o)).toEqual(["paid", 5000, 2498]);
  });

  it("is canceled and paid anew if the shopper comes back with another cart", async () => {
    const { o, by, secret } = await pending();
    const anew = await by.pay(await comeBack(o, 6000, by));
    expect(anew).toMatchObject({ status: "pending", remainderCents: 1000 });
    expect(await played.confirm(secret, VISA)).toMatchObject({ status: 400 });
    const intent = intentsOf(o.id).find(({ status }) => status !== "canceled");
    expect(intent).toMatchObject({ amount: 1000 });
    await played.confirm(String(intent?.client_secret), VISA);
    expect(await by.confirm(o.id)).toMatchObject({ status: "paid" });
    expect(await standing(o)).toEqual(["paid", 5000, 1000]);
  });

  it("is not canceled by another cart if it was paid meanwhile", async () => {
    const { o, by, secret } = await pending();
    await played.confirm(secret, VISA);
    await expect(by.pay(await reload(o, 6000))).rejects.toEqual(refusal("amount_changed"));
    expect(await standing(o)).toEqual(["paid", 5000, 2498]);
  });

  it("is refunded if it is paid while its cancellation is lost", async () => {
    const { o, remainder, by, secret } = await pending();
    wire.set("cancel", "cut-before");
    await by.abandon(o.id);
    expect(await standing(o)).toEqual(["voiding", 0, 0]);
    await expect(by.pay(o)).rejects.toEqual(refusal("payment_in_progress"));
    await played.confirm(secret, VISA);
    wire.clear();
    await recoverElsewhere({ remainder });
    expect(await standing(o)).toEqual(["failed", 0, 0]);
  });

  for (const cents of [2497, 2499, 100_000]) {
    it(`is not paid by ${cents} cents instead of 2498, and is refunded in full`, async () => {
      const { o, by, secret } = await pending();
      played.intents.update(intentOf(o).id, cents);
      await played.confirm(secret, VISA);
      await expect(by.confirm(o.id)).rejects.toThrow(expect.objectContaining({ code: "status:wrong_amount" }));
      expect(await standing(o)).toEqual(["pending", 5000, cents]);
      await by.cancel(o.id);
      expect(await standing(o)).toEqual(["failed", 0, 0]);
    });
  }

  it("is not paid in another currency", async () => {
    const { o, by, secret } = await pending();
    Object.assign(intentOf(o), { currency: "usd" });
    await played.confirm(secret, VISA);
    await expect(by.confirm(o.id)).rejects.toThrow(expect.objectContaining({ code: "status:wrong_currency" }));
    expect(await stateOf(o)).toBe("pending");
  });

  it("is neither paid nor declined by another account or another order's payment", async () => {
    const { o, by, secret } = await pending();
    await played.confirm(secret, VISA);
    const { o: another } = await pending();
    const data = { intent: intentOf(o).id };
    const mistaken = { ...inPage(), status: (request: object) => inPage().status({ ...request, data } as never) };
    await expect(checkout({ remainder: mistaken }).confirm(another.id)).rejects.toThrow(/another order/);
    await played.stop();
    await expect(by.confirm(o.id)).rejects.toThrow();
    expect([await stateOf(o), await stateOf(another)]).toEqual(["pending", "pending"]);
  });

  it("is not paid if it was refunded at Stripe before the order was decided", async () => {
    for (const [amount, outcome] of [
      [2498, "declined"],
      [1, "status:wrong_amount"],
    ] as const) {
      const { o, by, secret } = await pending();
      await played.confirm(secret, VISA);
      await options().client.refunds.create({ payment_intent: intentOf(o).id, amount });
      const result = await by.confirm(o.id).catch((error) => ({ status: (error as RemainderFault).code }));
      expect(result.status).toBe(outcome);
      await by.cancel(o.id);
      expect((await standing(o))[2]).toBe(0);
    }
  });

  it("takes nothing if the process dies before or after keep", async () => {
    for (const moment of ["before keep", "after keep"] as const) {
      const o = await order();
      const remainder = inPage();
      const { goOn, ended } = await diesAt(moment, o, remainder);
      await checkout({ remainder }).recover();
      goOn();
      await ended;
      expect(await standing(o)).toEqual(["failed", 0, 0]);
    }
  });

  it("waits for a debit that Stripe processes, and refunds it if the order has failed since", async () => {
    const { o, remainder, by, secret } = await pending();
    await played.confirm(secret, "DE89370400440532013000");
    expect(await by.confirm(o.id)).toMatchObject({ status: "pending" });
    await by.abandon(o.id);
    expect(await standing(o)).toEqual(["voiding", 0, 0]);
    played.intents.settle(intentOf(o).id);
    expect(await standing(o)).toEqual(["voiding", 0, 2498]);
    await recoverElsewhere({ remainder });
    expect(await standing(o)).toEqual(["failed", 0, 0]);
  });
});

onEachStore("refunds of a remainder by Stripe", (stage) => {
  const { checkout, order, recoverElsewhere, store } = stage;
  const { played, wire, alerts, options, inPage, hears, intentOf, standing, token } = withStripe(stage);
  const { shares } = withTickets(stage);
  const tickets = [{ id: "ticket", quantity: 2, totalCents: cents(7498) }];

  async function paidOrder(more?: Parameters<typeof inPage>[0]) {
    const o = await order(tickets);
    const remainder = inPage(more);
    const by = checkout({ remainder });
    expect(await by.pay(o, { input: token() })).toMatchObject({ status: "paid" });
    return { o, remainder, by };
  }
  const backOf = () => played.refunds.all().map(({ amount, status }) => [amount, status]);

  it("return a part once, also if it is asked for twice and at the same time", async () => {
    const { o, remainder, by } = await paidOrder();
    const request = { id: newId(), amountCents: cents(999), rule: "remainder-first" } as const;
    const refund = (one = by) => one.refund(o.id, request).catch((error: Error) => error);
    await Promise.all([refund(), refund(checkout({ remainder }))]);
    expect((await by.refund(o.id, request)).refund).toMatchObject({ ...shares(0, 999), isDone: true });
    expect(await standing(o)).toEqual(["paid", 5000, 1499]);
    const { id, ...second } = { id: newId(), amountCents: cents(1499), rule: "remainder-first" as const };
    expect((await by.refund(o.id, { id, ...second })).refund).toMatchObject({ isDone: true });
    expect(backOf()).toEqual([
      [999, "succeeded"],
      [1499, "succeeded"],
    ]);
    await by.cancel(o.id);
    expect(await standing(o)).toEqual(["canceled", 0, 0]);
    expect(backOf()).toHaveLength(2);
  });

  for (const [fault, again] of [
    ["cut-before", false],
    ["cut-after", false],
    ["cut-after", true],
    ["error", false],
  ] as const) {
    it(`return a part once if the answer is lost (${fault}${again ? ", and Stripe has forgotten the key" : ""})`, {
      tags: again ? [] : "long",
    }, async () => {
      const { o, remainder, by } = await paidOrder();
      wire.set("refund", fault);
      const request = { id: newId(), amountCents: cents(500), rule: "remainder-first" } as const;
      expect((await by.refund(o.id, request)).refund).toMatchObject({ isDone: false });
      wire.clear();
      if (again) played.forgetKeys();
      await recoverElsewhere({ remainder });
      expect(await standing(o)).toEqual(["paid", 5000, 1998]);
      expect((await by.refund(o.id, request)).refund).toMatchObject({ isDone: true });
      expect(played.refunds.all()).toHaveLength(1);
    });
  }

  it("return everything once if the answer to a cancellation is lost", async () => {
    const { o, remainder, by } = await paidOrder();
    await by.refund(o.id, { id: newId(), amountCents: cents(998), rule: "remainder-first" });
    wire.set("refund", "cut-after");
    await by.cancel(o.id);
    expect((await standing(o))[0]).toBe("canceling");
    wire.clear();
    played.forgetKeys();
    await recoverElsewhere({ remainder });
    expect(await standing(o)).toEqual(["canceled", 0, 0]);
    expect(backOf()).toEqual([
      [998, "succeeded"],
      [1500, "succeeded"],
    ]);
  });

  it("that fail later are reported once per event, with their order, and are not repeated", async () => {
    const { o, remainder, by } = await paidOrder();
    await by.refund(o.id, { id: newId(), ...oneTicket });
    const [refund] = played.refunds.all();
    const send = await hears({ remainder });
    await send();
    expect(alerts).toEqual([]);
    played.refunds.fail(String(refund?.id));
    expect(await send(({ type }) => type === "refund.failed")).toEqual([204]);
    const { attemptId } = (await store.purchases.read(o.id)) ?? {};
    const own = { orderId: o.id, attemptId, amountCents: 2498, currency: "EUR" };
    expect(alerts).toEqual([{ kind: "refund_failed", id: refund?.id, ...own }]);
    expect(await standing(o)).toEqual(["paid", 3749, 2498]);
    played.dispute(intentOf(o).id);
    expect(await send(({ type }) => type === "charge.dispute.created")).toEqual([204]);
    expect(alerts[1]).toEqual({ kind: "disputed", id: expect.stringMatching(/^dp_/), ...own });
  });

  it("ask Stripe to send an alert again if the shop can't take it", async () => {
    const { o, remainder } = await paidOrder({
      onAlert: () => {
        throw new Error("the mail server is down");
      },
    });
    played.dispute(intentOf(o).id);
    const send = await hears({ remainder });
    expect(await send(({ type }) => type === "charge.dispute.created")).toEqual([503]);
  });

  it("return what is left if a person has refunded more at Stripe, and report the difference", async () => {
    const { o, by } = await paidOrder();
    await options().client.refunds.create({ payment_intent: intentOf(o).id, amount: 2000 });
    const refund = { id: newId(), amountCents: cents(1000), rule: "remainder-first" } as const;
    expect((await by.refund(o.id, refund)).refund).toMatchObject({ isDone: true, remainderCents: 1000 });
    expect(await standing(o)).toEqual(["paid", 5000, 0]);
    const { currency, ...about } = { kind: "returned_elsewhere", orderId: o.id, amountCents: 502, currency: "EUR" };
    expect(alerts).toMatchObject([{ ...about, id: intentOf(o).id, currency }]);
    await by.refund(o.id, { id: newId(), amountCents: cents(1498), rule: "remainder-first" });
    await by.refund(o.id, { id: newId(), amountCents: cents(5000), rule: "cards-first" });
    expect(await standing(o)).toEqual(["refunded", 0, 0]);
  });

  it("of a failed refund are made anew under another key", async () => {
    const { o, remainder } = await paidOrder();
    const purchase = await store.purchases.read(o.id);
    const { attemptId = "", remainderData } = purchase ?? {};
    const request = {
      ...{ orderId: o.id, attemptId, remainderCents: cents(2498), currency: "EUR" },
      data: JSON.parse(String(remainderData)),
    };
    const part = { id: "r", idempotencyKey: `${attemptId}:1`, amountCents: cents(500) };
    await remainder.refund(request, part);
    played.refunds.fail(String(played.refunds.all()[0]?.id));
    for (let times = 0; times < 2; times += 1) await remainder.refund(request, part);
    expect(backOf()).toEqual([
      [500, "failed"],
      [500, "succeeded"],
    ]);
    // One cent less is left. It is refunded, and the difference is reported.
    for (let times = 0; times < 2; times += 1)
      await remainder.refund(request, { ...part, idempotencyKey: "x", amountCents: cents(1999) });
    expect(backOf()).toContainEqual([1998, "succeeded"]);
    expect(alerts).toMatchObject(
      [1, 1].map((amountCents) => ({ kind: "returned_elsewhere", orderId: o.id, amountCents })),
    );
    await remainder.cancel(request);
    await remainder.refund(request, { ...part, idempotencyKey: "y" });
    expect((await standing(o))[2]).toBe(0);
  });
});

onEachStore("a remainder that Stripe holds until it is captured", (stage) => {
  const { checkout, order, recoverElsewhere } = stage;
  const { played, wire, alerts, inPage, hears, intentOf, standing, token } = withStripe(stage);

  async function paidOrder() {
    const o = await order();
    const remainder = inPage({ captureMethod: "manual" });
    const by = checkout({ remainder });
    expect(await by.pay(o, { input: token() })).toMatchObject({ status: "paid" });
    expect(intentOf(o)).toMatchObject({ status: "requires_capture" });
    return { o, remainder, by };
  }

  it("is captured once, also if the answer is lost", async () => {
    const { o, remainder, by } = await paidOrder();
    expect(await standing(o)).toEqual(["paid", 5000, 2498]);
    expect(played.intents.takenCents(intentOf(o).id)).toBe(0);
    wire.set("capture", "cut-after");
    await expect(remainder.capture(await by.read(o.id))).rejects.toThrow();
    wire.clear();
    await remainder.capture(await by.read(o.id));
    expect(played.intents.takenCents(intentOf(o).id)).toBe(2498);
    await by.cancel(o.id);
    expect(await standing(o)).toEqual(["canceled", 0, 0]);
  });

  it("is released by a cancellation, and can't be captured then", async () => {
    const { o, remainder, by } = await paidOrder();
    await by.cancel(o.id);
    expect(await standing(o)).toEqual(["canceled", 0, 0]);
    await expect(remainder.capture(await by.read(o.id))).rejects.toThrow(/isn't paid/);
    await expect(remainder.capture(null)).rejects.toThrow(TypeError);
  });

  it("is refunded in part only after the capture", async () => {
    const { o, remainder, by } = await paidOrder();
    const request = { id: newId(), amountCents: cents(500), rule: "remainder-first" } as const;
    expect((await by.refund(o.id, request)).refund).toMatchObject({ isDone: false });
    expect(await standing(o)).toEqual(["refunding", 5000, 2498]);
    await remainder.capture(await by.read(o.id));
    await recoverElsewhere({ remainder });
    expect(await standing(o)).toEqual(["paid", 5000, 1998]);
  });

  it("is reported if Stripe releases it, because nobody has captured it", async () => {
    const { o, remainder } = await paidOrder();
    played.intents.lapse(intentOf(o).id);
    const send = await hears({ remainder });
    await send(({ type }) => type === "payment_intent.canceled");
    expect(alerts).toMatchObject([{ kind: "authorization_expired", orderId: o.id, amountCents: 2498 }]);
  });
});
