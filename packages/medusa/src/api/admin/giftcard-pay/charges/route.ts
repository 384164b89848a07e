import { type ChargeListing, type ChargeState, chargeStates } from "@giftcard-pay/checkout/store";
import { findChargedCarts } from "../../../../medusa-tables/charge-search.js";
import { readSearch } from "../../../../reports/charge-search.js";
import { adminRoute, readPage, readText, showCharges } from "../admin-route.js";

const isState = (text: string): text is ChargeState => (chargeStates as readonly string[]).includes(text);

const sorts = { "-created_at": "newest", created_at: "oldest" } as const;

/**
 * Lists charges: `?q=&state=a,b&order_id=&customer_id=&from=&to=&order=&limit=&offset=`. `q` is a card's last four digits, an
 * order, a customer's e-mail, an amount or a charge's reference. `order` is `-created_at` or `created_at`; without it,
 * charges that need attention come first, then the newest.
 */
export const GET = adminRoute(async ({ giftcard, sql, req }) => {
  const { limit, offset } = readPage(req, 20);
  const [q, customerId] = [readText(req, "q"), readText(req, "customer_id")];
  if (q !== undefined && customerId !== undefined) throw new RangeError("q and customer_id can't be combined.");
  const [state, orderId, order] = [readText(req, "state"), readText(req, "order_id"), readText(req, "order")];
  const [from, to] = [readMoment("from", readText(req, "from")), readMoment("to", readText(req, "to"))];
  const filter: ChargeListing = {
    ...(state !== undefined && { states: readStates(state) }),
    ...(orderId !== undefined && { orderIds: [orderId] }),
    ...(customerId !== undefined && { anyOf: { cartIds: await findChargedCarts(sql, { customerId }) } }),
    ...(q !== undefined && { anyOf: await readSearch(sql, q) }),
    ...(from && { from }),
    ...(to && { to }),
    ...(order !== undefined && { sort: readSort(order) }),
    limit,
    offset,
  };
  const { charges, count } = await giftcard.engine.journal.list(filter);
  return { ...(await showCharges(sql, charges)), count, limit, offset };
});

function readStates(text: string): ChargeState[] {
  return text.split(",").map((name) => {
    if (!isState(name)) throw new RangeError(`state is one or more of: ${chargeStates.join(", ")}.`);
    return name;
  });
}

function readSort(text: string): "newest" | "oldest" {
  if (Object.hasOwn(sorts, text)) return sorts[text as keyof typeof sorts];
  throw new RangeError(`order is one of: ${Object.keys(sorts).join(", ")}.`);
}

function readMoment(name: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const moment = new Date(text);
  if (Number.isNaN(moment.getTime())) throw new RangeError(`${name} is a time in ISO 8601.`);
  return moment;
}
