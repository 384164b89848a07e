import type { Sql } from "@giftcard-pay/checkout/plugin";
import { type ChargeListing, type ChargeMatch, type ChargeState, chargeStates } from "@giftcard-pay/checkout/store";
import { findChargedCarts, findOrdersByNumber } from "../../../../medusa-tables/charge-search.js";
import { adminRoute, readPage, readText, showCharges } from "../admin-route.js";

const isState = (text: string): text is ChargeState => (chargeStates as readonly string[]).includes(text);

/**
 * Lists charges: `?q=&state=a,b&order_id=&from=&to=&by=payment&limit=&offset=`, those that need attention first,
 * then the newest. By payment, `count`, `limit` and `offset` count the payments that one of these charges belongs to, and
 * the charges are all of theirs.
 */
export const GET = adminRoute(async ({ giftcard, sql, req }) => {
  const { limit, offset } = readPage(req, 20);
  const q = readText(req, "q");
  const [state, orderId] = [readText(req, "state"), readText(req, "order_id")];
  const [from, to] = [readMoment("from", readText(req, "from")), readMoment("to", readText(req, "to"))];
  const filter: ChargeListing = {
    ...(state !== undefined && { states: readStates(state) }),
    ...(orderId !== undefined && { orderIds: [orderId] }),
    ...(q !== undefined && { anyOf: await readSearch(sql, q) }),
    ...(from && { from }),
    ...(to && { to }),
    byPayment: readText(req, "by") === "payment",
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

function readMoment(name: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const moment = new Date(text);
  if (Number.isNaN(moment.getTime())) throw new RangeError(`${name} is a time in ISO 8601.`);
  return moment;
}

/** PostgreSQL's largest integer, the type of a display number. */
const MAX_NUMBER = 2_147_483_647;
const MAX_LENGTH = 320;

/**
 * Finds out what a person searches charges for:
 *
 * - `5398`: a card's last four digits, or the order #5398
 * - `#12`, `12`, or an order's id
 * - a customer's e-mail
 * - `24.98` or `24,98`: the amount of a charge, or of its card's whole payment
 * - a charge's reference
 *
 * @throws {RangeError} if the text is too long
 */
async function readSearch(sql: Sql, text: string): Promise<ChargeMatch> {
  const wanted = text.trim().replace(/^[•*.\s]+(?=\d{4}$)/, "");
  if (wanted.length > MAX_LENGTH) throw new RangeError(`q has at most ${MAX_LENGTH} characters.`);
  if (wanted.includes("@")) return { cartIds: await findChargedCarts(sql, wanted) };
  const lastFour = /^\d{4}$/.test(wanted) ? wanted : undefined;
  const number = /^#?([1-9]\d{0,9})$/.exec(wanted)?.[1];
  if (lastFour !== undefined || number !== undefined) {
    const isNumber = number !== undefined && Number(number) <= MAX_NUMBER;
    const orderIds = isNumber ? await findOrdersByNumber(sql, Number(number)) : [];
    return { orderIds, ...(lastFour !== undefined && { lastFour }) };
  }
  const [, euros, cents] = /^(?:€\s*)?(\d{1,5})[.,](\d\d)(?:\s*€)?$/.exec(wanted) ?? [];
  if (euros !== undefined) return { amountCents: Number(euros) * 100 + Number(cents) };
  return { orderIds: [wanted], reference: wanted };
}
