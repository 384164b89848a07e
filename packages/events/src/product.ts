import { checkEvents, type Reading } from "./check.js";
import { DEFAULT_TIME_ZONE } from "./clock.js";
import type { ShopEvent } from "./event.js";
import { filled } from "./row.js";

/** A product of a shop. */
export interface ShopProduct {
  readonly id: string;
  readonly title: string;
  readonly description?: string | null;
  /** URLs of its pictures, the main one first. */
  readonly pictureUrls?: readonly string[];
  readonly lowestPriceCents?: ShopEvent["priceFromCents"];
  /** The URL of its page in the shop. */
  readonly link: string;
  readonly updatedAt?: string;
}

/** One date of a product's event. Its own fields take precedence over the product's. */
export interface EventDate
  extends Pick<ShopEvent, "start" | "end">,
    Partial<Pick<ShopEvent, "state" | "ticketLink" | "updatedAt">> {
  /**
   * Its permanent id, such as its variant's. Required if the product has several dates. If several variants are tickets of one
   * date, give that date once.
   */
  readonly id?: string;
  readonly lowestPriceCents?: ShopEvent["priceFromCents"];
}

/** The fields that a product lacks. Fields that the product has too take precedence over the product's. */
export interface ProductDetails
  extends Pick<ShopEvent, "organiser" | "state">,
    Partial<Omit<ShopEvent, "key" | "organiser" | "state" | "start" | "end">> {
  readonly dates: readonly EventDate[];
}

/**
 * Creates one event from each date of a product. An event's key is the product's id, followed by the date's id if it has one.
 *
 * @returns the events, and all faults by the model's names; the first date is row 1
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
