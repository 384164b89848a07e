import type { Answer, Storefront } from "../../../packages/medusa/test/support/storefront.js";
import { judge } from "../books.js";
import type { Cell, CellResult } from "../cells.js";
import { conclude, startOf } from "../run-cell.js";
import type { Purchase, Shop } from "../shop.js";
import type { World } from "./world.js";

/** Two Medusa processes on one database do two things with one card at once. */
export async function runRace(world: World, shop: Shop, cell: Cell): Promise<CellResult> {
  const start = startOf(shop);
  const [one, other] = [world.storefront, await world.secondStorefront()];
  const purchase = await shop.begin(cell.kind);
  await shop.approach("devalue", purchase);
  if (cell.fault === "same card in two carts") {
    const second = { ...purchase, cartId: (await shop.begin(cell.kind)).cartId };
    await shop.approach("devalue", second);
    await both(one.complete(purchase.cartId), other.complete(second.cartId));
    return conclude(shop, cell, await chargedOf(world, shop, purchase, second), start);
  }
  await both(
    one.complete(purchase.cartId),
    cell.fault === "same cart twice" ? other.complete(purchase.cartId) : removeCards(other, purchase),
  );
  return conclude(shop, cell, purchase, start);
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
