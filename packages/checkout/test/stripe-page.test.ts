import { cents } from "@giftcard-pay/client";
import { expect, it } from "vitest";
import { onEachStore } from "./each-store.js";
import { ASKS_FOR_MORE, DECLINED, VISA, withStripe } from "./with-stripe.js";

onEachStore("a remainder on Stripe's page", (stage) => {
  const { store, checkout, order, comeBack, recoverElsewhere } = stage;
  const { played, wire, onStripesPage, hears, intentsOf, standing, diesAt } = withStripe(stage);

  const dataOf = async (id: string) => JSON.parse(String((await store.purchases.read(id))?.remainderData));

  async function pending() {
    const o = await order();
    const remainder = onStripesPage();
    const by = checkout({ remainder });
    const result = await by.pay(o);
    if (result.status !== "pending") throw new Error(`the order is ${result.status}`);
    const { session } = await dataOf(o.id);
    return { o, remainder, by, session, url: await remainder.url(result.data) };
  }

  it("is paid when the shopper returns, and keeps the intent", async () => {
    const { o, by, remainder, session, url } = await pending();
    expect(url).toBe(played.sessions.find(session).url);
    expect(played.sessions.find(session)).toMatchObject({ amount_total: 2498, client_reference_id: o.id });
    expect(await remainder.url(await dataOf(o.id))).toBe(url);
    expect(await by.pay(o)).toMatchObject({ status: "pending", data: { session } });
    expect(await by.confirm(o.id)).toMatchObject({ status: "pending" });
    expect(() => played.sessions.pay(session, DECLINED)).toThrow();
    expect(await by.confirm(o.id)).toMatchObject({ status: "pending" });
    played.sessions.pay(session, VISA);
    expect(await by.confirm(o.id)).toMatchObject({ status: "paid" });
    expect(await dataOf(o.id)).toEqual({ session, intent: intentsOf(o.id)[0]?.id });
    expect(await standing(o)).toEqual(["paid", 5000, 2498]);
    expect(await remainder.url({ session })).toBeNull();
    expect((await by.refund(o.id, { id: "1", amountCents: cents(98), rule: "remainder-first" })).refund).toMatchObject({
      isDone: true,
    });
    await by.cancel(o.id);
    expect(await standing(o)).toEqual(["canceled", 0, 0]);
  });

  it("is paid by webhooks alone, in any order and twice", async () => {
    const { o, remainder, session } = await pending();
    played.sessions.pay(session, ASKS_FOR_MORE);
    played.sessions.authenticate(session);
    const send = await hears({ remainder });
    for (let times = 0; times < 2; times += 1) expect(new Set(await send())).toEqual(new Set([204]));
    expect(await standing(o)).toEqual(["paid", 5000, 2498]);
  });

  it("is paid by recovery if neither webhook nor shopper comes", async () => {
    const { o, remainder, session } = await pending();
    played.sessions.pay(session, VISA);
    await recoverElsewhere({ remainder });
    expect(await standing(o)).toEqual(["paid", 5000, 2498]);
  });

  it("closes the page when it is given up, and refunds what was paid meanwhile", async () => {
    const { o, by, session } = await pending();
    expect(await by.abandon(o.id)).toMatchObject({ status: "declined" });
    expect(() => played.sessions.pay(session, VISA)).toThrow();
    expect(await standing(o)).toEqual(["failed", 0, 0]);
    const second = await pending();
    wire.set("session-expire", "cut-before");
    await second.by.abandon(second.o.id);
    played.sessions.pay(second.session, VISA);
    wire.clear();
    await recoverElsewhere({ remainder: second.remainder });
    expect((await standing(second.o)).toSpliced(1, 1)).toEqual(["failed", 0]);
  });

  it("is declined by an expired page, by webhook", async () => {
    const { o, remainder, session } = await pending();
    played.sessions.expire(session);
    await (await hears({ remainder }))();
    expect(await standing(o)).toEqual(["failed", 0, 0]);
  });

  it("closes the page and pays anew if the shopper comes back with another cart", async () => {
    const { o, by, session } = await pending();
    expect(await by.pay(await comeBack(o, 6000, by))).toMatchObject({ status: "pending", remainderCents: 1000 });
    expect(() => played.sessions.pay(session, VISA)).toThrow();
    const anew = await dataOf(o.id);
    played.sessions.pay(anew.session, VISA);
    expect(await by.confirm(o.id)).toMatchObject({ status: "paid" });
    expect(await standing(o)).toEqual(["paid", 5000, 1000]);
  });

  for (const fault of ["cut-before", "cut-after", "error"] as const) {
    it(`takes nothing if the answer to its page is lost (${fault})`, async () => {
      const o = await order();
      wire.set("session-create", fault);
      await expect(checkout({ remainder: onStripesPage() }).pay(o)).rejects.toThrow();
      expect(await standing(o)).toEqual(["failed", 0, 0]);
    });
  }

  it("takes nothing if the process dies before or after keep", async () => {
    for (const moment of ["before keep", "after keep"] as const) {
      const o = await order();
      const remainder = onStripesPage();
      const { goOn, ended } = await diesAt(moment, o, remainder);
      await checkout({ remainder }).recover();
      goOn();
      await ended;
      expect(await standing(o)).toEqual(["failed", 0, 0]);
    }
  });
});
