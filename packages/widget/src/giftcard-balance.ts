import type { CardBalance } from "@giftcard-pay/checkout/storefront";
import { nothing, type TemplateResult } from "lit";
import { cardPanel } from "./card-quote.js";
import { dispatch } from "./events.js";
import { GiftcardElement, register } from "./giftcard-element.js";

/**
 * Tells what a gift card holds: card number and PIN in, balance out. For a page of its own, without a cart.
 *
 * @tag giftcard-balance
 *
 * @event {GiftcardEvent<CardBalance>} giftcard-balance - The balance of a card was told.
 * @event {GiftcardEvent<ErrorDetail>} giftcard-error - A call was refused or got no answer.
 *
 * @csspart base - The whole.
 * @csspart form - Card number and PIN.
 * @csspart label - A label of a field.
 * @csspart input - A field.
 * @csspart button - Every button; `check` and `retry` name one each.
 * @csspart quote - The checked card.
 * @csspart alert - The message when something went wrong.
 * @csspart error - The text of a message, in the alert or below a field.
 */
export class GiftcardBalance extends GiftcardElement {
  /** Registers the tag. Where it is registered already, whoever did it, nothing happens. */
  static define(tag = "giftcard-balance", registry?: CustomElementRegistry): void {
    register(tag, GiftcardBalance, registry);
  }

  #balance: CardBalance | undefined;

  /** What the shop told last; undefined until then. */
  get balance(): CardBalance | undefined {
    return this.#balance;
  }

  protected override render(): TemplateResult {
    const { words, endpoint } = this;
    return this.frame({
      title: words.texts.check,
      between: this.#balance ? cardPanel(words, this.#balance) : nothing,
      shut: !endpoint,
      check: this.#check,
      retry: this.#check,
    });
  }

  readonly #check = async (): Promise<void> => {
    const { calls, entry, shop } = this;
    const typed = this.endpoint && calls.isFree && entry.take();
    if (!typed) return;
    this.#balance = undefined;
    const balance = await calls.run("balance", (signal) => shop.balance(typed, signal));
    if (!balance) return calls.error && entry.showError(calls.error);
    this.#balance = balance;
    entry.clear();
    this.say(this.words.texts.announceBalance, { last4: balance.lastFour, balance: balance.balanceCents });
    dispatch(this, "giftcard-balance", balance);
  };
}
