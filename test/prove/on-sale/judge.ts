import { setTimeout as sleep } from "node:timers/promises";
import { sum } from "../books/cents.js";
import { readCards } from "../books/issuer.js";
import { type Experience, MEDUSA_FAILED } from "./buyers.js";
import { LEASE_MS, MATINEE, type OnSaleShop, SHOW } from "./shop.js";

const SETTLE_MS = 120_000;

/** An order as the shop's tables have it. */
interface Placed {
  readonly id: string;
  /** Null if Medusa left the order without a link to its cart. */
  readonly cartId: string | null;
  readonly totalCents: number;
  readonly paidCents: number;
}

export interface Verdict {
  readonly orders: number;
  readonly reserved: number;
  /** Broken promises. */
  readonly wrong: readonly string[];
  /** Orders without cards that Medusa left unpaid when it crashed, as in any shop. */
  readonly unpaidWithoutCards: number;
}

/**
 * Waits until recovery has finished its work, then compares seats, orders, cards and the bank.
 * @param isHostile processes were killed or frozen, so a buyer may lack an answer
 */
export async function judge(
  shop: OnSaleShop,
  experiences: readonly Experience[],
  {
    seats,
    isPlain,
    isHostile,
    patienceMs,
  }: { seats: number; isPlain: boolean; isHostile: boolean; patienceMs: number },
): Promise<Verdict> {
  if (!isPlain) await settle(shop);
  const placed = await readOrders(shop);
  const withCards = new Set(experiences.filter(({ buyer }) => buyer.cards.length > 0).map(({ buyer }) => buyer.cartId));
  const isPaid = ({ totalCents, paidCents }: Placed) => paidCents === totalCents;
  const abandoned = placed.filter((order) => !isPaid(order) && !(order.cartId !== null && withCards.has(order.cartId)));
  const standing = placed.filter((order) => !abandoned.includes(order));
  const [reserved, reservedToo] = [await readReserved(shop, SHOW), await readReserved(shop, MATINEE)];
  const wrong = [
    ...(reservedToo > seats ? [`${reservedToo} seats of the matinee are reserved of ${seats}`] : []),
    ...judgeAnswers(experiences, standing, { isHostile, longestWaitMs: patienceMs / 2 }),
    ...judgeSeats({ orders: standing.length, reserved, seats, spared: abandoned.length, isHostile }, experiences),
    ...standing
      .filter((order) => !isPaid(order))
      .map(({ id, totalCents, paidCents }) => `${id} stands with ${paidCents} of ${totalCents} cents paid`),
    ...(await judgeMoney(shop, experiences, standing)),
  ];
  return { orders: standing.length, reserved, wrong, unpaidWithoutCards: abandoned.length };
}

/** Compares what was taken off each buyer's cards, and what the bank holds, with the buyer's order. */
async function judgeMoney(
  shop: OnSaleShop,
  experiences: readonly Experience[],
  standing: readonly Placed[],
): Promise<string[]> {
  const byCart = new Map(standing.map((order) => [order.cartId, order]));
  const all = await readCards(
    shop.giftcards,
    experiences.flatMap(({ buyer }) => buyer.cards),
  );
  const spentCents = new Map(all.map((card) => [card.id, card.issuedCents - card.balanceCents]));
  return experiences.flatMap(({ buyer: { cartId, cards, way } }) => {
    const spent = sum(cards.map(({ id }) => spentCents.get(id) ?? 0));
    const held = sum(shop.bank.heldCents(cartId));
    const owed = byCart.get(cartId)?.totalCents ?? 0;
    // The bank's payment of a cart that never had a card is Medusa's own.
    if (cards.length === 0 || spent + held === owed) return [];
    return [`cart ${cartId} (${way}): ${spent} off its cards and ${held} at the bank, for ${owed}`];
  });
}

function judgeAnswers(
  experiences: readonly Experience[],
  placed: readonly Placed[],
  { isHostile, longestWaitMs }: { isHostile: boolean; longestWaitMs: number },
): string[] {
  const wrong: string[] = [];
  const standing = new Map(placed.map(({ id, cartId }) => [id, cartId]));
  for (const { buyer, end, orderId, longestMs, answers, message } of experiences) {
    const name = `the buyer of ${buyer.cartId} (${buyer.way})`;
    if (end === "order" && orderId !== null && standing.get(orderId) !== buyer.cartId)
      wrong.push(`${name} was given the order ${orderId}, which doesn't stand`);
    if (end === "refused") wrong.push(`${name} was refused: ${answers.at(-1)} ${message}`);
    if (isHostile) continue;
    if (end === "canceled" && !answers.includes(MEDUSA_FAILED))
      wrong.push(`${name} lost its order: ${answers.join(", ")}`);
    if (end === "no answer" || end === "wait") wrong.push(`${name} gave up: ${answers.slice(-3).join(", ")}`);
    if (longestMs > longestWaitMs) wrong.push(`${name} waited ${Math.round(longestMs / 1000)} s for an answer`);
    const bare = answers.filter((label) => label.startsWith("500"));
    if (bare.length > 0) wrong.push(`${name} got ${bare.length} times ${bare[0]}`);
    if (end !== "order" && [...standing.values()].includes(buyer.cartId))
      wrong.push(`${name} has an order and wasn't told`);
  }
  return wrong;
}

/**
 * @param figures `spared`: orders that a crash left unpaid, which may have reserved a seat; `isHostile`: so may orders
 *   that recovery has canceled by now
 */
function judgeSeats(
  {
    orders,
    reserved,
    seats,
    spared,
    isHostile,
  }: { orders: number; reserved: number; seats: number; spared: number; isHostile: boolean },
  experiences: readonly Experience[],
): string[] {
  const wrong: string[] = [];
  if (orders > seats) wrong.push(`${orders} orders stand for ${seats} seats`);
  if (reserved > seats) wrong.push(`${reserved} seats are reserved of ${seats}`);
  if (reserved < orders || reserved > orders + spared)
    wrong.push(`${reserved} seats are reserved for ${orders} orders`);
  const isSoldOut = experiences.some(({ end }) => end === "sold out");
  const canceled = experiences.filter(({ end }) => end === "canceled").length;
  if (isSoldOut && !isHostile && orders + spared + canceled < Math.min(seats, experiences.length))
    wrong.push(`only ${orders} of ${seats} seats are sold, and buyers were told "sold out"`);
  return wrong;
}

/** Waits until nothing is open: no charge, no order to cancel, no failing job. */
async function settle(shop: OnSaleShop): Promise<void> {
  const { ok } = shop.storefront(0);
  await sleep(LEASE_MS);
  for (const until = Date.now() + SETTLE_MS; Date.now() < until; await sleep(1000)) {
    await ok("POST", "/admin/giftcard-pay/recover", {});
    const { rows } = await shop.books.query(
      `select count(*)::integer as open from giftcard_charge
       where state not in ('committed', 'captured', 'reversed', 'refused', 'taken')`,
    );
    const { rows: cards } = await shop.books.query(
      `select count(*)::integer as open from giftcard_tender tender
         join order_cart placed on placed.cart_id = tender.cart_id and placed.deleted_at is null
         join "order" o on o.id = placed.order_id and o.canceled_at is null and o.deleted_at is null
       where tender.state in ('applied', 'charging')`,
    );
    if (rows[0].open + cards[0].open === 0) return;
  }
}

async function readOrders({ books }: OnSaleShop): Promise<Placed[]> {
  const { rows } = await books.query(
    `select o.id, placed.cart_id as "cartId",
       round((summary.totals ->> 'original_order_total')::numeric * 100)::integer as "totalCents",
       (select coalesce(round(sum(payment.amount) * 100), 0) from order_payment_collection link
          join payment on payment.payment_collection_id = link.payment_collection_id
            and payment.canceled_at is null and payment.deleted_at is null
        where link.order_id = o.id and link.deleted_at is null)::integer as "paidCents"
     from "order" o join order_summary summary on summary.order_id = o.id and summary.version = o.version
       and summary.deleted_at is null
     left join order_cart placed on placed.order_id = o.id and placed.deleted_at is null
     where o.canceled_at is null and o.deleted_at is null`,
  );
  return rows;
}

/** The seats that reservations of standing and lost orders hold. */
async function readReserved({ books }: OnSaleShop, show: string): Promise<number> {
  const { rows } = await books.query(
    `select coalesce(sum(reservation.quantity), 0)::integer as reserved from reservation_item reservation
     join inventory_item item on item.id = reservation.inventory_item_id
     where item.sku = $1 and reservation.deleted_at is null`,
    [show],
  );
  return rows[0].reserved;
}
