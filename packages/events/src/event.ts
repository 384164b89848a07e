import type { Cents } from "@giftcard-pay/client/contract";

/** The states of an event. */
export const eventStates = ["draft", "published", "canceled", "withdrawn"] as const;

/**
 * The state of an event. A `draft` is in no feed, calendar or page, and an issuer gets it as not published. A `published` event is
 * public. A published event can be retracted: `canceled` if it doesn't take place, `withdrawn` if the shop no longer offers it.
 */
export type EventState = (typeof eventStates)[number];

/** Returns whether an event was retracted. Only a feed can say so: the interface can't retract an event, and isn't sent it. */
export const isRetracted = (state: unknown): state is "canceled" | "withdrawn" =>
  state === "canceled" || state === "withdrawn";

/** The place of an event, as far as it is known. */
export interface Venue {
  readonly name?: string;
  readonly streetName?: string;
  readonly streetNumber?: string;
  readonly zipCode?: string;
  readonly city?: string;
  readonly country?: string;
}

/** An event of a shop. Every format is read into this model, and written from it. */
export interface ShopEvent {
  /** Its permanent identifier, unique within the company. */
  readonly key: string;
  readonly title: string;
  readonly organiser: string;
  /** The local time at the venue, `yyyy-mm-ddThh:mm:ss`. If clocks show it twice, the first is meant. */
  readonly start: string;
  /** The local time, or `yyyy-mm-dd` if only the date is known. */
  readonly end?: string;
  /** The venue's IANA time zone, such as `Europe/Amsterdam`. */
  readonly timeZone: string;
  readonly venue: Venue;
  readonly description?: string;
  /** None contains a comma, which separates genres in the interface. */
  readonly genres: readonly string[];
  /** The artists. No name contains a comma. */
  readonly lineup: readonly string[];
  readonly minimumAgeYears?: number;
  readonly priceFromCents?: Cents;
  readonly posterUrl?: string;
  readonly bannerUrl?: string;
  readonly videoUrl?: string;
  /** The page that sells tickets. */
  readonly ticketLink: string;
  /** The event's own page. */
  readonly eventLink?: string;
  /** The issuer's number for the ticketing provider. Required by `newevent`. */
  readonly providerId?: number;
  readonly state: EventState;
  /** The time of its last change: an ISO 8601 instant in UTC. */
  readonly updatedAt?: string;
}
