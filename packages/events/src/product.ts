import { checkEvents, type Reading } from "./check.js";
import { DEFAULT_TIME_ZONE } from "./clock.js";
import type { ShopEvent } from "./event.js";
import { filled } from "./row.js";

/** What a shop's product has already. */
export interface ShopProduct {
  readonly id: string;
  readonly title: string;
  readonly description?: string | null;
  /** Addresses of its pictures, the first one first. */
  readonly pictureUrls?: readonly string[];
  readonly lowestPriceCents?: ShopEvent["priceFromCents"];
  /** Its page in the shop. */
  readonly link: string;
  readonly updatedAt?: string;
}

/** One date on which a product's event is held; what it says itself comes before the product's. */
export interface EventDate
  extends Pick<ShopEvent, "start" | "end">,
    Partial<Pick<ShopEvent, "state" | "ticketLink" | "updatedAt">> {
  /**
   * Its own id, for good, such as its variant's; needed where the product has more than one date. Where several variants
   * are tickets of one date, give that date once.
   */
  readonly id?: string;
  readonly lowestPriceCents?: ShopEvent["priceFromCents"];
}

/** What an event has besides; what the product has too comes before the product's own. */
export interface ProductDetails
  extends Pick<ShopEvent, "organiser" | "state">,
    Partial<Omit<ShopEvent, "key" | "organiser" | "state" | "start" | "end">> {
  readonly dates: readonly EventDate[];
}

/**
 * Makes events of a product, one for each date. An event's key is the product's id, and the date's id where it has one.
 *
 * @returns the events, and every fault by the model's names; the first date is row 1
 */
export function readProduct(product: ShopProduct, { dates, ...details }: ProductDetails): Reading {
  const [posterUrl, bannerUrl] = product.pictureUrls ?? [];
  const ofProduct = filled({
    title: product.title,
    description: product.description ?? undefined,
    priceFromCents: product.lowestPriceCents,
    posterUrl,
    bannerUrl,
    ticketLink: product.link,
    updatedAt: product.updatedAt,
  });
  return checkEvents(
    dates.map(({ id, lowestPriceCents, ...own }) => ({
      timeZone: DEFAULT_TIME_ZONE,
      venue: {},
      genres: [],
      lineup: [],
      ...ofProduct,
      ...filled(details),
      ...filled({ priceFromCents: lowestPriceCents }),
      ...filled(own),
      start: own.start,
      key: id === undefined ? product.id : `${product.id}:${id}`,
    })),
  );
}
