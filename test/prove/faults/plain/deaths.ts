import type { Cell } from "../cells.js";
import { basePoint, skipOf } from "../charge-points.js";
import { pause, until } from "../run-cell.js";
import { type Death, REACH_MS } from "../run-kill.js";
import type { Trap } from "../shop.js";
import { bankOperations } from "./cells.js";
import { anyWrite, byLineStatements } from "./points.js";
import type { PlainPurchase } from "./purchase.js";
import type { World } from "./world.js";

/** Longer than a store on SQLite waits for its file. */
const LOCK_MS = 11_000;
const banks: readonly string[] = Object.values(bankOperations);

/** Stops a purchase at a statement, or in a call. */
export function trap(world: World, cell: Cell, purchases: readonly PlainPurchase[]): Trap {
  const { point } = cell;
  const { database } = world;
  const pattern = byLineStatements[basePoint(point)];
  if (!database || !pattern) return trapCall(world, cell, purchases);
  database.set({ pattern, fault: "hold", skip: skipIn(cell, purchases[0] as PlainPurchase) });
  return { isReached: () => database.hits > 0, release: async () => database.release() };
}

/** Stops a call: on its way, or answered, when nobody has written the answer down yet. */
function trapCall(world: World, cell: Cell, purchases: readonly PlainPurchase[]): Trap {
  const { point } = cell;
  const operation = point.split(" ")[0] as string;
  const { proxy } = banks.includes(operation) ? world.bank : world.giftcards;
  const since = proxy.seen.length;
  const skip = skipAt(operation, cell, purchases[0] as PlainPurchase);
  const isAnswered = basePoint(point).endsWith("answered");
  const times = isAnswered ? 1 : Number.POSITIVE_INFINITY;
  proxy.set(operation, "hold", times, skip);
  let letWrite: (() => void) | undefined;
  return {
    async isReached() {
      if (proxy.seen.slice(since).filter((call) => call.operation === operation).length <= skip) return false;
      if (!isAnswered) return true;
      if (!letWrite) {
        letWrite = stopWriting(world);
        await proxy.release();
        await pause(100);
      }
      return world.database ? world.database.hits > 0 : true;
    },
    async release() {
      proxy.set(operation, "pass");
      await proxy.release();
      letWrite?.();
      letWrite = () => {};
    },
  };
}

/** How many of the card's charges pass before that are on their way in this step. */
export function skipIn({ step, point }: Pick<Cell, "step" | "point">, purchase: PlainPurchase): number {
  return skipOf(point, purchase, step === "give several back" ? purchase.returns[0] : undefined);
}

/** How many calls pass before: with two cards it is the second, since the first is charged. */
export function skipAt(operation: string, cell: Cell, purchase: PlainPurchase): number {
  if (purchase.units !== null) return skipIn(cell, purchase);
  return operation === "balance" || operation === "devalue" ? purchase.cards.length - 1 : 0;
}

/** Nobody writes to the checkout's books until the function that comes back is called. */
function stopWriting({ database, orders }: World): () => void {
  if (database) {
    database.set({ pattern: anyWrite, fault: "hold", times: Number.POSITIVE_INFINITY });
    return () => {
      database.clear();
      database.release();
    };
  }
  orders.exec("begin immediate");
  return () => orders.exec("rollback");
}

/** The shop dies and stays dead; another process on the same books ends what it left. */
export const killForAnother =
  (world: World): Death<PlainPurchase> =>
  async (shop, cell, purchases, act) => {
    await world.second();
    const held = shop.trap(cell, purchases);
    const acting = act();
    await until(held.isReached, REACH_MS);
    await shop.kill();
    await acting;
    await held.release();
  };

/** The file stays locked for longer than the shop waits for it. */
export const outlast: Death<PlainPurchase> = async (shop, cell, purchases, act) => {
  const held = shop.trap(cell, purchases);
  const acting = act();
  await until(held.isReached, REACH_MS);
  await Promise.race([acting, pause(LOCK_MS)]);
  await held.release();
  await acting;
};

/** The bank dies with a call on its way, or when it has done it and not answered, and is started again. */
export const killBank =
  (world: World): Death<PlainPurchase> =>
  async (shop, cell, purchases, act) => {
    const { bank } = world;
    if (cell.point.endsWith("answered")) {
      for (const operation of banks) bank.proxy.set(operation, "cut-before");
      bank.proxy.set(cell.point.split(" ")[0] as string, "cut-after");
      await act();
      await bank.kill();
      return shop.restore();
    }
    const held = shop.trap(cell, purchases);
    const acting = act();
    await until(held.isReached, REACH_MS);
    await bank.kill();
    await held.release();
    await acting;
    return shop.restore();
  };
