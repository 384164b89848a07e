import { DEFAULT_TIME_ZONE, isTimeZone } from "@giftcard-pay/events";
import { z } from "@medusajs/framework/zod";

const text = z.string().min(1);
const count = z.coerce.number<number | string>().int().min(1);
const address = z.url({ protocol: /^https?$/ });

/** An address with a place for a product's handle or id. */
const pattern = z
  .string()
  .max(1000)
  .refine(
    (url) => /\{(handle|id)\}/.test(url) && address.safeParse(url.replaceAll(/[{}]/g, "")).success,
    "must be an http or https address with {handle} or {id} in it.",
  );

export const eventsSchema = z.strictObject({
  productUrl: pattern,
  organiser: z.string().trim().min(1).max(255).optional(),
  timeZone: text.refine(isTimeZone, "must name a time zone, as Europe/Amsterdam.").optional(),
  providerId: count.optional(),
  dateOption: text.default("Date"),
  publish: z.enum(["by-hand", "automatic"]).optional(),
});

/** What the shop's shows go by. */
export interface EventSettings {
  /** A product's page in the storefront, with {handle} or {id}. */
  readonly productUrl: string;
  /** Who organises a show that names nobody. */
  readonly organiser: string | undefined;
  /** Where the clocks of a show are that names no zone. */
  readonly timeZone: string;
  /** The ticketing provider of a show that names none. */
  readonly providerId: number | undefined;
  /** The product option whose values are a show's dates. */
  readonly dateOption: string;
  /** Whether a show is published as soon as it can be, or when a person says so. */
  readonly isAutomatic: boolean;
}

export const eventSettings = (given: z.output<typeof eventsSchema>): EventSettings => ({
  productUrl: given.productUrl,
  organiser: given.organiser,
  timeZone: given.timeZone ?? DEFAULT_TIME_ZONE,
  providerId: given.providerId,
  dateOption: given.dateOption,
  isAutomatic: given.publish === "automatic",
});
