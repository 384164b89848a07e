import { html, render } from "lit";
import type { Place } from "../place.js";
import { productCard, showProducts } from "./products.js";

/** The page of a product, with its dates for search engines. */
export async function showProduct(place: Place): Promise<void> {
  const { outlet, shop, id: handle } = place;
  const product = (await shop.products()).find((one) => one.handle === handle);
  if (!product) return showProducts(place);
  render(html`<div class="event">${productCard(place, product, html`<h1>${product.title}</h1>`)}</div>`, outlet);
  // Loaded separately, since the page also works without it.
  const texts = await shop.jsonLd(handle).catch(() => []);
  for (const text of texts) {
    const script = document.createElement("script");
    script.type = "application/ld+json";
    script.textContent = text;
    outlet.append(script);
  }
}
