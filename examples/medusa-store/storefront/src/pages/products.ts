import { html, render, type TemplateResult } from "lit";
import { formatEuro } from "../money.js";
import type { Place } from "../place.js";
import { poster } from "../poster.js";
import { type Product, priceOf } from "../shop.js";

/** The shop window. */
export async function showProducts(place: Place): Promise<void> {
  const products = await place.shop.products();
  render(
    html`<h1>What are you up for?</h1>
      <p class="lead">Three nights out. Pay with a gift card, with two, or with a card and your bank.</p>
      <ul class="window">
        ${products.map(
          (product) => html`<li class="event">
            ${productCard(
              place,
              product,
              html`<h2><a href=${`/products/${product.handle}`}>${product.title}</a></h2>`,
            )}
          </li>`,
        )}
      </ul>`,
    place.outlet,
  );
}

/** A product with its button. */
export function productCard(place: Place, product: Product, heading: TemplateResult): TemplateResult {
  const add = async (button: HTMLButtonElement) => {
    button.disabled = true;
    try {
      place.count((await place.shop.add(product)).items ?? []);
      await place.go("/cart");
    } finally {
      button.disabled = false;
    }
  };
  return html`${poster(product.handle)}
    <div class="about">
      ${heading}
      <p class="muted">${product.subtitle}</p>
      <p>${product.description}</p>
      <div class="line end">
        <strong class="price">${formatEuro(priceOf(product))}</strong>
        <button
          class="primary"
          data-product=${product.handle}
          @click=${(event: Event) => void add(event.currentTarget as HTMLButtonElement)}
        >
          Add to cart
        </button>
      </div>
    </div>`;
}
