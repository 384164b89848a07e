import { type Cents, endpoints, formatCents } from "@giftcard-pay/client/contract";
import * as z from "zod";
import { instantOf, isOnClock, isTimeZone } from "./clock.js";
import { eventStates, isRetracted, type ShopEvent, type Venue } from "./event.js";
import { PRICE_FORM, readEuros } from "./price.js";

const list = endpoints.createEvents.request.def.in.shape.events;

/** One event of a `newevent` request, as the contract defines it. */
export const wireEvent = list.def.element;

const wire = wireEvent.def.in.shape;

/** A list of words, separated by commas, within the contract's length. */
const words = <S extends z.core.$ZodType<string | undefined, string | undefined>>(text: S) =>
  z.pipe(
    text,
    z.transform((value) =>
      (value ?? "")
        .split(",")
        .map((word) => word.trim())
        .filter((word) => word !== ""),
    ),
  );

const price = z
  .union([z.string(), z.number()], PRICE_FORM)
  .transform((value, { addIssue }): Cents => {
    const read = readEuros(String(value));
    if ("cents" in read) return read.cents;
    addIssue({ code: "custom", message: read.fault });
    return z.NEVER;
  })
  .optional();

const age = z
  .union([z.string(), z.number()], "must be a number of years, such as 18")
  .transform(String)
  .pipe(
    z
      .string()
      .trim()
      .regex(/^\d{1,2}\+?$/, "must be a number of years, such as 18"),
  )
  .transform((text) => Number.parseInt(text, 10))
  .optional();

/** The fields of a row: those of `newevent`, and three more. */
const shape = {
  ...wire,
  eventprovider_id: z.optional(wire.eventprovider_id),
  event_key: wire.event_key.def.innerType.check(z.minLength(1, "must not be empty")),
  genre: words(wire.genre),
  lineup: words(wire.lineup),
  minimumage: age,
  event_price: price,
  timezone: z.string("must be a string").refine(isTimeZone, "must name a time zone, such as Europe/Amsterdam"),
  state: z.enum(eventStates, `must be one of ${eventStates.join(", ")}`).optional(),
  updated_at: z.iso
    .datetime({ offset: true, error: "must be a date and time with offset, such as 2036-04-12T21:00:00Z" })
    .transform((text) => new Date(text).toISOString())
    .refine((text) => /^\d{4}-/.test(text), "must be a date and time with offset, such as 2036-04-12T21:00:00Z")
    .optional(),
};

/** A field of a row. */
export type RowField = keyof typeof shape;

/** All fields of a row, in the interface's order. */
export const rowFields = Object.keys(shape) as readonly RowField[];

/** The fields that each event needs. A file may lack `event_key`, and `eventprovider_id` is only needed to push. */
export const requiredFields: readonly RowField[] = [
  "event_name",
  "event_organiser",
  "event_start_date",
  "event_start_time",
  "ticket_link",
];

/** An event with the interface's field names: a row of a table, or a JSON object. */
export type EventRow = Partial<Record<RowField, string | number>>;

const timeFields = [
  "event_start_date",
  "event_start_time",
  "event_end_date",
  "event_end_time",
  "timezone",
] as const satisfies readonly RowField[];

const isTimeField = (field: unknown) => (timeFields as readonly unknown[]).includes(field);

type Times = Pick<z.output<z.ZodObject<typeof shape>>, (typeof timeFields)[number]>;

const startOf = (row: Times) => `${row.event_start_date}T${row.event_start_time}`;

const SKIPPED = "doesn't exist on that day, because clocks skip this hour. Give the time that they show";

type TimeFault = readonly [field: (typeof timeFields)[number], message: string];

/** Finds faults of times that are valid on their own. */
function* timeFaultsOf(row: Times): Generator<TimeFault> {
  const { event_start_date: startDate, event_end_date: date, event_end_time: time, timezone } = row;
  const start = startOf(row);
  if (!isOnClock(start, timezone)) yield ["event_start_time", SKIPPED];
  if (!date) {
    if (time) yield ["event_end_date", "is required with an end time"];
    return;
  }
  const end = `${date}T${time}`;
  if (time && !isOnClock(end, timezone)) yield ["event_end_time", SKIPPED];
  else if (time ? instantOf(end, timezone) < instantOf(start, timezone) : date < startDate)
    yield ["event_end_date", "must not be before the start"];
}

/** Reads a row as an event. */
export const rowSchema = z
  .object(shape)
  .superRefine(
    (row, { addIssue }) => {
      for (const [field, message] of timeFaultsOf(row)) addIssue({ code: "custom", path: [field], message });
    },
    // Also runs if other fields are faulty, so that all faults are reported at once.
    { when: ({ issues }) => !issues.some(({ path }) => isTimeField(path?.[0])) },
  )
  .transform(
    (row): ShopEvent =>
      filled({
        key: row.event_key,
        title: row.event_name,
        organiser: row.event_organiser,
        start: startOf(row),
        end: row.event_end_time ? `${row.event_end_date}T${row.event_end_time}` : row.event_end_date,
        timeZone: row.timezone,
        venue: venueOf(row),
        description: row.event_introductiontext?.trim(),
        genres: row.genre,
        lineup: row.lineup,
        minimumAgeYears: row.minimumage,
        priceFromCents: row.event_price,
        posterUrl: row.poster_url,
        bannerUrl: row.banner_url,
        videoUrl: row.event_videourl,
        ticketLink: row.ticket_link,
        eventLink: row.event_link,
        providerId: row.eventprovider_id,
        state: row.state ?? (row.activated ? "published" : "draft"),
        updatedAt: row.updated_at,
      }),
  );

/** The interface's names of a venue's fields. */
export const venueFields = {
  name: "building_name",
  streetName: "streetname",
  streetNumber: "streetnumber",
  zipCode: "zipcode",
  city: "city",
  country: "country",
} as const;

const venueOf = (row: Partial<Record<RowField, unknown>>): Venue =>
  filled(
    Object.fromEntries(Object.entries(venueFields).map(([name, field]) => [name, String(row[field] ?? "").trim()])),
  );

type Filled<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Removes absent and empty values. */
export const filled = <T extends object>(values: T): Filled<T> =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== ""),
  ) as Filled<T>;

/**
 * Converts an event to a row, without validation.
 *
 * @returns the fields that the event has. `activated` is always 0 or 1; `state` is present for retracted events
 */
export function rowOf(event: ShopEvent): EventRow {
  const [startDate, startTime] = String(event.start ?? "").split("T");
  const [endDate, endTime] = event.end?.split("T") ?? [];
  const venue = Object.entries(venueFields).map(([name, field]) => [field, event.venue[name as keyof Venue]]);
  return filled({
    event_key: event.key,
    eventprovider_id: event.providerId,
    event_name: event.title,
    event_organiser: event.organiser,
    event_start_date: startDate,
    event_start_time: startTime,
    event_end_date: endDate,
    event_end_time: endTime,
    timezone: event.timeZone,
    ...Object.fromEntries(venue),
    poster_url: event.posterUrl,
    banner_url: event.bannerUrl,
    event_introductiontext: event.description,
    genre: event.genres.join(","),
    lineup: event.lineup.join(","),
    minimumage: event.minimumAgeYears?.toString(),
    event_price: event.priceFromCents === undefined ? undefined : formatCents(event.priceFromCents),
    event_videourl: event.videoUrl,
    event_link: event.eventLink,
    ticket_link: event.ticketLink,
    activated: event.state === "published" ? 1 : 0,
    state: isRetracted(event.state) ? event.state : undefined,
    updated_at: event.updatedAt,
  }) as EventRow;
}
