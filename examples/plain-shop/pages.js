/** The shop's pages: plain HTML, with one small script at the checkout. */
import { randomUUID } from "node:crypto";
import { html } from "hono/html";

/** @param {number} cents */
export const euro = (cents) => `€${(cents / 100).toFixed(2)}`;

/** @param {string} title @param {unknown} body @param {unknown} [head] */
export const page = (title, body, head) => html`<!doctype html>
  <html lang="en">
    <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width">
      <title>${title} · Night Owl Tickets</title>
      <link rel="icon" href="/owl.svg">
      <link rel="stylesheet" href="/shop.css">
      <link rel="stylesheet" href="/giftcard-pay.css">
      ${head}
    </head>
    <body>
      <header><a class="brand" href="/"><img src="/owl.svg" alt="" width="32" height="32"> Night Owl Tickets</a> <a href="/checkout">Checkout</a></header>
      <main><h1>${title}</h1>${body}</main>
    </body>
  </html>`;

/** @param {{ id: string, title: string, priceCents: number }[]} products */
export const productsPage = (products) =>
  page(
    "Tickets",
    html`<ul class="products">
      ${products.map(
        ({ id, title, priceCents }) => html`<li class="box">
          <div class="poster ${id}"></div>
          <h2>${title}</h2>
          <form method="post" action="/cart">
            <strong>${euro(priceCents)}</strong>
            <button name="product" value="${id}" aria-label="Order ${title}">Order</button>
          </form>
        </li>`,
      )}
    </ul>`,
  );

/** @param {import("./orders.js").Line[]} lines @param {number} totalCents */
const lineTable = (lines, totalCents) => html`<table>
  ${lines.map((line) => html`<tr><td>${line.quantity} × ${line.title}</td><td>${euro(line.amountCents)}</td></tr>`)}
  <tr class="total"><th scope="row">Total</th><td id="total">${euro(totalCents)}</td></tr>
</table>`;

/**
 * @param {import("./orders.js").Cart} cart
 * @param {number} remainderCents the remainder after the applied cards
 * @param {unknown} notice the reason why the order was not placed
 */
export const checkoutPage = (cart, remainderCents, notice) =>
  page(
    "Checkout",
    html`${notice && html`<p role="alert">${notice}</p>`}
      <form id="empty" method="post" action="/cart/empty"></form>
      <form class="checkout" method="post" action="/orders">
        <section class="box">
          <h2>Gift card</h2>
          <giftcard-pay endpoint="/giftcards" cart="${cart.id}"></giftcard-pay>
        </section>
        <section class="box">
          <h2>Your order</h2>
          ${lineTable(cart.lines, cart.totalCents)}
          <p class="due">To pay at the bank: <strong id="remainder">${euro(remainderCents)}</strong></p>
          <button class="main">Place order</button>
          <button class="quiet" form="empty">Empty the cart</button>
        </section>
      </form>
      <script type="module" src="/giftcard-pay.standalone.js"></script>
      <script type="module" src="/checkout.js"></script>`,
  );

/** A payment by card or bank, with its refunds. @typedef {{ name: string, amountCents: number, refundedCents: number }} Part */

/**
 * @param {string} title
 * @param {string} text
 * @param {import("./orders.js").Order} order
 * @param {Part[]} parts
 */
export const orderPage = (title, text, order, parts) =>
  page(
    title,
    html`<p>${text}</p>
      <section class="box">${lineTable(order.lines, order.totalCents)}</section>
      <section class="box">
      <h2>Paid with</h2>
      <table id="payments">
        ${parts.map(({ name, amountCents }) => html`<tr><td>${name}</td><td>${euro(amountCents)}</td></tr>`)}
        ${parts
          .filter(({ refundedCents }) => refundedCents > 0)
          .map(({ name, refundedCents }) => html`<tr><td>Returned: ${name}</td><td>${euro(refundedCents)}</td></tr>`)}
      </table>
      </section>`,
  );

/** @param {string} title @param {string} text @param {{ href: string, text: string }} [link] */
export const messagePage = (title, text, link = { href: "/checkout", text: "Back to the checkout" }) =>
  page(title, html`<p>${text}</p><p><a href="${link.href}">${link.text}</a></p>`);

/** A page that loads again until the payment is decided. @param {string} title @param {string} text */
export const waitingPage = (title, text) =>
  page(
    title,
    html`<p>${text}</p><p>This page shows the result by itself.</p>`,
    html`<meta http-equiv="refresh" content="5">`,
  );

/** The form that refunds one ticket of a line. @param {import("./orders.js").Order} order */
const returnForm = ({ id, lines }) => html`<form method="post" action="/operator/orders/${id}/return">
  <input type="hidden" name="id" value="${randomUUID()}">
  ${lines.map((line) => html`<button name="line" value="${line.id}">Give one back: ${line.title}</button>`)}
</form>`;

/** @param {{ order: import("./orders.js").Order, state: string, remainderCents: number, fault: string | null }[]} rows */
export const operatorPage = (rows) =>
  page(
    "Orders",
    html`<form method="post" action="/operator/recover">
        <button class="quiet">Look after unfinished payments now</button>
      </form>
      <p><a href="/operator/books">The books of this month</a></p>
      <table>
      <tr><th>Order</th><th>Total</th><th>Bank</th><th>State</th><td></td></tr>
      ${rows.map(
        ({ order, state, remainderCents, fault }) => html`<tr>
          <td>${order.id.slice(0, 8)}</td>
          <td>${euro(order.totalCents)}</td>
          <td>${euro(remainderCents)}</td>
          <td>${state}${fault && html`: ${fault}`}</td>
          <td>
            ${fault && html`<form method="post" action="/operator/orders/${order.id}/retry"><button>Try again</button></form>`}
            <form method="post" action="/operator/orders/${order.id}/cancel"><button>Cancel order</button></form>
            <form method="post" action="/operator/orders/${order.id}/refund"><button>Refund gift cards</button></form>
            ${state === "paid" && returnForm(order)}
          </td>
        </tr>`,
      )}
    </table>`,
  );
