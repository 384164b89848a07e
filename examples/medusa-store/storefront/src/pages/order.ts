import { html, render } from "lit";
import { formatEuro } from "../money.js";
import type { Place } from "../place.js";
import type { Order } from "../shop.js";

/** Thanks, and how it was paid. */
export async function showOrder({ outlet, shop, id, count }: Place): Promise<void> {
  const order = await shop.order(id);
  count([]);
  const payments = (order.payment_collections ?? []).flatMap((collection) => collection.payments ?? []);
  payments.sort((a, b) => b.amount - a.amount);
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
        ${payments.map(
          (payment) => html`<div><dt>${nameOf(payment)}</dt><dd>${formatEuro(payment.amount)}</dd></div>`,
        )}
        <div class="strong"><dt>Total</dt><dd>${formatEuro(order.total)}</dd></div>
      </dl>
      <a class="button" href="/">Another night out</a>
    </section>`,
    outlet,
  );
}

type Payment = NonNullable<NonNullable<Order["payment_collections"]>[number]["payments"]>[number];

/** A gift card's payment carries the card's last four digits; any other is the bank's. */
function nameOf(payment: Payment): string {
  const lastFour = payment.data?.last_four;
  return lastFour ? `Gift card ending in ${lastFour}` : "Bank (demo)";
}
