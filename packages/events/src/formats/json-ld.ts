import { formatCents } from "@giftcard-pay/client/contract";
import { withOffset } from "../clock.js";
import type { ShopEvent } from "../event.js";
import { filled } from "../row.js";
import { locationOf } from "./feed.js";
import { type EventFormat, only } from "./format.js";

const CONTEXT = "https://schema.org";

const statuses = {
  draft: `${CONTEXT}/EventScheduled`,
  published: `${CONTEXT}/EventScheduled`,
  canceled: `${CONTEXT}/EventCancelled`,
  withdrawn: `${CONTEXT}/EventScheduled`,
} as const;

/** Converts an event to a schema.org `Event`. Its times have the offset of the venue's zone. */
export function jsonLdOf(event: ShopEvent) {
  const { timeZone, eventLink, ticketLink, genres, lineup, minimumAgeYears } = event;
  const images = [event.posterUrl, event.bannerUrl].filter((url) => url !== undefined);
  return {
    "@type": "Event" as const,
    identifier: event.key,
    name: event.title,
    startDate: withOffset(event.start, timeZone),
    ...(event.end && { endDate: event.end.includes("T") ? withOffset(event.end, timeZone) : event.end }),
    eventStatus: statuses[event.state],
    eventAttendanceMode: `${CONTEXT}/OfflineEventAttendanceMode` as const,
    ...(locationOf(event) && { location: placeOf(event) }),
    ...(event.description && { description: event.description }),
    ...(images.length > 0 && { image: images }),
    organizer: { "@type": "Organization" as const, name: event.organiser },
    ...(lineup.length > 0 && {
      performer: lineup.map((name) => ({ "@type": "PerformingGroup" as const, name })),
    }),
    ...(genres.length > 0 && { keywords: genres.join(", ") }),
    ...(minimumAgeYears !== undefined && { typicalAgeRange: `${minimumAgeYears}-` }),
    ...(eventLink && { url: eventLink }),
    offers: {
      "@type": "Offer" as const,
      url: ticketLink,
      ...(event.priceFromCents !== undefined && {
        price: formatCents(event.priceFromCents),
        priceCurrency: "EUR",
      }),
    },
  };
}

function placeOf(event: ShopEvent) {
  const { name, streetName, streetNumber, zipCode, city, country } = event.venue;
  const address = filled({
    streetAddress: [streetName, streetNumber].filter(Boolean).join(" "),
    postalCode: zipCode,
    addressLocality: city,
    addressCountry: country,
  });
  const isNamedOnly = Object.keys(address).length === 0;
  return {
    "@type": "Place" as const,
    ...(name && { name }),
    address: isNamedOnly ? locationOf(event) : { "@type": "PostalAddress" as const, ...address },
  };
}

/** Characters that can end a script or begin a comment in HTML, and line ends that are invalid in strings of older JavaScript. */
const UNSAFE = /[<>&\u2028\u2029]/g;

/** Writes JSON that is safe in an HTML `<script>`. */
const safely = (value: object) =>
  JSON.stringify(value).replaceAll(
    UNSAFE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** Returns the text of a `<script type="application/ld+json">` for one event. */
export const jsonLdText = (event: ShopEvent): string => safely({ "@context": CONTEXT, ...jsonLdOf(event) });

/** Published and canceled events as one schema.org graph, which is safe in an HTML `<script>`. */
export const jsonLd: EventFormat = {
  mediaType: "application/ld+json",
  head: `{"@context":"${CONTEXT}","@graph":[\n`,
  between: ",\n",
  tail: "\n]}\n",
  write: only(["published", "canceled"], (event) => safely(jsonLdOf(event))),
};

/**
 * Returns the fields that Google's event search requires and this event lacks.
 *
 * @returns the interface's field names
 */
export const missingForGoogle = (event: ShopEvent): string[] =>
  locationOf(event) ? [] : ["building_name, streetname or city"];
