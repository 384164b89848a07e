import { createClient } from "@giftcard-pay/client";
import type { TestShop } from "./events-shop.js";

/** An event as the admin API returns it. */
export interface ShownEvent {
  readonly key: string;
  readonly title: string;
  readonly state: string;
  readonly faults: readonly { readonly field: string; readonly message: string }[];
  readonly delivery: {
    readonly state: string;
    readonly issuerId: number | null;
    readonly lastError: string | null;
    readonly isListed: boolean;
    readonly differences: readonly { readonly field: string; readonly sent: string; readonly now: string }[];
  };
}

/** Calls of the admin API about shows, and a client of the issuer. */
export async function createShows(shop: TestShop) {
  const { id: providerId } = await shop.service.createProvider("Ticketkantoor");
  const { apiKey, companyId } = shop.company;
  const issuer = createClient({ baseUrl: shop.service.url, apiKey, companyId });

  const send = (method: string, path: string, body?: unknown) =>
    shop.storefront.send(method, `/admin/giftcard-pay/events${path}`, body);
  const pageOf = async (productId: string) => (await send("GET", `/products/${productId}`)).body;
  const save = async (productId: string, details: object) =>
    send("POST", `/products/${productId}`, {
      version: (await pageOf(productId)).show?.version ?? 0,
      details: {
        providerId,
        venue: { name: "Zaal Noord", city: "Amsterdam" },
        dates: [{ start: "2036-04-12T21:00:00" }],
        ...details,
      },
    });

  return {
    providerId,
    issuer,
    send,
    save,
    /** Creates a product with a show. @returns the product's id */
    async create(handle: string, details: object = {}, product: object = {}): Promise<string> {
      const productId = await shop.storefront.createProduct(handle, 25, product);
      const { status, body } = await save(productId, details);
      if (status !== 200) throw new Error(`The show was not saved: ${status} ${JSON.stringify(body)}`);
      return productId;
    },
    pageOf,
    eventsOf: async (productId: string): Promise<ShownEvent[]> => (await pageOf(productId)).events,
    publish: async (...keys: string[]) => send("POST", "/publish", { keys }),
    /** Counts the issuer's events with this title. */
    timesAtIssuer: async (title: string) => (await issuer.listEvents()).filter((event) => event.title === title).length,
  };
}

export type Shows = Awaited<ReturnType<typeof createShows>>;
