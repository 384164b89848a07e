import { MedusaError } from "@medusajs/framework/utils";
import { listEvents } from "../../../../../../events/event-list.js";
import { saveShow } from "../../../../../../events/publish.js";
import { serviceOf } from "../../../../../../events/push.js";
import { readShow } from "../../../../../../events/show-store.js";
import { readShowProducts } from "../../../../../../medusa-tables/show-products.js";
import { type AdminCall, adminRoute, readActor } from "../../../admin-route.js";
import { eventRoute } from "../../../event-route.js";

/** So many dates has a show, with those that are gone. */
const MOST_EVENTS = 2000;

/** What a product's page shows of it as an event. In a shop that sells no shows it says so, and nothing else. */
export const GET = adminRoute(async (call) => {
  const { settings } = call.giftcard;
  return settings.events ? view(call) : { isOn: false as const };
});

/** Saves it: `{ version, details }`, the version as it was read. */
export const POST = eventRoute(async (call) => {
  const { giftcard, req } = call;
  const { version, details: input } = (req.body ?? {}) as Record<string, unknown>;
  const productId = String(req.params.id);
  const [product] = await readShowProducts(giftcard.sql, [productId], call.settings.dateOption);
  if (!product) throw new MedusaError(MedusaError.Types.NOT_FOUND, "There is no such product.");
  if (typeof version !== "number" || !Number.isInteger(version) || version < 0)
    throw new RangeError("version is a whole number: as it was read, 0 where there was nothing.");
  await saveShow(req.scope, { productId, input, version, actor: await readActor(req) });
  return view(call);
});

async function view({ giftcard, sql, req }: AdminCall) {
  const { engine, settings } = giftcard;
  const productId = String(req.params.id);
  const show = await readShow(sql, productId);
  const [product] = await readShowProducts(sql, [productId], settings.events?.dateOption ?? "");
  const query = { filter: "all" as const, text: "", productId, limit: MOST_EVENTS, offset: 0 };
  const { events } = await listEvents(sql, serviceOf(giftcard), query);
  return {
    isOn: true as const,
    environment: engine.environment,
    isPublished: product?.isPublished ?? false,
    show,
    /** What a new show begins with. */
    defaults: {
      organiser: settings.events?.organiser ?? "",
      timeZone: settings.events?.timeZone ?? "",
      providerId: settings.events?.providerId ?? null,
    },
    /** The dates that the product's variants are for, as its option says them. */
    optionValues: Object.keys(product?.lowestCents ?? {}).filter((value) => value !== ""),
    events,
  };
}
