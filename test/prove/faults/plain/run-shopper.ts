import type { Cell, CellResult } from "../cells.js";
import { conclude, startOf } from "../run-cell.js";
import type { Shop } from "../shop.js";
import type { shoppers } from "./cells.js";
import { actions, type PlainPurchase } from "./purchase.js";
import type { World } from "./world.js";

/** Each shopper's actions once the cards are applied. */
const ways: Record<
  keyof typeof shoppers,
  (world: World, shop: Shop<PlainPurchase>, purchase: PlainPurchase) => Promise<unknown>
> = {
  async declines(world, _, purchase) {
    await actions.place(world, purchase);
    await actions.decide(purchase, "decline");
  },
  "closes the tab": (world, _, purchase) => actions.place(world, purchase),
  async "approves too late"(world, shop, purchase) {
    await actions.place(world, purchase);
    await shop.age(purchase);
    await shop.recover();
    if (await actions.decide(purchase, "approve")) throw new Error("what was swept could be paid");
  },
  async "never comes back"(world, _, purchase) {
    await actions.place(world, purchase);
    await actions.approveAndLeave(purchase);
  },
  async "comes back twice"(world, _, purchase) {
    await actions.place(world, purchase);
    await actions.decide(purchase, "twice");
  },
  async "presses twice"(world, _, purchase) {
    await Promise.all([actions.place(world, purchase), actions.place(world, purchase)]);
    await actions.lookAgain(world, purchase);
  },
};

/** Buys as a shopper does who isn't like the others. */
export async function runShopper(world: World, shop: Shop<PlainPurchase>, cell: Cell): Promise<CellResult> {
  const start = startOf(shop);
  const purchase = await shop.begin(cell.kind);
  await shop.approach(cell.step, purchase);
  await ways[cell.fault as keyof typeof ways](world, shop, purchase);
  return conclude(shop, cell, purchase, start);
}
