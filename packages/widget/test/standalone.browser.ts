// The first import, so that the standalone file registers the tags and all tests below use it.
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

describe("all tests above", () => {
  it("used the standalone file", () => {
    expect(customElements.get("giftcard-pay")).not.to.equal(undefined);
    expect(customElements.get("giftcard-pay")).not.to.equal(GiftcardPay);
  });
});
