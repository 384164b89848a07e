import { MedusaError } from "@medusajs/framework/utils";
import { z } from "@medusajs/framework/zod";

const text = (max: number) => z.string().trim().max(max);
const words = z.array(text(500)).max(200);

/** So many dates has a show at most. */
const MAX_DATES = 400;

const detailsSchema = z.strictObject({
  organiser: text(255).optional(),
  timeZone: text(100).optional(),
  venue: z
    .strictObject({
      name: text(255).optional(),
      streetName: text(255).optional(),
      streetNumber: text(50).optional(),
      zipCode: text(50).optional(),
      city: text(255).optional(),
      country: text(255).optional(),
    })
    .optional(),
  genres: words.optional(),
  lineup: words.optional(),
  minimumAgeYears: z.number().int().min(0).max(99).optional(),
  videoUrl: text(2048).optional(),
  eventLink: text(2048).optional(),
  providerId: z.number().int().min(1).optional(),
  concept: z.strictObject({ id: z.number().int().min(0), name: text(255) }).optional(),
  dates: z
    .array(
      z.strictObject({
        id: z
          .string()
          .regex(/^[1-9]\d{0,8}$/)
          .optional(),
        optionValue: text(255).optional(),
        start: text(40),
        end: text(40).optional(),
      }),
    )
    .max(MAX_DATES),
});

/** What a product's page says of its show. A date without an id is new. Whether the values are right is told by its events. */
export type DetailsInput = z.output<typeof detailsSchema>;

/** One date of a show. */
export type ShowDate = DetailsInput["dates"][number] & { readonly id: string };

/** The same, as it is kept: each date has an id that stays. */
export type ShowDetails = Omit<DetailsInput, "dates"> & { readonly dates: readonly ShowDate[] };

/** Reads what a person has written. @throws {MedusaError} naming the field that has another shape */
export function readDetails(input: unknown): DetailsInput {
  const { data, error } = detailsSchema.safeParse(input);
  if (data) return data;
  const fields = error.issues.map(({ path }) => placeOf(path) || "details");
  throw new MedusaError(
    MedusaError.Types.INVALID_DATA,
    `These aren't there, or not as they must be: ${fields.join(", ")}.`,
  );
}

/** As the form shows it: the first date is date 1. */
const placeOf = (path: readonly PropertyKey[]): string =>
  path
    .map((part, at) => (path[at - 1] === "dates" ? Number(part) + 1 : part))
    .join(" ")
    .replace(/^dates/, "date");

/** An event's key: its product's id, and its date's. */
export const keyOf = (productId: string, dateId: string): string => `${productId}:${dateId}`;

/**
 * Gives new dates an id: the next number, and never one that a date of this product had while it was public.
 *
 * @param usedIds of dates that the product has or had
 * @throws {MedusaError} where a date has an id that isn't one of those, or that another date has too
 */
export function withIds({ dates, ...details }: DetailsInput, usedIds: readonly string[]): ShowDetails {
  const given = dates.flatMap(({ id }) => id ?? []);
  if (new Set(given).size < given.length || given.some((id) => !usedIds.includes(id)))
    throw new MedusaError(MedusaError.Types.INVALID_DATA, "A date's id isn't known. Give new dates none.");
  let last = Math.max(0, ...usedIds.map(Number));
  return { ...details, dates: dates.map((date) => ({ ...date, id: date.id ?? String(++last) })) };
}
