import type { GiftcardPay } from "../src/define.js";
import { endpoint, expect, listen, makeCart, poor, rich, show, type TestCart, Widget } from "./shop/page.js";

/** A cart whose only card has a payment that is not finished. */
async function settling(options: Record<string, unknown> = {}): Promise<TestCart> {
  const cart = await makeCart(options);
  await cart.change({ applied: [{ id: "a", number: rich.number, state: "settling" }] });
  return cart;
}

const settle = (cart: TestCart) => cart.change({ applied: [{ id: "a", number: rich.number, state: "applied" }] });

describe("while a payment with a card is not finished", () => {
  it("asks the shop again, and says that it is over", async () => {
    const cart = await settling();
    const widget = await show(cart);
    const totals = listen(widget, "giftcard-total");
    await widget.element.showError("outcome_unknown");
    expect(widget.text).to.contain("A payment with this card isn't finished yet.");
    expect(widget.element.matches(":state(settling)")).to.equal(true);
    await settle(cart);
    await widget.until(() => widget.text.includes("−€50.00"), "the tag asks again by itself");
    expect(totals.map(({ detail }) => [detail.settling, detail.remainderCents])).to.deep.equal([[false, 2498]]);
    expect(widget.alert, "its message was about the payment").to.equal("");
    expect(widget.status).to.contain("€24.98 left to pay.");
    const calls = (await cart.calls()).length;
    await new Promise((resolve) => setTimeout(resolve, 11_000));
    expect((await cart.calls()).length, "nothing is left to ask").to.equal(calls);
  });

  for (const novalidate of [false, true])
    it(`sends the form only if the shopper agrees to the whole amount${novalidate ? ", with novalidate" : ""}`, async () => {
      const cart = await settling();
      const form = document.createElement("form");
      form.noValidate = novalidate;
      form.innerHTML = `<giftcard-pay endpoint="${endpoint}" cart="${cart.id}" lang="en"></giftcard-pay><button>Order</button>`;
      document.body.append(form);
      let sent = 0;
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        sent++;
      });
      const widget = new Widget(form.firstElementChild as GiftcardPay);
      await widget.until(() => !!widget.element.summary, "the cart is shown");
      await widget.element.updateComplete;
      const totals = listen(widget, "giftcard-total");
      const order = async () => {
        form.requestSubmit(form.querySelector("button"));
        await widget.element.updateComplete;
      };
      await order();
      expect(sent).to.equal(0);
      expect(widget.alert).to.contain("The payment with your card isn't finished yet.");
      expect(widget.text).to.contain("Pay €74.98 without the card");
      await widget.until(() => widget.focused === "without", "the question has the focus");
      await expect(widget.element).to.be.accessible();
      await cart.change({ totalCents: 8000 });
      await widget.element.refresh();
      await widget.press("#without");
      await widget.until(() => sent === 1, "it is sent");
      const { settling: waits, remainderCents } = totals.at(-1)?.detail ?? {};
      expect([waits, remainderCents], "the page hears of it").to.deep.equal([false, 8000]);
      await cart.change({ totalCents: 9000 });
      await widget.element.refresh();
      await order();
      expect(sent, "another amount needs another question").to.equal(1);
      expect(widget.text).to.contain("Pay €90.00 without the card");
      await settle(cart);
      await widget.element.refresh();
      await widget.element.updateComplete;
      expect(widget.alert).to.equal("");
      await order();
      expect(sent).to.equal(2);
      form.remove();
    });

  it("doesn't ask if other cards pay the whole order", async () => {
    const cart = await makeCart({ totalCents: 1000 });
    await cart.change({
      applied: [
        { id: "a", number: rich.number, state: "settling" },
        { id: "b", number: poor.number, state: "applied" },
      ],
    });
    const widget = await show(cart);
    expect(widget.element.checkValidity()).to.equal(true);
  });
});
