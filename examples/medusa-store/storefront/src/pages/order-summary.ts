import type { TotalDetail } from "@giftcard-pay/widget";
import { html, nothing, type TemplateResult } from "lit";
import { formatCents, formatDiscount, formatEuro } from "../money.js";
import { poster } from "../poster.js";
import type { Cart } from "../shop.js";

/** The order's total, the gift cards' part, and the remainder. */
export function orderSummary(cart: Cart, giftcards: TotalDetail | undefined): TemplateResult {
  return html`<h2>Your order</h2>
    <ul class="items small-items">
      ${(cart.items ?? []).map(
        (item) => html`<li class="item">
          ${poster(item.product_handle)}
          <div class="grow">
            <strong>${item.product_title}</strong>
            <p class="muted">${item.quantity} × ${item.variant_title}</p>
          </div>
          <span class="price">${formatEuro(item.original_total ?? item.unit_price * item.quantity)}</span>
        </li>`,
      )}
    </ul>
    <dl class="sums">
      <div><dt>Delivery</dt><dd>${cart.original_shipping_total ? formatEuro(cart.original_shipping_total) : "Free"}</dd></div>
      ${
        cart.discount_total ? html`<div><dt>Discount</dt><dd id="discount">${formatDiscount(cart)}</dd></div>` : nothing
      }
      <div class="strong"><dt>Total</dt><dd id="total">${formatEuro(cart.total)}</dd></div>
      ${
        giftcards && giftcards.coveredCents > 0
          ? html`<div class="covered"><dt>Gift cards</dt><dd id="covered">−${formatCents(giftcards.coveredCents)}</dd></div>
              <div class="strong"><dt>Left to pay</dt><dd id="remainder">${formatCents(giftcards.remainderCents)}</dd></div>`
          : nothing
      }
    </dl>`;
}
