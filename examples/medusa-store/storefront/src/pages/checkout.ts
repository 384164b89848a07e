import "@giftcard-pay/widget/define";
import type { GiftcardPay, TotalDetail } from "@giftcard-pay/widget";
import { html, nothing, render } from "lit";
import { formatCents, formatEuro } from "../money.js";
import type { Place } from "../place.js";
import type { Address, Cart, ShippingOption } from "../shop.js";
import { detailsForm, readDetails } from "./details-form.js";
import { orderSummary } from "./order-summary.js";

/** The checkout: address, delivery, gift cards, and the bank for the remainder. */
export async function showCheckout(place: Place): Promise<void> {
  const cart = await place.shop.cart();
  if (!cart?.items?.length) return place.go("/cart");
  const options = await place.shop.shippingOptions(cart);
  const [first] = options;
  const shipped = cart.shipping_methods?.length || !first ? cart : await place.shop.ship(cart, first.id);
  new Checkout(place, shipped, options).draw();
}

class Checkout {
  readonly #place: Place;
  readonly #options: ShippingOption[];
  #cart: Cart;
  #total: TotalDetail | undefined;
  #busy = false;
  #problem = "";

  constructor(place: Place, cart: Cart, options: ShippingOption[]) {
    this.#place = place;
    this.#cart = cart;
    this.#options = options;
  }

  draw(): void {
    const { backendUrl, publishableKey } = this.#place.shop.config;
    const cart = this.#cart;
    const chosen = cart.shipping_methods?.[0]?.shipping_option_id;
    render(
      html`<h1>Checkout</h1>
        <div class="checkout">
          <div class="steps">
            <section class="panel">
              <h2>1. Your details</h2>
              ${detailsForm(cart, this.#placeOrder)}
            </section>
            <section class="panel">
              <h2>2. Delivery</h2>
              <div class="choices" role="radiogroup" aria-label="Delivery">
                ${this.#options.map((option) => this.#shippingChoice(option, option.id === chosen))}
              </div>
            </section>
            <section class="panel">
              <h2>3. Payment</h2>
              <h3>Gift card</h3>
              <!-- Part of the form: an order waits for a card that is being applied, and isn't placed past one. -->
              <giftcard-pay
                form="details"
                endpoint="${backendUrl}/store/giftcard-pay"
                cart=${cart.id}
                publishable-key=${publishableKey}
                @giftcard-total=${(event: CustomEvent<TotalDetail>) => this.#onTotal(event.detail)}
              ></giftcard-pay>
              ${this.#bank()}
            </section>
          </div>
          <aside class="panel side">
            ${orderSummary(cart, this.#total)}
            <button class="primary wide" form="details" ?disabled=${this.#busy}>
              ${this.#busy ? "One moment…" : "Place order"}
            </button>
            <p class="notice bad" role="alert" ?hidden=${!this.#problem}>${this.#problem}</p>
            <p class="muted small">Gift cards are charged when the order is placed, not before.</p>
          </aside>
        </div>`,
      this.#place.outlet,
    );
  }

  #shippingChoice(option: ShippingOption, checked: boolean) {
    return html`<label class="choice">
      <input
        type="radio"
        name="shipping"
        .checked=${checked}
        ?disabled=${this.#busy}
        @change=${() => void this.#ship(option.id)}
      />
      <span class="grow">${option.name}<small>${option.type.description}</small></span>
      <span class="price">${option.amount ? formatEuro(option.amount) : "Free"}</span>
    </label>`;
  }

  #bank() {
    const remainder = this.#total?.remainderCents;
    if (this.#total?.covered) return html`<p class="notice good">The gift cards pay all of it.</p>`;
    const covered = this.#total && this.#total.coveredCents > 0;
    return html`<h3>${covered ? "The rest" : "By bank"}</h3>
      <label class="choice">
        <input type="radio" checked readonly />
        <span class="grow">
          ${covered ? "Pay the rest by bank (demo)" : "Pay by bank (demo)"}
          <small>Says yes to everything: a stand-in for your payment service</small>
        </span>
        ${remainder === undefined ? nothing : html`<span class="price">${formatCents(remainder)}</span>`}
      </label>`;
  }

  get #tag(): GiftcardPay | null {
    return this.#place.outlet.querySelector("giftcard-pay");
  }

  #onTotal(total: TotalDetail): void {
    // While a payment with a card isn't finished, the tag shows what to do, and keeps the form unless the shopper agrees.
    this.#total = total.settling ? undefined : total;
    this.draw();
  }

  async #ship(optionId: string): Promise<void> {
    await this.#work(async () => {
      this.#cart = await this.#place.shop.ship(this.#cart, optionId);
    });
    await this.#tag?.refresh();
  }

  readonly #placeOrder = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const details = readDetails(this.#place.outlet);
    if (!details || this.#busy) return;
    const order = await this.#work(() => this.#complete(details));
    if (order) return this.#place.go(`/order/${order.id}`);
    // The reason may be a changed cart, so show the current one.
    this.#cart = (await this.#place.shop.cart().catch(() => undefined)) ?? this.#cart;
    this.draw();
    await this.#tag?.refresh();
  };

  async #complete({ email, address }: { email: string; address: Address }) {
    const { shop } = this.#place;
    this.#cart = await shop.setDetails(this.#cart, email, address);
    return shop.placeOrder(this.#cart, this.#total?.summary);
  }

  /** Runs one change at a time, and shows a failure. */
  async #work<T>(task: () => Promise<T>): Promise<T | undefined> {
    this.#busy = true;
    this.#problem = "";
    this.draw();
    try {
      return await task();
    } catch (error) {
      const isAnswer = error instanceof Error && !(error instanceof TypeError);
      this.#problem = isAnswer ? error.message : "The shop didn't answer. Try again.";
      return undefined;
    } finally {
      this.#busy = false;
      this.draw();
    }
  }
}
