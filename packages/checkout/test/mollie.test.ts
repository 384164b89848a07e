import { cents } from "@giftcard-pay/client";
import { expect, it } from "vitest";
import type { RemainderFault } from "../src/remainder.js";
import { onEachStore, refusal } from "./each-store.js";
import { newId, oneTicket, tickets } from "./tickets.js";
import { withMollie } from "./with-mollie.js";

onEachStore("a remainder by Mollie", (stage) => {
  const { store, checkout, order, reload, comeBack, recoverElsewhere, stateOf } = stage;
  const { played, wire, method, hears, paymentsOf, paymentOf, standing, diesAt } = withMollie(stage);

  async function pending(more?: Parameters<typeof method>[0]) {
    const o = await order();
    const remainder = method(more);
    const by = checkout({ remainder });
    const result = await by.pay(o);
    if (result.status !== "pending") throw new Error(`the order is ${result.status}`);
    return { o, remainder, by, data: result.data, payment: paymentOf(o) };
  }

  it("is paid once when the shopper returns, also after a reload and in a second tab", async () => {
    const { o, remainder, by, data, payment } = await pending();
    const { attemptId } = (await store.purchases.read(o.id)) ?? {};
    expect(payment).toMatchObject({
      amount: { currency: "EUR", value: "24.98" },
      description: `Order ${o.id}`,
      redirectUrl: `https://shop.example/orders/${o.id}`,
      metadata: { orderId: o.id, attemptId },
    });
    expect(played.calls.find((call) => call.method === "POST")?.key).toBe(attemptId);
    expect(await remainder.url(data)).toContain(payment.id);
    expect(await by.pay(o)).toMatchObject({ status: "pending", data: { payment: payment.id } });
    expect(await by.confirm(o.id)).toMatchObject({ status: "pending" });
    played.payments.pay(payment.id);
    await Promise.all([by.confirm(o.id), checkout({ remainder }).confirm(o.id), by.pay(o)]);
    expect(await standing(o)).toEqual(["paid", 5000, 2498]);
    expect(await remainder.url(data)).toBeNull();
  });

  for (const how of ["failed", "canceled", "expired"] as const) {
    it(`is declined if the payment is ${how}, and the shopper can pay anew`, async () => {
      const { o, by, payment } = await pending();
      played.payments.pay(payment.id, how);
      expect(await by.confirm(o.id)).toMatchObject({ status: "declined" });
      expect(await standing(o)).toEqual(["failed", 0, 0]);
      expect(await by.pay(o)).toMatchObject({ status: "pending" });
      played.payments.pay(String(paymentsOf(o.id).at(-1)?.id));
      expect(await by.confirm(o.id)).toMatchObject({ status: "paid" });
    });
  }

  it("waits for a bank transfer", async () => {
    const { o, by, payment } = await pending();
    played.payments.pay(payment.id, "pending");
    expect(await by.confirm(o.id)).toMatchObject({ status: "pending" });
    played.payments.pay(payment.id);
    expect(await by.confirm(o.id)).toMatchObject({ status: "paid" });
  });

  it("is paid by a webhook before the shopper returns, and once if it comes twice", async () => {
    const { o, remainder, payment } = await pending();
    const send = await hears({ remainder });
    expect(await send(payment.id)).toBe(204);
    expect(await stateOf(o)).toBe("pending");
    played.payments.pay(payment.id);
    for (let times = 0; times < 2; times += 1) expect(await send(payment.id)).toBe(204);
    expect(await standing(o)).toEqual(["paid", 5000, 2498]);
  });

  it("is paid by recovery if neither webhook nor shopper comes", async () => {
    const { o, remainder, payment } = await pending();
    played.payments.pay(payment.id);
    await recoverElsewhere({ remainder });
    expect(await standing(o)).toEqual(["paid", 5000, 2498]);
  });

  it("trusts only the payment that Mollie returns, not the webhook", async () => {
    const { o, remainder, payment } = await pending();
    const send = await hears({ remainder });
    for (const id of [payment.id, "tr_unknown", "re_1", "../payments/x"]) expect(await send(id)).toBe(204);
    expect(await stateOf(o)).toBe("pending");
    const { webhook } = checkout({ remainder });
    const body = new URLSearchParams({ status: "paid" });
    expect((await webhook(new Request("https://shop.example/webhook", { method: "POST", body }))).status).toBe(400);
    wire.set("get", "cut-before");
    expect(await send(payment.id)).toBe(503);
  });

  it("is canceled if Mollie allows it, and paid anew with a changed cart", async () => {
    const { o, by, payment } = await pending();
    played.payments.allowCancel(payment.id);
    const anew = await by.pay(await comeBack(o, 6000, by));
    expect(anew).toMatchObject({ status: "pending", remainderCents: 1000 });
    expect(payment.status).toBe("canceled");
    played.payments.pay(String(paymentsOf(o.id).at(-1)?.id));
    expect(await by.confirm(o.id)).toMatchObject({ status: "paid" });
    expect(await standing(o)).toEqual(["paid", 5000, 1000]);
  });

  it("that can't be canceled is settled when it expires; meanwhile the cart can be paid as a new order", async () => {
    const { o, remainder, by, payment } = await pending();
    const changed = await reload(o, 6000);
    await expect(by.pay(changed)).rejects.toMatchObject({ name: "CheckoutError" });
    expect(await standing(o)).toEqual(["voiding", 0, 0]);
    await expect(by.pay(o)).rejects.toEqual(refusal("payment_in_progress"));
    const next = { ...(await reload(changed)), id: `${o.id}-2` };
    expect(await by.pay(next)).toMatchObject({ status: "pending", remainderCents: 1000 });
    played.payments.pay(paymentOf(next).id);
    expect(await by.confirm(next.id)).toMatchObject({ status: "paid" });
    played.payments.pay(payment.id, "expired");
    await recoverElsewhere({ remainder });
    expect(await standing(o)).toEqual(["failed", 5000, 0]);
    expect(await standing(next)).toEqual(["paid", 5000, 1000]);
  });

  it("that can't be canceled is refunded if the shopper pays it late", async () => {
    const { o, remainder, by, payment } = await pending();
    await by.abandon(o.id);
    expect(await standing(o)).toEqual(["voiding", 0, 0]);
    played.payments.pay(payment.id);
    await recoverElsewhere({ remainder });
    expect(await standing(o)).toEqual(["failed", 0, 0]);
    // The payment is still "paid" at Mollie, and its webhook may come again.
    expect(await (await hears({ remainder }))(payment.id)).toBe(204);
    expect(await standing(o)).toEqual(["failed", 0, 0]);
  });

  for (const [value, currency, code] of [
    ["24.97", "EUR", "status:wrong_amount"],
    ["24.99", "EUR", "status:wrong_amount"],
    ["24.98", "USD", "status:wrong_currency"],
  ] as const) {
    it(`is not paid by ${value} ${currency} instead of 24.98 EUR`, async () => {
      const { o, by, payment } = await pending();
      payment.amount = { currency, value };
      played.payments.pay(payment.id);
      await expect(by.confirm(o.id)).rejects.toThrow(expect.objectContaining({ code }));
      expect(await stateOf(o)).toBe("pending");
      await by.cancel(o.id);
      expect(await standing(o)).toEqual(["failed", 0, 0]);
    });
  }

  it("is neither paid nor declined by another account or another order's payment", async () => {
    const { o, payment } = await pending();
    const { o: another, by } = await pending();
    played.payments.pay(payment.id);
    const data = { payment: payment.id };
    const mistaken = { ...method(), status: (request: object) => method().status({ ...request, data } as never) };
    await expect(checkout({ remainder: mistaken }).confirm(another.id)).rejects.toThrow(/another order/);
    const lost = {
      ...method(),
      status: (request: object) => method().status({ ...request, data: { payment: "tr_1" } } as never),
    };
    await expect(checkout({ remainder: lost }).confirm(another.id)).rejects.toThrow();
    expect(await by.confirm(another.id)).toMatchObject({ status: "pending" });
    expect(await stateOf(o)).toBe("pending");
  });

  for (const fault of ["cut-before", "cut-after", "error", "garbage", "half", "hold"] as const) {
    it(`takes nothing if the answer to its payment is lost (${fault})`, {
      tags: fault === "cut-after" ? [] : "long",
    }, async () => {
      const o = await order();
      const remainder = method();
      wire.set("create", fault);
      await expect(checkout({ remainder }).pay(o)).rejects.toThrow();
      wire.clear();
      await recoverElsewhere({ remainder });
      expect(await standing(o)).toEqual(["failed", 0, 0]);
      expect(await checkout({ remainder }).pay(o)).toMatchObject({ status: "pending" });
    });
  }

  it("decides nothing while Mollie doesn't answer, and is paid once it does", async () => {
    const { o, remainder, payment } = await pending();
    played.payments.pay(payment.id);
    wire.set("get", "hold");
    await expect(checkout({ remainder, leaseMs: 1000 }).confirm(o.id)).rejects.toThrow(
      expect.objectContaining({ code: "status:timeout" }),
    );
    expect(await standing(o)).toEqual(["pending", 5000, 2498]);
    wire.clear();
    expect(await checkout({ remainder }).confirm(o.id)).toMatchObject({ status: "paid" });
  });

  it("takes nothing if the process dies before or after keep", async () => {
    for (const moment of ["before keep", "after keep"] as const) {
      const o = await order();
      const remainder = method();
      const { goOn, ended } = await diesAt(moment, o, remainder);
      for (const { id } of paymentsOf(o.id)) played.payments.allowCancel(id);
      await checkout({ remainder }).recover();
      goOn();
      await ended;
      expect(await standing(o)).toEqual(["failed", 0, 0]);
    }
  });

  it("of a replaced attempt is refunded when its webhook arrives", async () => {
    const o = await order();
    const remainder = method();
    await diesAt("before keep", o, remainder);
    await checkout({ remainder }).recover();
    const late = paymentOf(o);
    const by = checkout({ remainder });
    await by.pay(o);
    played.payments.pay(String(paymentsOf(o.id).find(({ id }) => id !== late.id)?.id));
    await by.confirm(o.id);
    played.payments.pay(late.id);
    expect(await standing(o)).toEqual(["paid", 5000, 4996]);
    expect(await (await hears({ remainder }))(late.id)).toBe(204);
    expect(await standing(o)).toEqual(["paid", 5000, 2498]);
  });
});

onEachStore("refunds of a remainder by Mollie", (stage) => {
  const { checkout, order, recoverElsewhere, store } = stage;
  const { played, wire, alerts, method, hears, paymentOf, standing } = withMollie(stage);

  async function paidOrder(more?: Parameters<typeof method>[0]) {
    const o = await order(tickets);
    const remainder = method(more);
    const by = checkout({ remainder });
    await by.pay(o);
    played.payments.pay(paymentOf(o).id);
    expect(await by.confirm(o.id)).toMatchObject({ status: "paid" });
    return { o, remainder, by };
  }
  const valuesOf = () => played.payments.refunds().map(({ amount }) => amount.value);

  it("return a part once, also if it is asked for twice and at the same time", async () => {
    const { o, remainder, by } = await paidOrder();
    const request = { id: newId(), amountCents: cents(999), rule: "remainder-first" } as const;
    const refund = (one = by) => one.refund(o.id, request).catch((error: Error) => error);
    await Promise.all([refund(), refund(checkout({ remainder }))]);
    expect((await by.refund(o.id, request)).refund).toMatchObject({ isDone: true });
    expect(await standing(o)).toEqual(["paid", 5000, 1499]);
    await by.cancel(o.id);
    await by.cancel(o.id);
    expect(await standing(o)).toEqual(["canceled", 0, 0]);
    expect(valuesOf()).toEqual(["9.99", "14.99"]);
  });

  for (const fault of ["cut-before", "cut-after", "error"] as const) {
    it(`return a part once if the answer is lost (${fault}), although Mollie forgets the key`, {
      tags: fault === "cut-after" ? [] : "long",
    }, async () => {
      const { o, remainder, by } = await paidOrder();
      wire.set("refund", fault);
      const request = { id: newId(), amountCents: cents(500), rule: "remainder-first" } as const;
      expect((await by.refund(o.id, request)).refund).toMatchObject({ isDone: false });
      wire.clear();
      played.forgetKeys();
      await recoverElsewhere({ remainder });
      expect(await standing(o)).toEqual(["paid", 5000, 1998]);
      expect(valuesOf()).toEqual(["5.00"]);
    });
  }

  it("that fail later are reported with their order, and so are chargebacks", async () => {
    const { o, remainder, by } = await paidOrder();
    await by.refund(o.id, { id: newId(), ...oneTicket });
    const [refund] = played.payments.refunds();
    const send = await hears({ remainder });
    expect(await send(paymentOf(o).id)).toBe(204);
    expect(alerts).toEqual([]);
    played.payments.failRefund(String(refund?.id));
    expect(await send(paymentOf(o).id)).toBe(204);
    const { attemptId } = (await store.purchases.read(o.id)) ?? {};
    const own = { orderId: o.id, attemptId, amountCents: 2498, currency: "EUR" };
    expect(alerts).toEqual([{ kind: "refund_failed", id: refund?.id, ...own }]);
    played.payments.chargeBack(paymentOf(o).id);
    await send(paymentOf(o).id);
    expect(alerts[1]).toEqual({ kind: "disputed", id: paymentOf(o).id, ...own });
  });

  it("wait for the capture of a payment that Mollie holds", async () => {
    const { o, remainder, by } = await paidOrder({ captureMethod: "manual" });
    expect(paymentOf(o)).toMatchObject({ status: "authorized", captureMode: "manual" });
    expect(await standing(o)).toEqual(["paid", 5000, 2498]);
    const request = { id: newId(), amountCents: cents(500), rule: "remainder-first" } as const;
    expect((await by.refund(o.id, request)).refund).toMatchObject({ isDone: false });
    wire.set("capture", "cut-after");
    await expect(remainder.capture(await by.read(o.id))).rejects.toThrow();
    wire.clear();
    await remainder.capture(await by.read(o.id));
    expect(paymentOf(o).status).toBe("paid");
    await recoverElsewhere({ remainder });
    expect(await standing(o)).toEqual(["paid", 5000, 1998]);
    await expect(remainder.capture(null)).rejects.toThrow(TypeError);
  });

  it("release a payment that Mollie holds, and report one that expires", async () => {
    const { o, by } = await paidOrder({ captureMethod: "manual" });
    await by.cancel(o.id);
    expect(await standing(o)).toEqual(["canceled", 0, 0]);
    expect(paymentOf(o).status).toBe("canceled");
    const second = await paidOrder({ captureMethod: "manual" }).catch((error: RemainderFault) => error);
    if (second instanceof Error) throw second;
    played.payments.lapse(paymentOf(second.o).id);
    await (await hears({ remainder: second.remainder }))(paymentOf(second.o).id);
    expect(alerts).toMatchObject([{ kind: "authorization_expired", orderId: second.o.id, amountCents: 2498 }]);
  });
});
