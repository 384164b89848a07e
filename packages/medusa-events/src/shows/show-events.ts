import { cents } from "@giftcard-pay/client";
import { readProduct, type ShopEvent } from "@giftcard-pay/events";
import type { ComputedEvent, EventContent, EventFault, StoredEvent } from "../events/event-store.js";
import type { Settings } from "../options.js";
import type { ShowProduct } from "./show-products.js";
import { keyOf, type Show, type ShowDate } from "./show-store.js";

const NOT_PUBLISHED: EventFault = { field: "product", message: "isn't published in this shop" };
const DATE_REMOVED: EventFault = { field: "dates", message: "no longer include this date" };

/**
 * Computes the events of a show from its product.
 *
 * @param product undefined if it is deleted for good
 * @param stored the show's events as they are stored
 * @returns one event per date of the show, and those of removed dates that were public
 */
export function eventsOf(
  { productId, details }: Show,
  product: ShowProduct | undefined,
  stored: readonly StoredEvent[],
  settings: Settings,
): ComputedEvent[] {
  const keys = new Set(details.dates.map(({ id }) => keyOf(productId, id)));
  const removed = stored.filter(({ key, desiredState }) => !keys.has(key) && desiredState !== "draft");
  if (!product) {
    const known = stored.filter(({ key }) => keys.has(key));
    return [...known, ...removed].map((event) => offSale(event, NOT_PUBLISHED));
  }
  const providerId = details.providerId ?? settings.providerId;
  const read = readShow(details, product, settings, providerId);
  const current = details.dates.map((date, index): ComputedEvent => {
    const key = keyOf(productId, date.id);
    const isOfDate = ({ row }: { row: number }) => row === index + 1;
    const valid = read.entries.find(isOfDate)?.event;
    const faults = read.faults.filter(isOfDate).map(({ field, message }) => ({ field, message }));
    return {
      ...{ key, productId, title: product.title, starts: date.start },
      isOnSale: product.isPublished && hasDate(product, date),
      content: valid ? contentOf(valid) : (stored.find((one) => one.key === key)?.content ?? null),
      faults: [...faults, ...saleFaults(product, date, providerId)],
    };
  });
  return [...current, ...removed.map((event) => offSale(event, DATE_REMOVED))];
}

const offSale = (event: ComputedEvent, fault: EventFault): ComputedEvent => ({
  ...event,
  isOnSale: false,
  faults: [fault],
});

function readShow(
  { dates, ...details }: Show["details"],
  product: ShowProduct,
  settings: Settings,
  providerId: number | undefined,
) {
  return readProduct(
    {
      id: product.id,
      title: product.title,
      description: product.description,
      pictureUrls: product.pictureUrls.filter((url) => /^https?:\/\//.test(url)),
      link: productLink(settings, product),
    },
    {
      timeZone: settings.timeZone,
      ...details,
      organiser: details.organiser || (settings.organiser ?? ""),
      ...(providerId !== undefined && { providerId }),
      state: "published",
      dates: dates.map(({ optionValue, ...date }) => ({ ...date, ...priceOf(product, optionValue) })),
    },
  );
}

const contentOf = ({ state: _state, updatedAt: _updatedAt, ...content }: ShopEvent): EventContent => content;

function saleFaults(product: ShowProduct, date: ShowDate, providerId: number | undefined): EventFault[] {
  const faults: EventFault[] = [];
  if (!product.isPublished) faults.push(NOT_PUBLISHED);
  if (!hasDate(product, date))
    faults.push({ field: "dates", message: `name “${date.optionValue}”, which no variant has` });
  if (providerId === undefined)
    faults.push({ field: "providerId", message: "is required: choose the ticketing provider" });
  return faults;
}

const hasDate = ({ lowestCents }: ShowProduct, { optionValue }: ShowDate) =>
  !optionValue || Object.hasOwn(lowestCents, optionValue);

/** Returns the lowest price of the date's variants, or of all variants if the date names none. */
function priceOf({ lowestCents }: ShowProduct, optionValue: string | undefined) {
  const prices = optionValue ? [lowestCents[optionValue]] : Object.values(lowestCents);
  // Medusa accepts any number as a price, even a negative one.
  const known = prices.filter((one): one is number => Number.isSafeInteger(one) && Number(one) >= 0);
  return known.length > 0 ? { lowestPriceCents: cents(Math.min(...known)) } : {};
}

const productLink = ({ productUrl }: Settings, { id, handle }: ShowProduct): string =>
  productUrl.replaceAll("{handle}", encodeURIComponent(handle)).replaceAll("{id}", encodeURIComponent(id));
