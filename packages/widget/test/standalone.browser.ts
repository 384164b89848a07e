// First of all, so that it's the one that is registered, and everything below is done with it.
import "../dist/giftcard-pay.standalone.js";
import { GiftcardPay } from "../src/index.js";
import { expect } from "./shop/page.js";
import "./applying.browser.js";
import "./balance.browser.js";
import "./errors.browser.js";
import "./form.browser.js";
import "./keyboard.browser.js";
import "./return.browser.js";
import "./secrets.browser.js";

describe("all of the above", () => {
  it("was done with the standalone file, which holds Lit without what no template uses", () => {
    expect(customElements.get("giftcard-pay")).not.to.equal(undefined);
    expect(customElements.get("giftcard-pay")).not.to.equal(GiftcardPay);
  });
});
