import { isDeepStrictEqual } from "node:util";
import { cents } from "@giftcard-pay/client";
import { readProduct, type ShopEvent } from "@giftcard-pay/events";
import type { MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import { contextOf } from "../context/context.js";
import type { EventSettings } from "../context/options.js";
import { readShowProducts, type ShowProduct } from "../medusa-tables/show-products.js";
import {
  type EventContent,
  type EventFault,
  forgetDrafts,
  type KnownEvent,
  readEventsOf,
  type StandingEvent,
  writeEvents,
} from "./event-store.js";
import { keyOf, type ShowDate } from "./show-details.js";
import { readShows, type Show } from "./show-store.js";

/** So many shows are worked out beside each other. */
const SHOWS_AT_ONCE = 100;
const TRIES = 5;

/**
 * Works out the events of shows anew, from their products as they are now. What was public and isn't on sale any more is
 * withdrawn, also where its product is deleted.
 *
 * @param only the shows of these products; all when left out
 */
export async function refreshEvents(container: MedusaContainer, only?: readonly string[]): Promise<void> {
  const { sql, settings } = contextOf(container);
  if (!settings.events || only?.length === 0) return;
  for (let after = ""; ; ) {
    const shows = await readShows(sql, { after, limit: SHOWS_AT_ONCE, only });
    const last = shows.at(-1);
    if (!last) return;
    await refreshShows(container, shows, settings.events);
    after = last.productId;
  }
}

/** What others changed meanwhile is read again. */
async function refreshShows(container: MedusaContainer, shows: readonly Show[], settings: EventSettings) {
  const { sql } = contextOf(container);
  const ids = shows.map(({ productId }) => productId);
  for (let tries = 0; tries < TRIES; tries++) {
    const current = tries === 0 ? shows : await readShows(sql, { after: "", limit: ids.length, only: ids });
    const known = await readEventsOf(sql, ids);
    const products = await readShowProducts(sql, ids, settings.dateOption);
    const standing = current.flatMap((show) => {
      const product = products.find(({ id }) => id === show.productId);
      const before = known.filter(({ productId }) => productId === show.productId);
      return eventsOf(show, product, before, settings);
    });
    for (const { productId, details } of current) {
      const keys = details.dates.map(({ id }) => keyOf(productId, id));
      const isGone = (one: KnownEvent) => one.productId === productId && !keys.includes(one.key);
      if (known.some((one) => isGone(one) && one.wish === "draft")) await forgetDrafts(sql, productId, keys);
    }
    const knownOf = new Map(known.map((one) => [one.key, one]));
    const changed = standing
      .filter((one) => !isAsKnown(one, knownOf.get(one.key)))
      .map((one) => ({ ...one, changedAt: knownOf.get(one.key)?.changedAt ?? null }));
    if (await writeEvents(sql, changed)) return;
  }
  container
    .resolve(ContainerRegistrationKeys.LOGGER)
    .warn(
      `giftcard events: ${ids.length} shows are changed all the time; they are looked at again in a minute`,
    );
}

/** What hasn't changed isn't written: each minute looks at all shows. */
function isAsKnown(standing: StandingEvent, known: KnownEvent | undefined): boolean {
  if (!known) return false;
  const { wish: _wish, state: _state, changedAt: _changedAt, ...before } = known;
  const { key, productId, title, starts, isShown, event, faults } = standing;
  return isDeepStrictEqual({ key, productId, title, starts, isShown, event, faults }, before);
}

/** A show's dates as they stand now, and those that are gone and were public. */
function eventsOf(
  { productId, details }: Show,
  product: ShowProduct | undefined,
  before: readonly KnownEvent[],
  settings: EventSettings,
): StandingEvent[] {
  const { dates, concept: _concept, ...own } = details;
  const keys = new Set(dates.map(({ id }) => keyOf(productId, id)));
  const gone = before.filter(({ key, wish }) => !keys.has(key) && wish !== "draft");
  if (!product) {
    // The database keeps what it was; there is nothing to work it out from.
    const kept = before.filter(({ key }) => keys.has(key));
    return [...kept, ...gone].map((one) => ({ ...one, isShown: false, faults: [NOT_PUBLISHED] }));
  }
  const providerId = own.providerId ?? settings.providerId;
  const read = readProduct(
    {
      id: productId,
      title: product.title,
      description: product.description,
      pictureUrls: product.pictureUrls.filter((url) => /^https?:\/\//.test(url)),
      link: productLink(settings, product),
    },
    {
      timeZone: settings.timeZone,
      ...own,
      organiser: own.organiser || (settings.organiser ?? ""),
      ...(providerId !== undefined && { providerId }),
      state: "published",
      dates: dates.map(({ optionValue, ...date }) => ({ ...date, ...priceOf(product, optionValue) })),
    },
  );
  const standing = dates.map((date, index): StandingEvent => {
    const key = keyOf(productId, date.id);
    const isThis = ({ row }: { row: number }) => row === index + 1;
    const right = read.entries.find(isThis)?.event;
    const faults = read.faults.filter(isThis).map(({ field, message }) => ({ field, message }));
    return {
      ...{ key, productId, title: product.title, starts: date.start },
      isShown: product.isPublished && hasDate(product, date),
      event: right ? contentOf(right) : (before.find((one) => one.key === key)?.event ?? null),
      faults: [...faults, ...faultsBeside(product, date, providerId)],
    };
  });
  return [...standing, ...gone.map((one) => ({ ...one, isShown: false, faults: [DATE_GONE] }))];
}

const contentOf = ({ state: _state, updatedAt: _updatedAt, ...content }: ShopEvent): EventContent => content;

const NOT_PUBLISHED: EventFault = { field: "product", message: "isn't published in this shop" };
const DATE_GONE: EventFault = { field: "dates", message: "the show has this date no more" };

function faultsBeside(product: ShowProduct, date: ShowDate, providerId: number | undefined): EventFault[] {
  const faults: EventFault[] = [];
  if (!product.isPublished) faults.push(NOT_PUBLISHED);
  if (!hasDate(product, date))
    faults.push({ field: "dates", message: `no variant is for “${date.optionValue}” (any more)` });
  if (providerId === undefined)
    faults.push({ field: "providerId", message: "is required: choose the ticketing provider" });
  return faults;
}

const hasDate = ({ lowestCents }: ShowProduct, { optionValue }: ShowDate) =>
  !optionValue || Object.hasOwn(lowestCents, optionValue);

/** Of the date's own variants; of all of them where the date names none. */
function priceOf({ lowestCents }: ShowProduct, optionValue: string | undefined) {
  const prices = optionValue ? [lowestCents[optionValue]] : Object.values(lowestCents);
  // Medusa takes any number for a price, also one below zero.
  const known = prices.filter((one): one is number => Number.isSafeInteger(one) && Number(one) >= 0);
  return known.length > 0 ? { lowestPriceCents: cents(Math.min(...known)) } : {};
}

const productLink = ({ productUrl }: EventSettings, { id, handle }: ShowProduct): string =>
  productUrl.replaceAll("{handle}", encodeURIComponent(handle)).replaceAll("{id}", encodeURIComponent(id));
