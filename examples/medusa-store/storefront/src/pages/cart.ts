import { html, render } from "lit";
import { formatDiscount, formatEuro } from "../money.js";
import type { Place } from "../place.js";
import { poster } from "../poster.js";
import type { Cart } from "../shop.js";

/** The cart, with editable quantities. */
export async function showCart({ outlet, shop, count }: Place): Promise<void> {
  let cart = await shop.cart();
  let busy = false;
  const work = async (job: (cart: Cart) => Promise<Cart>) => {
    if (!cart || busy) return;
    busy = true;
    draw();
    try {
      cart = await job(cart);
    } finally {
      busy = false;
      draw();
    }
  };
  const change = (itemId: string, quantity: number) => work((open) => shop.setQuantity(open, itemId, quantity));
  const promote = (code: string) => work((open) => shop.promote(open, code));
  const draw = () => {
    const items = cart?.items ?? [];
    count(items);
    render(cart && items.length > 0 ? filled(cart, { busy, change, promote }) : empty(), outlet);
  };
  draw();
}

const empty = () =>
  html`<h1>Your cart</h1>
    <p class="lead">There is nothing in it yet. <a href="/">See what's on</a></p>`;

interface Controls {
  readonly busy: boolean;
  readonly change: (itemId: string, quantity: number) => void;
  readonly promote: (code: string) => void;
}

const filled = (cart: Cart, { busy, change, promote }: Controls) =>
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
          <strong class="price">${formatEuro(item.original_total ?? item.unit_price * item.quantity)}</strong>
        </li>`,
      )}
    </ul>
    ${promotionForm(cart, busy, promote)}
    <div class="line end total-line">
      <span>Together <strong class="price">${formatEuro(cart.item_total)}</strong></span>
      <a class="button primary" href="/checkout">To the checkout</a>
    </div>`;

/** The field for a promotion code; a cart has at most one. */
function promotionForm(cart: Cart, busy: boolean, promote: (code: string) => void) {
  const [promotion] = cart.promotions ?? [];
  if (promotion)
    return html`<div class="line end">
      <span>Code ${promotion.code} <span id="discount">${formatDiscount(cart)}</span></span>
      <button class="plain" ?disabled=${busy} @click=${() => promote("")}>Remove the code</button>
    </div>`;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    promote(String(new FormData(event.currentTarget as HTMLFormElement).get("code") ?? "").trim());
  };
  return html`<form class="line end" @submit=${submit}>
    <label>Promotion code <input name="code" required autocomplete="off" /></label>
    <button class="button" ?disabled=${busy}>Apply</button>
  </form>`;
}
