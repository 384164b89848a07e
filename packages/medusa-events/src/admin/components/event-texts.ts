import type { EventRow } from "../client/queries.js";

type BadgeColor = "green" | "red" | "blue" | "orange" | "grey";

/** The label of each state in the feed. */
export const eventStateTexts: Record<EventRow["state"], { label: string; color: BadgeColor }> = {
  draft: { label: "Not published", color: "grey" },
  published: { label: "Published", color: "green" },
  canceled: { label: "Canceled", color: "red" },
  withdrawn: { label: "Withdrawn", color: "orange" },
};

/** Returns whether the issuer's copy of a delivered event differs: changed, missing from the list, or listed only there. */
export function differsAtIssuer({ delivery, state }: EventRow): boolean {
  if (delivery.state !== "delivered") return false;
  const isPublished = state === "published";
  return isPublished !== delivery.isListed || (isPublished && delivery.differences.length > 0);
}

/** Returns whether the issuer lacks a published event, and only a person can have it sent. */
export const needsPublishing = ({ delivery, state }: EventRow): boolean =>
  state === "published" &&
  (["none", "refused"].includes(delivery.state) || (delivery.state === "delivered" && !delivery.isListed));

/** Returns the label of an event's delivery. */
export function deliveryText(event: EventRow): { label: string; color: BadgeColor } {
  const { delivery, state } = event;
  const { issuerId, lastError, isListed } = delivery;
  if (delivery.state === "refused") return { label: "Refused by the issuer", color: "red" };
  if (delivery.state === "delivered") {
    const name = issuerId === null ? "At the issuer" : `At the issuer, no. ${issuerId}`;
    if (!isListed) return { label: `${name}, not listed`, color: state === "published" ? "orange" : "grey" };
    const differs = differsAtIssuer(event);
    return { label: differs ? `${name}, changed since` : name, color: differs ? "orange" : "green" };
  }
  if (delivery.state === "sending") return { label: "Sent, no response yet", color: "orange" };
  if (delivery.state === "pending" && state === "published")
    return { label: lastError ? "Not sent yet" : "On its way", color: lastError ? "orange" : "blue" };
  return { label: "Not at the issuer", color: "grey" };
}

/** Labels of fields, by their names in the model. */
const fieldTexts: Record<string, string> = {
  product: "Product",
  dates: "Dates",
  title: "Title",
  description: "Description",
  organiser: "Organiser",
  start: "Start",
  end: "End",
  timeZone: "Time zone",
  providerId: "Provider",
  "venue.name": "Venue",
  "venue.streetName": "Street",
  "venue.streetNumber": "House number",
  "venue.zipCode": "Postal code",
  "venue.city": "City",
  "venue.country": "Country",
  genres: "Genres",
  lineup: "Line-up",
  minimumAgeYears: "Minimum age",
  priceFromCents: "Lowest price",
  posterUrl: "Poster",
  bannerUrl: "Banner",
  videoUrl: "Video",
  eventLink: "Event's own page",
  ticketLink: "Ticket link",
};

/** Returns the label of a field. */
export const fieldText = (field: string): string => fieldTexts[field] ?? field;

const venueClock = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "short",
  timeZone: "UTC",
});

/** Formats a time at the venue; returns it as it was typed if it is invalid. */
export function venueTimeText(local: string): string {
  const at = new Date(`${local}Z`);
  return Number.isNaN(at.getTime()) ? local || "No date" : venueClock.format(at);
}

const browserClock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** Formats a moment by the browser's clock. */
export const momentText = (iso: string): string => browserClock.format(new Date(iso));
