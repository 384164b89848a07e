import type { CardBalance } from "@giftcard-pay/checkout/storefront";
import { nothing, type TemplateResult } from "lit";
import { cardPanel } from "./card-quote.js";
import { dispatch } from "./events.js";
import { GiftcardElement, register } from "./giftcard-element.js";
import { callShop } from "./shop-api.js";

/**
 * Shows the balance of a gift card by its number and PIN. For a page without a cart.
 *
 * @tag giftcard-balance
 *
 * @event {GiftcardEvent<CardBalance>} giftcard-balance - The shop returned a card's balance.
 * @event {GiftcardEvent<ErrorDetail>} giftcard-error - A call was refused or got no response.
 *
 * @csspart button - Every other button; two have a part name of their own, `check` and `retry`.
 */
export class GiftcardBalance extends GiftcardElement {
  /** Registers the tag. Does nothing if the tag is registered already. */
  static define(tag = "giftcard-balance", registry?: CustomElementRegistry): void {
    register(tag, GiftcardBalance, registry);
  }

  #balance: CardBalance | undefined;

  /** The card that was checked last; undefined before that. */
  get balance(): CardBalance | undefined {
    return this.#balance;
  }

  protected override currency(): string | undefined {
    return this.#balance?.currency;
  }

  protected override render(): TemplateResult {
    const { words, endpoint } = this;
    return this.frame({
      title: words.texts.check,
      action: words.texts.check,
      between: this.#balance ? cardPanel(words, this.#balance) : nothing,
      isLocked: !endpoint,
      check: this.#check,
      retry: this.#check,
    });
  }

  readonly #check = async (): Promise<void> => {
    const { calls, entry } = this;
    const typed = this.endpoint && calls.mayCall("balance") && entry.readEntry();
    if (!typed) return;
    this.#balance = undefined;
    const balance = await calls.run("balance", (signal) =>
      callShop<CardBalance>(this, signal, ["balanceCents"], "POST", "/balance", typed),
    );
    if (!balance) return calls.error && entry.showError(calls.error);
    this.#balance = balance;
    entry.clear();
    this.say(this.words.texts.announceBalance, { last4: balance.lastFour, balance: balance.balanceCents });
    dispatch(this, "giftcard-balance", balance);
  };
}
