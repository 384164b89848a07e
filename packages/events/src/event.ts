import type { Cents } from "@giftcard-pay/client/contract";

/** What an event's state can be. */
export const eventStates = ["draft", "published", "canceled", "withdrawn"] as const;

/**
 * `draft` is for nobody yet: no feed, calendar or page has it, and an issuer that is sent it gets it as not published.
 * `published` is for everybody. What was published is taken back: `canceled` says that the
 * show isn't held, `withdrawn` that the shop doesn't show it any more, held or not.
 */
export type EventState = (typeof eventStates)[number];

/** Whether it was published, and is no more. The interface, which can't take an event back, isn't sent it; a feed says it. */
export const isTakenBack = (state: unknown): state is "canceled" | "withdrawn" =>
  state === "canceled" || state === "withdrawn";

/** Where an event is held, as far as it is known. */
export interface Venue {
  readonly name?: string;
  readonly streetName?: string;
  readonly streetNumber?: string;
  readonly zipCode?: string;
  readonly city?: string;
  readonly country?: string;
}

/** An event as a shop has it. Every format is read into one, and written from one. */
export interface ShopEvent {
  /** What it is known by, for good; unique within the company. */
  readonly key: string;
  readonly title: string;
  readonly organiser: string;
  /** The clock at the venue, `yyyy-mm-ddThh:mm:ss`. Of an hour that comes twice it is the first. */
  readonly start: string;
  /** The same, or `yyyy-mm-dd` where the hour isn't known. */
  readonly end?: string;
  /** The venue's IANA time zone, such as `Europe/Amsterdam`. */
  readonly timeZone: string;
  readonly venue: Venue;
  readonly description?: string;
  /** None holds a comma, with which the interface separates them. */
  readonly genres: readonly string[];
  /** The artists; none holds a comma. */
  readonly lineup: readonly string[];
  readonly minimumAgeYears?: number;
  readonly priceFromCents?: Cents;
  readonly posterUrl?: string;
  readonly bannerUrl?: string;
  readonly videoUrl?: string;
  /** Where tickets are sold. */
  readonly ticketLink: string;
  /** The event's own page. */
  readonly eventLink?: string;
  /** The ticketing provider's number at the issuer; `newevent` needs it. */
  readonly providerId?: number;
  readonly state: EventState;
  /** When it last changed: an ISO 8601 instant in UTC. */
  readonly updatedAt?: string;
}
