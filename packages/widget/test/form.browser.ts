import { fixture, html } from "@open-wc/testing";
import type { GiftcardPay } from "../src/define.js";
import { endpoint, expect, makeCart, poor, rich, type TestCart, Widget } from "./shop/page.js";

/** Shows a page's form with the widget in it, and records its submissions. */
async function showForm(cart: TestCart) {
  const sent: FormData[] = [];
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    sent.push(new FormData(event.target as HTMLFormElement, event.submitter));
  };
  const form = await fixture<HTMLFormElement>(
    html`<form @submit=${onSubmit}>
      <fieldset>
        <giftcard-pay endpoint=${endpoint} cart=${cart.id} lang="en"></giftcard-pay>
      </fieldset>
      <button name="order" value="yes">Place order</button>
    </form>`,
  );
  const widget = new Widget(form.querySelector("giftcard-pay") as GiftcardPay);
  await widget.until(() => !!widget.element.summary, "the cart is shown");
  const button = form.querySelector<HTMLButtonElement>("form > button") as HTMLButtonElement;
  return { form, widget, sent, button };
}

describe("in a form", () => {
  it("belongs to the form, is valid while empty, and submits the amounts that it shows", async () => {
    const cart = await makeCart();
    const { form, widget, sent, button } = await showForm(cart);
    expect(widget.element.form).to.equal(form);
    expect([...form.elements]).to.include(widget.element);
    expect(widget.element.checkValidity()).to.equal(true);
    await widget.press(button);
    await widget.check(rich);
    await widget.press("#apply");
    await widget.press(button);
    const [id] = widget.element.summary?.cards.map((card) => card.id) ?? [];
    expect(sent.map((data) => [...data])).to.deep.equal([
      [...[["plan", "7498"]], ["order", "yes"]],
      [...[["plan", `7498 ${id}:5000`]], ["order", "yes"]],
    ]);
    await cart.change({ totalCents: 9000 });
    await widget.element.refresh();
    await widget.press(button);
    expect(sent.at(-1)?.get("plan")).to.equal(`9000 ${id}:5000`);
  });

  it("blocks the form while a card is entered or checked but not applied, and says why", async () => {
    const { widget, sent, button } = await showForm(await makeCart());
    widget.number.focus();
    await widget.type("6");
    await widget.element.updateComplete;
    expect(widget.element.validity.customError).to.equal(true);
    expect(widget.element.validationMessage).to.contain("This card isn't applied yet.");
    expect(widget.element.willValidate).to.equal(true);
    await widget.press(button);
    expect(sent).to.have.length(0);
    expect(widget.alert).to.contain("This card isn't applied yet.");
    expect(widget.focused).to.equal("number");
    await expect(widget.element).to.be.accessible();
    await widget.check(rich);
    expect(widget.alert).to.equal("");
    await widget.press(button);
    expect(widget.alert).to.contain("This card isn't applied yet.");
    expect(widget.focused).to.equal("apply");
    await widget.press("#apply");
    expect(widget.element.reportValidity()).to.equal(true);
    expect(widget.alert).to.equal("");
    await widget.press(button);
    expect(sent).to.have.length(1);
  });

  it("blocks the form during a call, since the shopper has not seen its result", async () => {
    const cart = await makeCart();
    const { widget, sent, button } = await showForm(cart);
    await widget.check(rich);
    await cart.trouble({ delayMs: 1500 });
    await widget.start("#apply");
    expect(widget.element.busy).to.equal(true);
    await widget.start(button);
    await widget.settled();
    expect(sent).to.have.length(0);
    expect(await cart.appliedCount()).to.equal(1);
    expect(widget.alert).to.equal("");
    await widget.press(button);
    expect(sent[0]?.get("order")).to.equal("yes");
  });

  it("blocks a form with novalidate, but not a submission by a button with formnovalidate", async () => {
    const { form, widget, sent, button } = await showForm(await makeCart());
    form.noValidate = true;
    widget.number.focus();
    await widget.type("6");
    await widget.element.updateComplete;
    await widget.press(button);
    expect(sent).to.have.length(0);
    expect(widget.alert).to.contain("This card isn't applied yet.");
    button.formNoValidate = true;
    await widget.press(button);
    expect(sent).to.have.length(1);
  });

  it("is disabled in a disabled fieldset, or by its own attribute", async () => {
    const { form, widget } = await showForm(await makeCart());
    const fieldset = form.querySelector("fieldset") as HTMLFieldSetElement;
    const isDisabled = () => widget.number.matches(":disabled") && widget.button("Use card").matches(":disabled");
    fieldset.disabled = true;
    await widget.element.updateComplete;
    expect(isDisabled()).to.equal(true);
    await expect(widget.element).to.be.accessible();
    fieldset.disabled = false;
    await widget.element.updateComplete;
    expect(isDisabled()).to.equal(false);
    widget.element.disabled = true;
    await widget.element.updateComplete;
    expect(isDisabled()).to.equal(true);
    expect(widget.element.hasAttribute("disabled")).to.equal(true);
  });

  it("clears the fields when the form is reset, and keeps applied cards", async () => {
    const { form, widget } = await showForm(await makeCart());
    await widget.apply(rich);
    await widget.press("#add");
    await widget.check(poor);
    form.reset();
    await widget.settled();
    expect(!!widget.find("#apply")).to.equal(false);
    expect(widget.number.value).to.equal("");
    expect(widget.text).to.contain("Card ending in 1234 −€50.00");
    expect(form.checkValidity()).to.equal(true);
  });
});
