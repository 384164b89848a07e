import { html, render } from "lit";
import { formatEuro } from "../money.js";
import type { Place } from "../place.js";
import { poster } from "../poster.js";
import { type Product, priceOf } from "../shop.js";

/** The shop window. */
export async function showProducts({ outlet, shop, go, count }: Place): Promise<void> {
  const products = await shop.products();
  const add = async (product: Product, button: HTMLButtonElement) => {
    button.disabled = true;
    try {
      count((await shop.add(product)).items ?? []);
      await go("/cart");
    } finally {
      button.disabled = false;
    }
  };
  render(
    html`<h1>What are you up for?</h1>
      <p class="lead">Three nights out. Pay with a gift card, with two, or with a card and your bank.</p>
      <ul class="window">
        ${products.map(
          (product) => html`<li class="event">
            ${poster(product.handle)}
            <div class="about">
              <h2>${product.title}</h2>
              <p class="muted">${product.subtitle}</p>
              <p>${product.description}</p>
              <div class="line end">
                <strong class="price">${formatEuro(priceOf(product))}</strong>
                <button
                  class="primary"
                  data-product=${product.handle}
                  @click=${(event: Event) => void add(product, event.currentTarget as HTMLButtonElement)}
                >
                  Add to cart
                </button>
              </div>
            </div>
          </li>`,
        )}
      </ul>`,
    outlet,
  );
}
