import { type ChargeListing, type ChargeState, chargeStates } from "@giftcard-pay/checkout/store";
import { orderNamesOf } from "../../../../medusa-tables/orders.js";
import { adminRoute, readPage, readText, showCharge } from "../admin-route.js";

const isState = (text: string): text is ChargeState => (chargeStates as readonly string[]).includes(text);

/** Lists charges, those that need attention first: `?state=a,b&order_id=&from=&to=&limit=&offset=`. */
export const GET = adminRoute(async ({ giftcard, sql, req }) => {
  const { limit, offset } = readPage(req, 20);
  const [state, orderId] = [readText(req, "state"), readText(req, "order_id")];
  const [from, to] = [readMoment("from", readText(req, "from")), readMoment("to", readText(req, "to"))];
  const filter: ChargeListing = {
    ...(state !== undefined && { states: readStates(state) }),
    ...(orderId !== undefined && { orderIds: [orderId] }),
    ...(from && { from }),
    ...(to && { to }),
    limit,
    offset,
  };
  const { charges, count } = await giftcard.engine.journal.list(filter);
  const names = await orderNamesOf(sql, charges);
  return { charges: charges.map((charge) => showCharge(charge, names)), count, limit, offset };
});

function readStates(text: string): ChargeState[] {
  return text.split(",").map((name) => {
    if (!isState(name)) throw new RangeError(`state is one or more of: ${chargeStates.join(", ")}.`);
    return name;
  });
}

function readMoment(name: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const moment = new Date(text);
  if (Number.isNaN(moment.getTime())) throw new RangeError(`${name} is a time in ISO 8601.`);
  return moment;
}
