import type { EventRow } from "../client/event-queries.js";
import type { BadgeColor } from "./texts.js";

/** What an event is in the feed. */
export const eventStateTexts: Record<EventRow["state"], { label: string; color: BadgeColor }> = {
  draft: { label: "Not published", color: "grey" },
  published: { label: "Published", color: "green" },
  canceled: { label: "Canceled", color: "red" },
  withdrawn: { label: "Withdrawn", color: "orange" },
};

/** Whether the issuer has otherwise what is there: it says something else, or is shown here and not listed there, or listed alone. */
export function isOtherAtIssuer({ atIssuer, state }: EventRow): boolean {
  if (atIssuer.state !== "made") return false;
  const isShown = state === "published";
  return isShown !== atIssuer.isListed || (isShown && atIssuer.differences.length > 0);
}

/** Whether the issuer hasn't got what is published, and nothing sends it by itself. */
export const isToBeSent = ({ atIssuer, state }: EventRow): boolean =>
  state === "published" &&
  (["none", "refused"].includes(atIssuer.state) || (atIssuer.state === "made" && !atIssuer.isListed));

/** What an event is at the issuer, in a few words. */
export function issuerText(event: EventRow): { label: string; color: BadgeColor } {
  const { atIssuer, state } = event;
  const { state: pushState, issuerId, lastError, isListed } = atIssuer;
  if (pushState === "refused") return { label: "Refused by the issuer", color: "red" };
  if (pushState === "made") {
    const name = issuerId === null ? "At the issuer" : `At the issuer, no. ${issuerId}`;
    if (!isListed) return { label: `${name}, not listed`, color: state === "published" ? "orange" : "grey" };
    const isOther = isOtherAtIssuer(event);
    return { label: isOther ? `${name}, changed since` : name, color: isOther ? "orange" : "green" };
  }
  if (pushState === "sending") return { label: "Sent, no answer yet", color: "orange" };
  if (pushState === "open" && state === "published")
    return { label: lastError ? "Not sent yet" : "On its way", color: lastError ? "orange" : "blue" };
  return { label: "Not at the issuer", color: "grey" };
}

/** Fields by the names of the model and of the interface. */
const fieldTexts: Record<string, string> = {
  product: "Product",
  dates: "Dates",
  title: "Title",
  event_name: "Title",
  description: "Description",
  event_introductiontext: "Description",
  organiser: "Organiser",
  event_organiser: "Organiser",
  start: "Start",
  event_start_date: "Start date",
  event_start_time: "Start time",
  end: "End",
  event_end_date: "End date",
  event_end_time: "End time",
  timeZone: "Time zone",
  timezone: "Time zone",
  providerId: "Provider",
  eventprovider_id: "Provider",
  "venue.name": "Venue",
  building_name: "Venue",
  "venue.streetName": "Street",
  streetname: "Street",
  "venue.streetNumber": "House number",
  streetnumber: "House number",
  "venue.zipCode": "Postal code",
  zipcode: "Postal code",
  "venue.city": "City",
  city: "City",
  "venue.country": "Country",
  country: "Country",
  genres: "Genres",
  genre: "Genres",
  lineup: "Line-up",
  minimumAgeYears: "Minimum age",
  minimumage: "Minimum age",
  priceFromCents: "Lowest price",
  event_price: "Lowest price",
  posterUrl: "Poster",
  poster_url: "Poster",
  bannerUrl: "Banner",
  banner_url: "Banner",
  videoUrl: "Video",
  event_videourl: "Video",
  eventLink: "Event's own page",
  event_link: "Event's own page",
  ticketLink: "Ticket link",
  ticket_link: "Ticket link",
};

/** What a person calls a field. */
export const fieldText = (field: string): string => fieldTexts[field] ?? field;

const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });

/** The clock at the venue, as people read it; as it was typed where it is none. */
export function clockText(local: string): string {
  const at = new Date(`${local}Z`);
  return Number.isNaN(at.getTime()) ? local || "No date" : day.format(at);
}
