import type { Answer } from "../../../../packages/medusa/test/support/storefront.js";
import type { TenderKind } from "../cells.js";
import { issueTenders, type Purchase } from "../shop.js";
import { createCart, tenders } from "./tenders.js";
import type { World } from "./world.js";

/** Refunds of a purchase. Nobody repeats them. */
const given = new WeakMap<Purchase, unknown>();

/** An answer, or undefined where the connection ended without one. */
export type MaybeAnswer = Answer | undefined;

/** Begins a purchase: cards and a cart, nothing applied yet. */
export async function begin(world: World, kind: TenderKind): Promise<Purchase> {
  const issued = await issueTenders(world.giftcards, kind, tenders[kind]);
  return { ...issued, cartId: await createCart(world.storefront, world.market, kind) };
}

const maybe = (call: Promise<Answer>): Promise<MaybeAnswer> => call.catch(() => undefined);
const isDone = (answer: MaybeAnswer) => answer !== undefined && answer.status < 300;

/** The steps of a purchase as its page and its admin take them. Each can be taken again when it failed. */
export const actions = {
  /** Applies every card that isn't applied yet. */
  async quote({ storefront }: World, { cartId, cards }: Purchase): Promise<boolean> {
    for (const card of cards) {
      const answer = await maybe(storefront.apply(cartId, card));
      const isApplied = isDone(answer) || answer?.body?.code === "card_already_applied";
      if (!isApplied) return false;
    }
    return true;
  },

  /** Makes the remainder's session; where the cards cover all, the completion makes the card's. */
  async session(
    { storefront }: World,
    { cartId, remainderCents }: Purchase,
    behaviour = "authorized",
  ): Promise<boolean> {
    if (remainderCents === 0) return true;
    const data = { cart: cartId, behaviour };
    return isDone(await maybe(storefront.initiate(cartId, "pp_bank_bank", data)));
  },

  complete: ({ storefront }: World, { cartId }: Purchase): Promise<MaybeAnswer> => maybe(storefront.complete(cartId)),

  async capture(world: World, purchase: Purchase): Promise<boolean> {
    const open = (await payments(world, purchase)).filter((payment) => !payment.captured_at);
    for (const { id } of open) {
      if (!isDone(await maybe(world.storefront.send("POST", `/admin/payments/${id}/capture`, {})))) return false;
    }
    return true;
  },

  async cancel(world: World, purchase: Purchase): Promise<boolean> {
    const order = await orderOf(world, purchase.cartId);
    if (order?.status === "canceled") return true;
    return isDone(await maybe(world.storefront.send("POST", `/admin/orders/${order?.id}/cancel`, {})));
  },

  /** Takes one unit out of the order, which owes it from then on. */
  async takeOut(world: World, { cartId, units }: Purchase): Promise<boolean> {
    const order = await orderOf(world, cartId);
    const path = `/admin/order-edits/${order.id}`;
    const quantity = (units?.length ?? 1) - 1;
    for (const [to, body] of [
      ["/admin/order-edits", { order_id: order.id }],
      [`${path}/items/item/${order.items[0].id}`, { quantity }],
      [`${path}/confirm`, {}],
    ] as const) {
      if (!isDone(await maybe(world.storefront.send("POST", to, body)))) return false;
    }
    return true;
  },

  /** Gives back what the order owes, and then once more, which is refused. @throws where it isn't */
  async "give back"(world: World, purchase: Purchase): Promise<boolean> {
    const order = await orderOf(world, purchase.cartId);
    const path = `/admin/giftcard-pay/orders/${order?.id}/refund`;
    const asked = await maybe(world.storefront.send("GET", path));
    if (asked?.status !== 200) return false;
    const { owedCents, splits } = asked.body.refund;
    const before = given.get(purchase);
    if (owedCents > 0) {
      given.set(purchase, splits[0]);
      return isDone(await maybe(world.storefront.send("POST", path, splits[0])));
    }
    if (before && isDone(await maybe(world.storefront.send("POST", path, before))))
      throw new Error("the same was given back twice");
    return true;
  },

  /** Refunds every captured payment whole. */
  async refund(world: World, purchase: Purchase): Promise<boolean> {
    const open = (await payments(world, purchase)).filter(({ refunds }) => refunds.length === 0);
    for (const { id } of open) {
      if (!isDone(await maybe(world.storefront.send("POST", `/admin/payments/${id}/refund`, {})))) return false;
    }
    return true;
  },
};

/** A payment as the admin shows it. */
export interface PaymentRow {
  readonly id: string;
  readonly provider_id: string;
  readonly amount: number;
  readonly canceled_at: string | null;
  readonly captured_at: string | null;
  readonly captures: readonly { readonly amount: number }[];
  readonly refunds: readonly { readonly amount: number }[];
}

/** The order that a cart became, as the admin shows it, or undefined. @throws where there are two */
export async function orderOf({ storefront, shopBooks }: World, cartId: string) {
  const { rows } = await shopBooks.query(
    `select link.order_id from order_cart link join "order" on "order".id = link.order_id
     where link.cart_id = $1 and link.deleted_at is null and "order".deleted_at is null`,
    [cartId],
  );
  if (rows.length > 1) throw new Error(`${rows.length} orders of one cart`);
  return rows[0] && storefront.order(rows[0].order_id);
}

/** The payments of a cart's order that still count, the gift cards' first: what is cut in two is ours. */
export async function payments(world: World, { cartId }: Purchase): Promise<PaymentRow[]> {
  const order = await orderOf(world, cartId);
  const all: PaymentRow[] = order?.payment_collections[0]?.payments ?? [];
  const isGift = ({ provider_id }: PaymentRow) => Number(provider_id === "pp_giftcard_giftcard");
  return all.filter((payment) => !payment.canceled_at).sort((a, b) => isGift(b) - isGift(a));
}
