import { html, nothing, render, type TemplateResult } from "lit";
import { formatEuro } from "../money.js";
import type { Place } from "../place.js";
import { poster } from "../poster.js";
import { type Product, priceOf, type Variant } from "../shop.js";

/** The list of products. */
export async function showProducts(place: Place): Promise<void> {
  const products = await place.shop.products();
  render(
    html`<h1>What are you up for?</h1>
      <p class="lead">Nights out, and a T-shirt to remember them. Pay with a gift card, with two, or with a card and your bank.</p>
      <ul class="window">
        ${products.map(
          (product) => html`<li class="event">
            ${productCard(place, product, html`<h2><a href=${`/products/${product.handle}`}>${product.title}</a></h2>`)}
          </li>`,
        )}
      </ul>`,
    place.outlet,
  );
}

/** A product with a price and a button for each variant, the most expensive first. */
export function productCard(place: Place, product: Product, heading: TemplateResult): TemplateResult {
  const variants = (product.variants ?? []).toSorted((a, b) => priceOf(b) - priceOf(a));
  return html`${poster(product.handle)}
    <div class="about">
      ${heading}
      <p class="muted">${product.subtitle}</p>
      <p>${product.description}</p>
      ${variants.map((variant) => offer(place, product, variant, variants.length > 1))}
    </div>`;
}

function offer(place: Place, product: Product, variant: Variant, isOneOfSeveral: boolean): TemplateResult {
  const add = async (button: HTMLButtonElement) => {
    button.disabled = true;
    try {
      place.count((await place.shop.add(variant)).items ?? []);
      await place.go("/cart");
    } finally {
      button.disabled = false;
    }
  };
  return html`<div class="line end">
    ${isOneOfSeveral ? html`<span>${variant.title}</span>` : nothing}
    <strong class="price">${formatEuro(priceOf(variant))}</strong>
    <button
      class="primary"
      data-product=${product.handle}
      aria-label=${isOneOfSeveral ? `Add to cart: ${product.title}, ${variant.title}` : nothing}
      @click=${(event: Event) => void add(event.currentTarget as HTMLButtonElement)}
    >
      Add to cart
    </button>
  </div>`;
}
