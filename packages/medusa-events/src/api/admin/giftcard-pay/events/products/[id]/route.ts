import { MedusaError } from "@medusajs/framework/utils";
import { z } from "@medusajs/framework/zod";
import type { EventsContext } from "../../../../../../context.js";
import { listEvents } from "../../../../../../events/event-list.js";
import { saveShow } from "../../../../../../shows/refresh.js";
import { readShowProducts } from "../../../../../../shows/show-products.js";
import { detailsSchema, readShow } from "../../../../../../shows/show-store.js";
import { adminRoute, readActor } from "../../../admin-route.js";

/** Current dates and removed ones together. */
const MAX_EVENTS = 2000;

const body = z.strictObject({
  version: z
    .number()
    .int()
    .min(0)
    .max(2 ** 31 - 1),
  details: detailsSchema,
});

/** Returns the data of a product's page: the show, its events, and the values for a new show. */
export const GET = adminRoute(z.unknown(), ({ context, id }) => view(context, id));

/** Saves a product's show. */
export const POST = adminRoute(body, async ({ context, input, id, req }) => {
  const [product] = await readShowProducts(context.sql, [id], context.options.dateOption);
  if (!product) throw new MedusaError(MedusaError.Types.NOT_FOUND, "There is no such product.");
  await saveShow(context, { productId: id, ...input, actor: await readActor(req) });
  return view(context, id);
});

/** The data of a product's page. */
export type ProductEvents = Awaited<ReturnType<typeof view>>;

async function view({ sql, issuer, client, options }: EventsContext, productId: string) {
  const [product] = await readShowProducts(sql, [productId], options.dateOption);
  const query = { filter: "all" as const, text: "", productId, limit: MAX_EVENTS, offset: 0 };
  const { events } = await listEvents(sql, issuer, query);
  return {
    environment: client.environment,
    isPublished: product?.isPublished ?? false,
    show: await readShow(sql, productId),
    defaults: {
      organiser: options.organiser ?? "",
      timeZone: options.timeZone,
      providerId: options.providerId ?? null,
    },
    /** The dates that the product's variants are for, as values of the date option. */
    optionValues: Object.keys(product?.lowestCents ?? {}).filter((value) => value !== ""),
    events,
  };
}
