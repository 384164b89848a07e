import type { Answer, Storefront } from "../../../../packages/medusa/test/support/storefront.js";
import { judge } from "../books.js";
import type { Cell, CellResult } from "../cells.js";
import { conclude, startOf, until } from "../run-cell.js";
import { REACH_MS } from "../run-kill.js";
import type { Purchase, Shop } from "../shop.js";
import { orderOf, payments } from "./purchase.js";
import type { World } from "./world.js";

/** Two Medusa processes on one database do two things with one card at once. */
export async function runRace(world: World, shop: Shop, cell: Cell): Promise<CellResult> {
  const start = startOf(shop);
  const [one, other] = [world.storefront, await world.secondStorefront()];
  const purchase = await shop.begin(cell.kind);
  await shop.approach(cell.step, purchase);
  const orderPair = orderPairs[cell.fault as OrderRace] as (typeof orderPairs)[OrderRace] | undefined;
  if (orderPair) {
    await orderPair(world, other, purchase);
    await shop.goOn(cell.step, purchase);
    return conclude(shop, cell, purchase, start);
  }
  if (cell.fault === "same card in two carts") {
    const second = { ...purchase, cartId: (await shop.begin(cell.kind)).cartId };
    await shop.approach("devalue", second);
    await both(one.complete(purchase.cartId), other.complete(second.cartId));
    return conclude(shop, cell, await chargedOf(world, shop, purchase, second), start);
  }
  const beside = besides[cell.fault as keyof typeof besides];
  await both(one.complete(purchase.cartId), beside(other, purchase, world));
  return conclude(shop, cell, purchase, start);
}

/** Actions of the other Medusa on a cart that is being completed. */
const besides = {
  "same cart twice": (other: Storefront, { cartId }: Purchase) => other.complete(cartId),
  "card removed and charged": removeCards,
  /** Once its order is there, and its first unit is being charged. */
  async "cart changed and charged"(other: Storefront, { cartId }: Purchase, { giftcards }: World) {
    const { seen } = giftcards.proxy;
    const since = seen.length;
    const { cart } = await other.ok("GET", `/store/carts/${cartId}?fields=id,*items`);
    await until(() => seen.slice(since).some(({ operation }) => operation === "devalue"), REACH_MS);
    return other.send("POST", `/store/carts/${cartId}/line-items/${cart.items[0].id}`, { quantity: 1 });
  },
};

type OrderRace = "two sums refunded" | "given back twice" | "given back and refunded" | "given back and canceled";

/** Actions of two admins on an order that is paid, or that owes a unit. */
const orderPairs: Readonly<
  Record<OrderRace, (world: World, other: Storefront, purchase: Purchase) => Promise<unknown>>
> = {
  /** Two charges that differ: one is refunded while the service is slow with the other. Then what is left. */
  async "two sums refunded"(world, other, purchase) {
    const [gift, bank] = await payments(world, purchase);
    const refund = ({ send }: Storefront, id: string | undefined, cents: number) =>
      send("POST", `/admin/payments/${id}/refund`, { amount: cents / 100 });
    const [first = 0, middle = 0, last = 0] = purchase.cards[0]?.chargesCents ?? [];
    const { proxy } = world.giftcards;
    const since = proxy.seen.length;
    proxy.set("canceldevalue", "hold", 1);
    const slow = refund(world.storefront, gift?.id, last);
    await until(() => proxy.seen.length > since, REACH_MS);
    await refund(other, gift?.id, first);
    await proxy.release();
    await slow;
    await refund(other, gift?.id, middle);
    await refund(other, bank?.id, purchase.remainderCents);
  },
  async "given back twice"(world, other, purchase) {
    const { path, split } = await offerOf(world, purchase);
    await both(world.storefront.send("POST", path, split), other.send("POST", path, split));
  },
  /** The card's part of it, by Medusa's own refund. */
  async "given back and refunded"(world, other, purchase) {
    const { path, split } = await offerOf(world, purchase);
    const [{ paymentId, cents }] = split.parts;
    const body = { amount: cents / 100 };
    await both(
      world.storefront.send("POST", path, split),
      other.send("POST", `/admin/payments/${paymentId}/refund`, body),
    );
  },
  async "given back and canceled"(world, other, purchase) {
    const { path, split, orderId } = await offerOf(world, purchase);
    await both(world.storefront.send("POST", path, split), other.send("POST", `/admin/orders/${orderId}/cancel`, {}));
  },
};

async function offerOf(world: World, { cartId }: Purchase) {
  const { id: orderId } = await orderOf(world, cartId);
  const path = `/admin/giftcard-pay/orders/${orderId}/refund`;
  const { refund } = await world.storefront.ok("GET", path);
  return { orderId, path, split: refund.splits[0] };
}

const both = (...calls: Promise<unknown>[]) => Promise.allSettled(calls);

async function removeCards({ send }: Storefront, { cartId }: Purchase): Promise<Answer[]> {
  const base = `/store/giftcard-pay/carts/${cartId}`;
  const { body } = await send("GET", base);
  return Promise.all(body.cards.map(({ id }: { id: string }) => send("DELETE", `${base}/cards/${id}`)));
}

/** Of two carts with the same cards at most one took them: the other must be without an order, and with no money. */
async function chargedOf(world: World, shop: Shop, first: Purchase, second: Purchase): Promise<Purchase> {
  await shop.recover();
  const { rows } = await world.shopBooks.query(
    "select distinct cart_id from giftcard_charge where cart_id = any($1) and state in ('committed', 'captured')",
    [[first.cartId, second.cartId]],
  );
  if (rows.length > 1) throw new Error("both carts were paid with the same card");
  const paid = rows[0]?.cart_id === second.cartId ? second : first;
  const unpaid = paid === first ? second : first;
  const { wrong } = await judge(shop, { ...unpaid, cards: [] });
  if (wrong.length > 0) throw new Error(`the other cart: ${wrong.join("; ")}`);
  return paid;
}
