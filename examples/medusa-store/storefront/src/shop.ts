import type { PaidBy } from "@giftcard-pay/medusa/paid-by";
import type { TotalDetail } from "@giftcard-pay/widget";
import Medusa from "@medusajs/js-sdk";
import type { HttpTypes } from "@medusajs/types";
import type { Config } from "./config.js";

export type Cart = HttpTypes.StoreCart;
export type Order = HttpTypes.StoreOrder;
export type Product = HttpTypes.StoreProduct;
export type Variant = HttpTypes.StoreProductVariant;
export type ShippingOption = HttpTypes.StoreCartShippingOption;
export type Address = Required<
  Pick<HttpTypes.StoreAddAddress, "first_name" | "last_name" | "address_1" | "postal_code" | "city" | "country_code">
>;

const CART_KEY = "night-owl-cart";
const CART_FIELDS = { fields: "*items,*shipping_methods,*shipping_address,*promotions,+completed_at" };
const ORDER_FIELDS = { fields: "*items,*shipping_methods" };
/** The shop's only other payment method. */
const BANK = "pp_system_default";
/** How long a page waits for its turn if many orders are placed at once. */
const PATIENCE_MS = 60_000;
const RETRY_MS = 1000;

/** The calls of the shop's pages. The browser stores the cart's id. */
export class Shop {
  readonly config: Config;
  readonly #sdk: Medusa;
  #region: Promise<HttpTypes.StoreRegion> | undefined;

  constructor(config: Config) {
    this.config = config;
    this.#sdk = new Medusa({ baseUrl: config.backendUrl, publishableKey: config.publishableKey });
  }

  async region(): Promise<HttpTypes.StoreRegion> {
    this.#region ??= this.#sdk.store.region.list().then(({ regions: [first] }) => {
      if (!first) throw new Error("The shop has no region.");
      return first;
    });
    return this.#region;
  }

  async products(): Promise<Product[]> {
    const region = await this.region();
    const { products } = await this.#sdk.store.product.list({
      region_id: region.id,
      fields: "*variants.calculated_price",
    });
    return products.toSorted((a, b) => lowestPrice(a) - lowestPrice(b));
  }

  /** The product's dates as schema.org JSON-LD for search engines; empty if the product is not a show. */
  async jsonLd(handle: string): Promise<string[]> {
    const { jsonLd } = await this.#sdk.client.fetch<{ jsonLd: string[] }>(
      `/store/giftcard-pay/products/${handle}/events`,
    );
    return jsonLd;
  }

  /** The shopper's cart; undefined if there is none or it has become an order. */
  async cart(): Promise<Cart | undefined> {
    const id = localStorage.getItem(CART_KEY);
    if (!id) return undefined;
    try {
      const { cart } = await this.#sdk.store.cart.retrieve(id, CART_FIELDS);
      if (!(cart as { completed_at?: string }).completed_at) return cart;
    } catch (error) {
      if ((error as { status?: number }).status !== 404) throw error;
    }
    localStorage.removeItem(CART_KEY);
    return undefined;
  }

  async add(variant: Variant): Promise<Cart> {
    const cart = (await this.cart()) ?? (await this.#createCart());
    await this.#sdk.store.cart.createLineItem(cart.id, { variant_id: variant.id, quantity: 1 });
    return this.#reload(cart);
  }

  async setQuantity(cart: Cart, itemId: string, quantity: number): Promise<Cart> {
    if (quantity > 0) await this.#sdk.store.cart.updateLineItem(cart.id, itemId, { quantity });
    else await this.#sdk.store.cart.deleteLineItem(cart.id, itemId);
    return this.#reload(cart);
  }

  /** Applies a promotion code and replaces any other. @returns the cart, unchanged if there is no such promotion */
  async promote(cart: Cart, code: string): Promise<Cart> {
    await this.#sdk.store.cart.update(cart.id, { promo_codes: code ? [code] : [] });
    return this.#reload(cart);
  }

  async shippingOptions(cart: Cart): Promise<ShippingOption[]> {
    const { shipping_options } = await this.#sdk.store.fulfillment.listCartOptions({ cart_id: cart.id });
    return shipping_options.toSorted((a, b) => a.amount - b.amount);
  }

  async ship(cart: Cart, optionId: string): Promise<Cart> {
    await this.#sdk.store.cart.addShippingMethod(cart.id, { option_id: optionId });
    return this.#reload(cart);
  }

  async setDetails(cart: Cart, email: string, address: Address): Promise<Cart> {
    await this.#sdk.store.cart.update(cart.id, {
      email,
      shipping_address: address,
      billing_address: address,
    });
    return this.#reload(cart);
  }

  /**
   * Creates a payment session at the bank for the remainder, if any, and places the order.
   *
   * @param shown the amounts that the page shows
   * @throws {Error} with the shop's reason if the order is not placed; the cart is still open
   */
  async placeOrder(cart: Cart, shown: TotalDetail["summary"] | undefined): Promise<Order> {
    if (shown?.remainderCents !== 0) await this.#sdk.store.payment.initiatePaymentSession(cart, { provider_id: BANK });
    const result = await this.#complete(cart.id, shown?.plan);
    if (result.type !== "order") throw new Error(result.error.message);
    localStorage.removeItem(CART_KEY);
    return result.order;
  }

  /**
   * Completes the cart. While many orders are being placed, the shop answers 409, and the page calls again. It also
   * calls again without a response: the order may have been placed, and then the next call returns it.
   */
  async #complete(cartId: string, giftcard_plan: string | undefined): Promise<HttpTypes.StoreCompleteCartResponse> {
    const body = { giftcard_plan };
    for (const until = Date.now() + PATIENCE_MS; ; ) {
      try {
        return await this.#sdk.client.fetch(`/store/carts/${cartId}/complete`, { method: "POST", body });
      } catch (error) {
        const { status = 409 } = error as { status?: number };
        if (status !== 409 || Date.now() > until) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  async order(id: string): Promise<Order> {
    const { order } = await this.#sdk.store.order.retrieve(id, ORDER_FIELDS);
    return order;
  }

  /** The payments and refunds of an order, in cents. */
  paidBy(orderId: string): Promise<PaidBy> {
    return this.#sdk.client.fetch<PaidBy>(`/store/giftcard-pay/orders/${orderId}`);
  }

  async #createCart(): Promise<Cart> {
    const region = await this.region();
    const { cart } = await this.#sdk.store.cart.create({ region_id: region.id });
    localStorage.setItem(CART_KEY, cart.id);
    return cart;
  }

  async #reload(cart: Cart): Promise<Cart> {
    const { cart: fresh } = await this.#sdk.store.cart.retrieve(cart.id, CART_FIELDS);
    return fresh;
  }
}

/** The price of a variant, in euros. */
export const priceOf = ({ calculated_price }: Variant): number => calculated_price?.calculated_amount ?? 0;

const lowestPrice = ({ variants }: Product): number => Math.min(...(variants ?? []).map(priceOf));
