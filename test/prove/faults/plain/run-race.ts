import type { FaultProxy } from "../../../support/fault-proxy.js";
import type { Cell, CellResult } from "../cells.js";
import { conclude, startOf, until } from "../run-cell.js";
import { REACH_MS } from "../run-kill.js";
import type { Shop } from "../shop.js";
import type { races as byLineRaces } from "./by-line-cells.js";
import type { races } from "./cells.js";
import { actions, again, orderIdOf, type PlainPurchase } from "./purchase.js";
import type { World } from "./world.js";

type Race = (world: World, other: string, purchase: PlainPurchase) => Promise<unknown>;

/** Two things that are done at once, each in its process. */
const pairs: Record<keyof typeof races | keyof typeof byLineRaces, Race> = {
  async "order pressed in both"(world, other, purchase) {
    await both(actions.place(world, purchase), actions.place(world, purchase, other));
    // On a slow machine, one shop may still be working on the purchase. The shopper presses until it is paid.
    await until(() => actions.buy(world, purchase), REACH_MS);
  },
  async "comes back in both"(world, other, purchase) {
    const id = await approved(world, purchase);
    await both(actions.comeBack(purchase, world.url, id), actions.comeBack(purchase, other, id));
  },
  async "comes back while it is swept"(world, other, purchase) {
    const id = await approved(world, purchase);
    await world.checkoutBooks.age(purchase.cartId);
    await both(actions.comeBack(purchase, world.url, id), actions.operate(world, "/recover", other));
  },
  async "declined while it is swept"(world, other, purchase) {
    await actions.place(world, purchase);
    await world.checkoutBooks.age(purchase.cartId);
    await both(actions.decide(purchase, "decline"), actions.operate(world, "/recover", other));
  },
  async "comes back while it is canceled"(world, other, purchase) {
    const id = await approved(world, purchase);
    await both(actions.comeBack(purchase, world.url, id), actions.operate(world, `/orders/${id}/cancel`, other));
  },
  async "canceled in both"(world, other, purchase) {
    await actions.buy(world, purchase);
    const path = `/orders/${orderIdOf(world, purchase)}/cancel`;
    await both(actions.operate(world, path), actions.operate(world, path, other));
  },
  async "refunded while it is canceled"(world, other, purchase) {
    await actions.buy(world, purchase);
    const path = `/orders/${orderIdOf(world, purchase)}`;
    await both(actions.operate(world, `${path}/refund`), actions.operate(world, `${path}/cancel`, other));
  },
  async "given back in both"(world, at, purchase) {
    await both(actions.giveBack(world, purchase), actions.giveBack(world, purchase, { at }));
  },
  /** Each of them until it is done: who meets the other in work is refused. */
  async "two given back"(world, at, purchase) {
    purchase.returns = [1, 1];
    await both(
      until(() => actions.giveBack(world, purchase), REACH_MS),
      until(() => actions.giveBack(world, purchase, { at, number: 2 }), REACH_MS),
    );
  },
  "given back while the card's part is recovered": (world, other, purchase) =>
    recoverBeside(world, other, purchase, world.giftcards.proxy, "canceldevalue"),
  "given back while the bank's part is recovered": (world, other, purchase) =>
    recoverBeside(world, other, purchase, world.bank.proxy, "refund"),
  async "given back and canceled"(world, other, purchase) {
    const path = `/orders/${orderIdOf(world, purchase)}/cancel`;
    await both(actions.giveBack(world, purchase), actions.operate(world, path, other));
  },
  async "given back and cards refunded"(world, other, purchase) {
    const path = `/orders/${orderIdOf(world, purchase)}/refund`;
    await both(actions.giveBack(world, purchase), actions.operate(world, path, other));
  },
};

/** One call of a refund is slow for so long that another process takes the refund over, and ends it. */
async function recoverBeside(
  world: World,
  other: string,
  purchase: PlainPurchase,
  proxy: FaultProxy,
  operation: string,
): Promise<void> {
  const since = proxy.seen.length;
  proxy.set(operation, "hold", 1);
  const giving = actions.giveBack(world, purchase);
  await until(() => proxy.seen.slice(since).some((call) => call.operation === operation), REACH_MS);
  await world.checkoutBooks.age(purchase.cartId);
  await actions.operate(world, "/recover", other);
  await proxy.release();
  await giving;
}

/** Two processes of the shop, on the same books, do two things at once. */
export async function runRace(world: World, shop: Shop<PlainPurchase>, cell: Cell): Promise<CellResult> {
  const start = startOf(shop);
  const other = await world.second();
  const purchase = await shop.begin(cell.kind);
  await shop.approach(cell.step, purchase);
  await pairs[cell.fault as keyof typeof pairs](world, other, purchase);
  return conclude(shop, cell, purchase, start);
}

/** The order waits for its shopper, who has paid at the bank. */
async function approved(world: World, purchase: PlainPurchase): Promise<string> {
  await again(() => actions.place(world, purchase));
  await actions.approveAndLeave(purchase);
  return String(orderIdOf(world, purchase));
}

const both = (...calls: Promise<unknown>[]) => Promise.all(calls);
