import * as z from "zod/mini";
import {
  answeredText,
  answeredTextOrNull,
  date,
  field,
  integer,
  integerAsString,
  object,
  optionalKey,
  optionally,
  optionalText,
  optionalUrl,
  text,
  time,
  url,
} from "./fields.js";

const MAX_INT = 2_147_483_647;

export const eventInput = object({
  providerId: field("eventprovider_id", integerAsString(1, MAX_INT)),
  name: field("event_name", text(255)),
  organiser: field("event_organiser", text(255)),
  startDate: field("event_start_date", date()),
  startTime: field("event_start_time", time()),
  ticketLink: field("ticket_link", url()),
  buildingName: field("building_name", optionalText(255)),
  streetName: field("streetname", optionalText(255)),
  streetNumber: field("streetnumber", optionalText(50)),
  zipCode: field("zipcode", optionalText(50)),
  city: field("city", optionalText(255)),
  country: field("country", optionalText(255)),
  posterUrl: field("poster_url", optionalUrl()),
  bannerUrl: field("banner_url", optionalUrl()),
  introductionText: field("event_introductiontext", optionalText(20_000)),
  genre: field("genre", optionalText(1000)),
  endDate: field("event_end_date", optionally(date())),
  endTime: field("event_end_time", optionally(time())),
  activated: field("activated", z.optional(integer(0, 1))),
  eventKey: field("event_key", optionalKey(255)),
  lineup: field("lineup", optionalText(5000)),
  minimumAge: field("minimumage", optionalText(50)),
  price: field("event_price", optionalText(50)),
  videoUrl: field("event_videourl", optionalUrl()),
  eventLink: field("event_link", optionalUrl()),
});

export const event = object({
  id: field("id", integer(0, MAX_INT)),
  companyId: field("company_id", integer(0, MAX_INT)),
  bannerUrl: field("bannerpath", answeredText()),
  posterUrl: field("poster", answeredText()),
  title: field("title", answeredText()),
  description: field("description", answeredText()),
  organiser: field("organiser", answeredText()),
  date: field("date", answeredText()),
  time: field("time", answeredText()),
  endDate: field("end_date", answeredTextOrNull()),
  endTime: field("end_time", answeredTextOrNull()),
  location: field("location", answeredText()),
  ticketLink: field("ticket_link", answeredText()),
  createdAt: field("created_at", answeredText()),
  updatedAt: field("updated_at", answeredText()),
});

export const eventConcept = object({
  id: field("id", integer(0, MAX_INT)),
  representative: field("representative", answeredText()),
  register: field("register", answeredText()),
  providerId: field("ticketprovider_id", integerAsString(0, MAX_INT)),
  createdAt: field("created_at", answeredText()),
  updatedAt: field("updated_at", answeredText()),
});

export const provider = object({ id: field("id", integer(0, MAX_INT)), name: field("name", answeredText()) });

export const createdEventConcept = object({
  id: field("eventconcept_id", integer(0, MAX_INT)),
  register: field("register", answeredText()),
  representative: field("representative", answeredText()),
  providerId: field("eventprovider_id", integerAsString(0, MAX_INT)),
});

export const createdEvent = object({
  message: field("message", answeredText()),
  id: field("id", integer(0, MAX_INT)),
  title: field("title", answeredText()),
});

// Interfaces instead of type aliases, so that the types of methods show their names.
/** An event for `newevent`. */
export interface EventInput extends z.output<typeof eventInput> {}
/** The response of `newevent` for one created event. Responses have the order of the events. */
export interface CreatedEvent extends z.output<typeof createdEvent> {}
/** An event of `getallevents`. */
export interface Event extends z.output<typeof event> {}
/** An event concept of `geteventconcepts`. */
export interface EventConcept extends z.output<typeof eventConcept> {}
/** The response of `neweventconcept`. */
export interface CreatedEventConcept extends z.output<typeof createdEventConcept> {}
/** A ticketing provider of `get_providers`. */
export interface EventProvider extends z.output<typeof provider> {}
