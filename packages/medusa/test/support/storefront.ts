import type { MedusaStore } from "../../../../test/support/store.js";

/** A response with its status; the test chooses the body's type. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers of Medusa, read by the test
  readonly body: any;
}

export interface Card {
  readonly cardNumber: string;
  readonly pin: string;
}

/** The HTTP calls of a shop's page and of its admin. */
export function createStorefront(medusa: MedusaStore) {
  async function send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const isAdmin = path.startsWith("/admin");
    const auth: Record<string, string> = isAdmin
      ? { authorization: `Bearer ${medusa.admin.token}` }
      : { "x-publishable-api-key": medusa.publishableKey };
    const response = await fetch(medusa.url + path, {
      method,
      headers: { ...auth, ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") ?? false;
    const answer = isJson && text ? JSON.parse(text) : text || null;
    return { status: response.status, headers: response.headers, body: answer };
  }

  async function ok(method: string, path: string, body?: unknown) {
    const answer = await send(method, path, body);
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  let market: { regionId: string; variants: Record<string, string> } | undefined;

  async function readMarket() {
    if (market) return market;
    const { regions } = await ok("GET", "/store/regions");
    const { products } = await ok("GET", "/store/products?limit=1000&fields=handle,variants.id");
    const variants = Object.fromEntries(
      products.map((p: { handle: string; variants: { id: string }[] }) => [p.handle, p.variants[0]?.id]),
    );
    market = { regionId: regions[0].id, variants };
    return market;
  }

  let freeShipping: string | undefined;

  /** The shipping option, which is the same for every cart. */
  async function readFreeShipping(cartId: string): Promise<string> {
    if (freeShipping) return freeShipping;
    const { shipping_options } = await ok("GET", `/store/shipping-options?cart_id=${cartId}`);
    freeShipping = shipping_options.find((option: { amount: number }) => option.amount === 0).id as string;
    return freeShipping;
  }

  const addItem = async (cartId: string, handle: string, quantity = 1) => {
    const { variants } = await readMarket();
    return (await ok("POST", `/store/carts/${cartId}/line-items`, { variant_id: variants[handle], quantity })).cart;
  };

  return {
    send,
    ok,
    addItem,

    /** Sets the region's payment providers, by default all of the shop's. */
    async enableProviders(only?: readonly string[]) {
      const { payment_providers } = await ok("GET", "/admin/payments/payment-providers?limit=50");
      const { regions } = await ok("GET", "/admin/regions");
      const ids = only ?? payment_providers.map((provider: { id: string }) => provider.id);
      for (const { id } of regions) await ok("POST", `/admin/regions/${id}`, { payment_providers: ids });
    },

    /**
     * Creates a product without managed stock: a ticket, unless `more` has another `type_id`.
     *
     * @returns its id
     */
    async createProduct(handle: string, price: number, more: object = {}): Promise<string> {
      const { products } = await ok(
        "GET",
        "/admin/products?handle=open-air-cinema&fields=type_id,sales_channels.id,shipping_profile.id",
      );
      const [{ type_id, sales_channels, shipping_profile }] = products;
      const options = [{ title: "Kind", values: ["One"] }];
      const variant = {
        title: "One",
        options: { Kind: "One" },
        manage_inventory: false,
        prices: [{ currency_code: "eur", amount: price }],
      };
      const { product } = await ok("POST", "/admin/products", {
        ...{ title: handle, handle, status: "published", options, variants: [variant] },
        sales_channels: [{ id: sales_channels[0].id }],
        shipping_profile_id: shipping_profile.id,
        type_id,
        ...more,
      });
      market = undefined;
      return product.id;
    },

    /** A cart with an address and free shipping. @returns its id */
    async createCart(handle = "summer-night-festival", quantity = 1): Promise<string> {
      const { regionId, variants } = await readMarket();
      const address = {
        first_name: "Ada",
        last_name: "Jansen",
        address_1: "Gracht 1",
        city: "Amsterdam",
        postal_code: "1011 AB",
        country_code: "nl",
      };
      const { cart } = await ok("POST", "/store/carts", {
        region_id: regionId,
        email: "ada@example.com",
        shipping_address: address,
        billing_address: address,
        items: [{ variant_id: variants[handle], quantity }],
      });
      const option_id = await readFreeShipping(cart.id);
      await ok("POST", `/store/carts/${cart.id}/shipping-methods`, { option_id });
      return cart.id;
    },

    /** Requests a return of an order's first item after fulfilling `fulfil` units. @returns the return's path */
    async requestReturn(orderId: string, quantity: number, fulfil = 0): Promise<string> {
      const { order } = await ok("GET", `/admin/orders/${orderId}?fields=id,items.id`);
      const { stock_locations } = await ok("GET", "/admin/stock-locations");
      const location_id = stock_locations[0].id;
      const [{ id }] = order.items;
      if (fulfil > 0) {
        const items = [{ id, quantity: fulfil }];
        await ok("POST", `/admin/orders/${orderId}/fulfillments`, { items, location_id });
      }
      const items = [{ id, quantity }];
      const { return: returned } = await ok("POST", "/admin/returns", { order_id: orderId, location_id });
      const path = `/admin/returns/${returned.id}`;
      await ok("POST", `${path}/request-items`, { items });
      await ok("POST", `${path}/request`, {});
      return path;
    },

    /** Receives a return of an order's first item after fulfilling `fulfil` units. */
    async returnItem(orderId: string, quantity: number, fulfil = 0): Promise<void> {
      const path = await this.requestReturn(orderId, quantity, fulfil);
      const { order } = await ok("GET", `/admin/orders/${orderId}?fields=id,items.id`);
      const items = [{ id: order.items[0].id, quantity }];
      await ok("POST", `${path}/receive`, {});
      await ok("POST", `${path}/receive-items`, { items });
      await ok("POST", `${path}/receive/confirm`, {});
    },

    apply: (cartId: string, card: Card) =>
      send("POST", `/store/giftcard-pay/carts/${cartId}/cards`, {
        cardNumber: card.cardNumber,
        pin: card.pin,
      }),

    /** Starts a payment for the remainder as Medusa's SDK does. @returns the response with the collection */
    async initiate(cartId: string, providerId = "pp_bank_bank", data?: Record<string, unknown>): Promise<Answer> {
      const { payment_collection } = await ok("POST", "/store/payment-collections", { cart_id: cartId });
      return send("POST", `/store/payment-collections/${payment_collection.id}/payment-sessions`, {
        provider_id: providerId,
        ...(data && { data }),
      });
    },

    complete: (cartId: string) => send("POST", `/store/carts/${cartId}/complete`, {}),

    /** Registers a customer. @returns the headers with which the customer is logged in */
    async logIn(email: string): Promise<Record<string, string>> {
      const login = { email, password: "a-long-password" };
      const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
      const { token } = await ok("POST", "/auth/customer/emailpass/register", login);
      await send("POST", "/store/customers", { email }, bearer(token));
      return bearer((await ok("POST", "/auth/customer/emailpass", login)).token);
    },

    async order(id: string) {
      const fields =
        "*payment_collections,*payment_collections.payments,*payment_collections.payments.captures,*payment_collections.payments.refunds,+summary,*transactions";
      return (await ok("GET", `/admin/orders/${id}?fields=${fields}`)).order;
    },
  };
}

export type Storefront = ReturnType<typeof createStorefront>;
