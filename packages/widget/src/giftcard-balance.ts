import type { CardBalance, CardEntry } from "@giftcard-pay/checkout/storefront";
import { nothing, type TemplateResult } from "lit";
import { cardPanel } from "./card-quote.js";
import { GiftcardElement, register } from "./giftcard-element.js";
import { ShopCalls } from "./shop-calls.js";

/**
 * Tells what a gift card holds: card number and PIN in, balance out. For a page of its own, without a cart.
 *
 * @tag giftcard-balance
 *
 * @event {GiftcardEvent<CardBalance>} giftcard-pay:balance - The balance of a card was told.
 * @event {GiftcardEvent<ErrorDetail>} giftcard-pay:error - A call was refused or got no answer.
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

  #answer: CardBalance | undefined;

  protected readonly calls: ShopCalls = new ShopCalls(this, () => this.address, this.waiting);

  /** What the shop told last; undefined until then. */
  get balance(): CardBalance | undefined {
    return this.#answer;
  }

  protected override async send(entry: CardEntry): Promise<void> {
    const { calls, words } = this;
    this.#answer = undefined;
    const answer = await calls.perform("balance", (api, signal) => api.balance(entry, signal));
    if (!answer) return this.showFault();
    this.#answer = answer;
    this.fields.clear();
    const { lastFour: last4, balanceCents: balance } = answer;
    this.attention.say(words.fill(words.texts.announceBalance, { last4, balance }));
    calls.tell("giftcard-pay:balance", answer);
  }

  protected override render(): TemplateResult {
    const { words } = this;
    const between = this.#answer ? cardPanel(words, this.#answer) : nothing;
    return this.frame({ title: words.texts.check, between });
  }
}
