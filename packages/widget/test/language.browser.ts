import { fixture, html, waitUntil } from "@open-wc/testing";
import type { GiftcardPay } from "../src/define.js";
import { en } from "../src/messages/en.js";
import { builtInLanguages, textsFor } from "../src/messages/index.js";
import { expect, makeCart, plain, rich, show, Widget } from "./shop/page.js";

/** Shows a Dutch page whose language file arrives late. */
async function showLate(late: string): Promise<Widget> {
  const cart = await makeCart();
  const frame = await fixture<HTMLIFrameElement>(html`<iframe title="shop" width="400" height="400"></iframe>`);
  frame.src = `/shop/strict?cart=${cart.id}&lang=nl&script=/shop/late/${late}/giftcard-pay.standalone.js`;
  // Don't wait for `load`: in Firefox it fires only once the language has arrived.
  const tag = () => frame.contentDocument?.querySelector<GiftcardPay>("giftcard-pay");
  await waitUntil(() => tag()?.shadowRoot?.querySelector(".base"), "something is shown", { timeout: 60_000 });
  return new Widget(tag() as GiftcardPay);
}

const failing = () => `fails-${Math.random()}`;

const langOf = (widget: Widget) => widget.find(".base")?.lang;

/** Checks the rich card and returns the quote's text. */
async function quoteIn(widget: Widget): Promise<string> {
  widget.number.value = rich.number;
  widget.pin.value = rich.pin;
  await widget.press("[type=submit]");
  await widget.until(() => !!widget.find("#apply"), "the quote is shown");
  return widget.text;
}

/** The balance and the expiry date of the rich card, as the browser formats them. */
function figuresIn(locale: string): string[] {
  const balance = new Intl.NumberFormat(locale, { style: "currency", currency: "EUR" }).format(75);
  return [balance, new Intl.DateTimeFormat(locale, { dateStyle: "long" }).format(new Date(2027, 4, 31))].map(plain);
}

describe("a language", () => {
  for (const lang of builtInLanguages())
    it(`has its own texts, amounts and dates: ${lang}`, async () => {
      const widget = await show(await makeCart(), lang);
      await widget.until(() => langOf(widget) === lang, "the language is loaded");
      const quote = await quoteIn(widget);
      const [, { kept, cancel }] = textsFor(lang, {});
      for (const text of [cancel, ...figuresIn(lang)]) expect(quote).to.contain(text);
      await widget.press("#apply");
      expect(widget.text).to.contain(plain(kept.replace("{kept}", figuresIn(lang)[0]?.replace("75", "25") ?? "")));
    });

  for (const lang of ["da", "fa", "ar"])
    it(`that is not built in is replaced by English, also in amounts and dates: ${lang}`, async () => {
      const widget = await show(await makeCart(), lang);
      widget.element.messages = { cancel: "Annuller" };
      const quote = await quoteIn(widget);
      for (const text of ["Valid until", "Annuller", ...figuresIn("en")]) expect(quote).to.contain(text);
      expect(langOf(widget)).to.equal("en");
      expect(widget.find(".base")?.dir).to.equal("ltr");
    });

  it("that is not built in is used if the page has all texts", async () => {
    const widget = await show(await makeCart(), "da-DK");
    widget.element.messages = { ...en, validUntil: "Gyldigt til {date}" };
    const quote = await quoteIn(widget);
    for (const text of ["Gyldigt til", ...figuresIn("da-DK")]) expect(quote).to.contain(text);
    expect(langOf(widget)).to.equal("da-DK");
    const { offline: _, ...errors } = en.errors;
    widget.element.messages = { ...widget.element.messages, errors };
    await widget.element.updateComplete;
    expect(langOf(widget), "without one of them").to.equal("en");
  });

  it("that loads late is replaced by English, marked as English", async () => {
    const startedAt = performance.now();
    const widget = await showLate("4000");
    expect(performance.now() - startedAt).to.be.below(3500);
    expect(widget.root.textContent).to.contain("Use card");
    expect(langOf(widget)).to.equal("en");
    widget.number.value = "6064";
    await widget.until(() => langOf(widget) === "nl", "Dutch");
    expect(widget.root.textContent).to.contain("Kaart gebruiken");
    expect(widget.number.value, "nothing typed is lost").to.equal("6064");
  });

  it("that could not be loaded is replaced by English", async () => {
    const widget = await showLate(failing());
    expect(langOf(widget)).to.equal("en");
    expect(widget.root.textContent).to.contain("Use card");
  });

  it("is that of the host around a shadow root, and follows the page", async () => {
    const host = await fixture<HTMLElement>(html`<div lang="de"></div>`);
    const root = host.attachShadow({ mode: "open" });
    const element = document.createElement("giftcard-pay");
    root.append(element);
    const widget = new Widget(element);
    await widget.until(() => langOf(widget) === "de", "German");
    host.lang = "nl";
    await widget.until(() => langOf(widget) === "nl", "Dutch");
    host.removeAttribute("lang");
    const { lang } = document.documentElement;
    document.documentElement.lang = "fr";
    await widget.until(() => langOf(widget) === "fr", "French");
    document.documentElement.lang = lang;
  });

  it("has its own direction, whatever the page's is", async () => {
    document.documentElement.dir = "rtl";
    const element = await fixture<GiftcardPay>(html`<giftcard-pay lang="nl"></giftcard-pay>`);
    const base = element.shadowRoot?.querySelector<HTMLElement>(".base");
    expect(base?.dir).to.equal("ltr");
    element.lang = "he";
    element.messages = { ...en, use: "בדיקת יתרה" };
    await element.updateComplete;
    expect(base?.dir).to.equal("rtl");
    document.documentElement.dir = "";
  });
});
