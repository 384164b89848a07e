import { html, render } from "lit";
import { loadConfig } from "./config.js";
import { showCart } from "./pages/cart.js";
import { showCheckout } from "./pages/checkout.js";
import { showOrder } from "./pages/order.js";
import { showProduct } from "./pages/product.js";
import { showProducts } from "./pages/products.js";
import type { Page } from "./place.js";
import { Shop } from "./shop.js";

const pages: Record<string, Page> = {
  "": showProducts,
  products: showProduct,
  cart: showCart,
  checkout: showCheckout,
  order: showOrder,
};

const outlet = document.querySelector<HTMLElement>("#page") as HTMLElement;
const shop = new Shop(await loadConfig());

async function show(): Promise<void> {
  const [name = "", id = ""] = location.pathname.slice(1).split("/");
  const page = pages[name] ?? showProducts;
  // A new element for each page, so that no page inherits parts of another.
  const fresh = document.createElement("div");
  outlet.replaceChildren(fresh);
  try {
    await page({ outlet: fresh, shop, id, go, count });
  } catch (error) {
    console.error(error);
    render(
      html`<p class="notice bad" role="alert">The shop can't be reached. <a href=${location.href}>Try again</a></p>`,
      fresh,
    );
  }
}

async function go(path: string): Promise<void> {
  history.pushState(null, "", path);
  scrollTo(0, 0);
  await show();
  outlet.focus({ preventScroll: true });
}

function count(items: { quantity: number }[]): void {
  const sum = items.reduce((total, item) => total + item.quantity, 0);
  (document.querySelector("#cart-count") as HTMLElement).textContent = String(sum);
}

document.addEventListener("click", (event) => {
  const link = event.composedPath().find((part): part is HTMLAnchorElement => part instanceof HTMLAnchorElement);
  if (!link || link.origin !== location.origin || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  void go(link.pathname);
});
addEventListener("popstate", () => void show());
await show();
count((await shop.cart())?.items ?? []);
