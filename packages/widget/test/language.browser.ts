import { fixture, html } from "@open-wc/testing";
import type { GiftcardPay } from "../src/define.js";
import { expect, makeCart, Widget } from "./shop/page.js";

/** A Dutch page whose language file comes late. */
async function showLate(late: string): Promise<Widget> {
  const cart = await makeCart();
  const frame = await fixture<HTMLIFrameElement>(
    html`<iframe title="shop" width="400" height="400"></iframe>`,
  );
  frame.src = `/shop/strict?cart=${cart.id}&lang=nl&script=/shop/late/${late}/giftcard-pay.standalone.js`;
  await new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
  const page = frame.contentDocument as Document;
  const widget = new Widget(page.querySelector("giftcard-pay") as GiftcardPay);
  await widget.until(() => !!widget.find(".base"), "something is shown");
  return widget;
}

const failing = () => `fails-${Math.random()}`;

/** Until 2026 a file that once failed failed for as long as the page was open. */
async function importsAgain(): Promise<boolean> {
  const file = `/shop/late/${failing()}/giftcard-pay.nl.js`;
  const load = () => import(file).then(Boolean, () => false);
  await load();
  return load();
}

const langOf = (widget: Widget) => widget.find(".base")?.lang;

describe("a language", () => {
  it("that comes late is English until then, and says so", async () => {
    const begun = performance.now();
    const widget = await showLate("4000");
    expect(performance.now() - begun).to.be.below(3500);
    expect(widget.root.textContent).to.contain("Check balance");
    expect(langOf(widget)).to.equal("en");
    widget.number.value = "6064";
    await widget.until(() => langOf(widget) === "nl", "Dutch");
    expect(widget.root.textContent).to.contain("Saldo bekijken");
    expect(widget.number.value, "nothing typed is lost").to.equal("6064");
  });

  it("that couldn't be loaded is English, and asked for again later where the browser does", async () => {
    const widget = await showLate(failing());
    expect(langOf(widget)).to.equal("en");
    expect(widget.root.textContent).to.contain("Check balance");
    if (!(await importsAgain())) return;
    await new Promise((resolve) => setTimeout(resolve, 10_500));
    widget.element.requestUpdate();
    await widget.until(() => langOf(widget) === "nl", "Dutch");
  });

  it("is read in its own direction, whatever the page's is", async () => {
    document.documentElement.dir = "rtl";
    const element = await fixture<GiftcardPay>(html`<giftcard-pay lang="nl"></giftcard-pay>`);
    const base = element.shadowRoot?.querySelector<HTMLElement>(".base");
    expect(base?.dir).to.equal("ltr");
    element.lang = "he";
    element.messages = { check: "בדיקת יתרה" };
    await element.updateComplete;
    expect(base?.dir).to.equal("rtl");
    document.documentElement.dir = "";
  });
});
