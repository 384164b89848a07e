import type { PaidBy } from "@giftcard-pay/medusa/paid-by";
import { html, render } from "lit";
import { formatCents, formatEuro } from "../money.js";
import type { Place } from "../place.js";

/** The confirmation, with the payments and refunds. */
export async function showOrder({ outlet, shop, id, count }: Place): Promise<void> {
  const [order, paidBy] = await Promise.all([shop.order(id), shop.paidBy(id)]);
  count([]);
  render(
    html`<section class="panel placed">
      <p class="tick" aria-hidden="true">✓</p>
      <h1>Order placed</h1>
      <p class="lead">Order ${order.display_id} is on its way to ${order.email}. Have a good night!</p>
      <ul class="items">
        ${(order.items ?? []).map(
          (item) => html`<li class="item">
            <span class="grow">${item.quantity} × ${item.product_title}</span><span class="price">${formatEuro(item.total)}</span>
          </li>`,
        )}
        ${(order.shipping_methods ?? []).map(
          (method) => html`<li class="item">
            <span class="grow">${method.name}</span><span class="price">${method.total ? formatEuro(method.total) : "Free"}</span>
          </li>`,
        )}
      </ul>
      <h2>Paid with</h2>
      <dl class="sums" id="payments">
        ${rowsOf(paidBy).map(({ name, cents }) => html`<div><dt>${name}</dt><dd>${formatCents(cents)}</dd></div>`)}
        <div class="strong"><dt>Total</dt><dd>${formatEuro(order.total)}</dd></div>
      </dl>
      <a class="button" href="/">Another night out</a>
    </section>`,
    outlet,
  );
}

/** The payments by card and bank, then the refunds. */
function rowsOf({ cards, others }: PaidBy): { name: string; cents: number }[] {
  const paid = [
    ...cards.map((card) => ({ ...card, name: `Gift card ending in ${card.lastFour}` })),
    ...others.map((other) => ({ ...other, name: "Bank (demo)" })),
  ];
  const returned = paid.filter(({ refundedCents }) => refundedCents > 0);
  return [
    ...paid.map(({ name, amountCents }) => ({ name, cents: amountCents })),
    ...returned.map(({ name, refundedCents }) => ({ name: `Returned: ${name}`, cents: refundedCents })),
  ];
}
