import type { Storefront } from "../../../packages/medusa/test/support/storefront.js";
import { sum } from "../books/cents.js";
import { fillCart, type Market } from "../faults/medusa/tenders.js";
import type { World } from "../faults/medusa/world.js";
import type { IssuedCard } from "../faults/service.js";

/** Prices of the canceled show, whose orders are refunded, and of another show in the same orders. */
export const prices = { show: 24.95, encore: 19.9 } as const;
/**
 * Each order has 10 % off. A ticket to the canceled show then costs 22.455, so the units of a larger order differ by a
 * cent. A ticket to the other show costs 17.91.
 */
const CODES = ["TEN"];
/** The most that one card pays of an order. */
const MOST_CENTS = 5000;

/** The tickets of an order and the balances of the cards that pay for it. The bank pays the remainder. */
interface Kind {
  readonly tickets: number;
  readonly encores: number;
  readonly cardsCents: readonly number[];
}

/** In an order with both shows, the cards pay for everything or nothing. So the order of the lines doesn't matter. */
const kinds: readonly Kind[] = [
  { tickets: 2, encores: 0, cardsCents: [4375] },
  { tickets: 1, encores: 1, cardsCents: [6000] },
  { tickets: 3, encores: 0, cardsCents: [5000, 1250] },
  { tickets: 1, encores: 0, cardsCents: [2000] },
  { tickets: 2, encores: 1, cardsCents: [] },
];

/** An order with tickets to the canceled show, and the refund that it is due. */
export interface BoughtOrder {
  readonly orderId: string;
  readonly cartId: string;
  readonly cards: readonly (IssuedCard & { readonly paidCents: number; readonly backCents: number })[];
  readonly bank: { readonly paidCents: number; readonly backCents: number };
  readonly backCents: number;
}

/** A world and the products on sale in it. */
export interface Box {
  readonly world: World;
  readonly market: Market;
}

/** Buys the order with this index, cycling through the kinds, and captures its payments. */
export async function buy({ world, market }: Box, index: number): Promise<BoughtOrder> {
  const kind = kinds[index % kinds.length] as Kind;
  const { storefront, giftcards } = world;
  const issued: IssuedCard[] = [];
  for (const cents of kind.cardsCents) issued.push(await giftcards.issueCard(cents));
  const items = [
    { product: "show", quantity: kind.tickets },
    { product: "encore", quantity: kind.encores },
  ];
  const cartId = await fillCart(
    storefront,
    market,
    items.filter(({ quantity }) => quantity > 0),
    CODES,
  );
  for (const card of issued) expectOk(await storefront.apply(cartId, card));
  const due = partsOf(kind);
  if (due.bank.paidCents > 0)
    expectOk(await storefront.initiate(cartId, "pp_bank_bank", { cart: cartId, behaviour: "authorized" }));
  const placed = expectOk(await storefront.complete(cartId));
  const orderId = placed.order.id as string;
  await capture(storefront, orderId);
  const cards = issued.map((card, which) => ({ ...card, ...(due.cards[which] as Part) }));
  return { orderId, cartId, cards, bank: due.bank, backCents: sum(unitsOf(kind.tickets, prices.show)) };
}

async function capture(storefront: Storefront, orderId: string): Promise<void> {
  const { payment_collections } = await storefront.order(orderId);
  for (const { id } of payment_collections[0].payments)
    await storefront.ok("POST", `/admin/payments/${id}/capture`, {});
}

interface Part {
  readonly paidCents: number;
  readonly backCents: number;
}

/** Returns the price of each unit with 10 % off: the line is rounded half up, and its first units cost a cent more. */
function unitsOf(quantity: number, price: number): number[] {
  const lineCents = Math.floor((Math.round(price * 100) * 9 * quantity + 5) / 10);
  return Array.from({ length: quantity }, (_, unit) => Math.floor((lineCents + quantity - 1 - unit) / quantity));
}

/**
 * Splits an order between its cards and the bank. The cards pay for the tickets to the canceled show first, then for
 * the other show. The bank pays the remainder. `backCents` is the part for the canceled show.
 */
function partsOf({ tickets, encores, cardsCents }: Kind): { cards: Part[]; bank: Part } {
  const units = [...unitsOf(tickets, prices.show), ...unitsOf(encores, prices.encore)];
  const cards: Part[] = [];
  for (const heldCents of cardsCents) {
    let left = Math.min(heldCents, MOST_CENTS);
    const part = { paidCents: 0, backCents: 0 };
    for (const [unit, openCents] of units.entries()) {
      const cents = Math.min(left, openCents);
      units[unit] = openCents - cents;
      left -= cents;
      part.paidCents += cents;
      if (unit < tickets) part.backCents += cents;
    }
    cards.push(part);
  }
  return { cards, bank: { paidCents: sum(units), backCents: sum(units.slice(0, tickets)) } };
}

function expectOk(answer: Awaited<ReturnType<Storefront["apply"]>>) {
  if (answer.status === 200) return answer.body;
  throw new Error(`a purchase failed with ${answer.status} ${JSON.stringify(answer.body)}`);
}
