import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { Checkout } from "./checkout.js";

/** Renders the checkout page of a cart, as a shop's server does. */
export const renderPage = (cart) => `<!doctype html>
<html lang="en"><title>Shop</title><link rel="icon" href="data:,"><body>
  <div id="root" data-cart="${cart}">${renderToString(createElement(Checkout, { cart }))}</div>
  <script type="module" src="/client.js"></script>
</body></html>`;
