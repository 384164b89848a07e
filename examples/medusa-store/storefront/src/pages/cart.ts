import { html, render } from "lit";
import { formatEuro } from "../money.js";
import type { Place } from "../place.js";
import { poster } from "../poster.js";
import type { Cart } from "../shop.js";

/** The cart, with quantities to change. */
export async function showCart({ outlet, shop, count }: Place): Promise<void> {
  let cart = await shop.cart();
  let busy = false;
  const change = async (itemId: string, quantity: number) => {
    if (!cart || busy) return;
    busy = true;
    draw();
    try {
      cart = await shop.setQuantity(cart, itemId, quantity);
    } finally {
      busy = false;
      draw();
    }
  };
  const draw = () => {
    const items = cart?.items ?? [];
    count(items);
    render(cart && items.length > 0 ? filled(cart, busy, change) : empty(), outlet);
  };
  draw();
}

const empty = () =>
  html`<h1>Your cart</h1>
    <p class="lead">There is nothing in it yet. <a href="/">See what's on</a></p>`;

const filled = (cart: Cart, busy: boolean, change: (itemId: string, quantity: number) => void) =>
  html`<h1>Your cart</h1>
    <ul class="panel items" aria-busy=${busy}>
      ${(cart.items ?? []).map(
        (item) => html`<li class="item">
          ${poster(item.product_handle)}
          <div class="grow">
            <h2>${item.product_title}</h2>
            <p class="muted">${item.variant_title}, ${formatEuro(item.unit_price)} each</p>
            <div class="line">
              <span class="stepper">
                <button aria-label="One less" ?disabled=${busy} @click=${() => change(item.id, item.quantity - 1)}>−</button>
                <span aria-live="polite">${item.quantity}</span>
                <button aria-label="One more" ?disabled=${busy} @click=${() => change(item.id, item.quantity + 1)}>+</button>
              </span>
              <button class="plain" ?disabled=${busy} @click=${() => change(item.id, 0)}>Remove</button>
            </div>
          </div>
          <strong class="price">${formatEuro(item.total ?? item.unit_price * item.quantity)}</strong>
        </li>`,
      )}
    </ul>
    <div class="line end total-line">
      <span>Together <strong class="price">${formatEuro(cart.item_total)}</strong></span>
      <a class="button primary" href="/checkout">To the checkout</a>
    </div>`;
