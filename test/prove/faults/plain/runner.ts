import type { Cell, ServiceFault, Step } from "../cells.js";
import { basePoint, skipOf } from "../charge-points.js";
import { runNetworkCell } from "../run-cell.js";
import { type Death, killService, killShop, runKill } from "../run-kill.js";
import type { CellRunner, FaultyLink, Shop } from "../shop.js";
import { readBooks } from "./books.js";
import { bankOperations } from "./cells.js";
import { killBank, killForAnother, outlast, skipAt, skipIn, trap } from "./deaths.js";
import { byLineStatements } from "./points.js";
import { actions, again, begin, type PlainPurchase } from "./purchase.js";
import { runRace } from "./run-race.js";
import { runShopper } from "./run-shopper.js";
import { type Charging, openWorld, type Store, type World } from "./world.js";

/** Starts the plain shop with everything it needs, its payments in one of the stores, to run cells. */
export async function openPlainShop(store: Store, charges: Charging, postgresUrl: string): Promise<CellRunner> {
  const world = await openWorld(store, charges, postgresUrl);
  const shop = createShop(world);
  const deathOf = ({ place, fault }: Cell): Death<PlainPurchase> | undefined => {
    if (place === "kill service") return killService;
    if (place === "kill bank") return killBank(world);
    if (place === "database" && fault === "locked") return outlast;
    if (place !== "kill shop") return undefined;
    return fault.includes("another") ? killForAnother(world) : killShop;
  };
  return {
    async run(cells) {
      const [cell] = cells as [Cell];
      const death = deathOf(cell);
      if (death) return runKill(shop, cells, death);
      if (cell.place === "shopper") return [await runShopper(world, shop, cell)];
      if (cell.place === "two shops") return [await runRace(world, shop, cell)];
      return [await runNetworkCell(shop, cell)];
    },
    restore: world.restore,
    close: world.close,
  };
}

function createShop(world: World): Shop<PlainPurchase> {
  const { giftcards, database, bank, checkoutBooks } = world;
  return {
    ...{ giftcards, database, refundsCardsOnly: true },
    statement: (cell, purchase) => ({
      pattern: byLineStatements[basePoint(cell.point)] as RegExp,
      skip: skipIn(cell, purchase),
    }),
    begin: (kind) => begin(world, kind),
    approach: (step, purchase) => approach(world, step, purchase),
    provoke: (cell) => provoke(world, cell),
    link: (cell, purchase) => linkOf(world, cell, purchase),
    trap: (cell, purchases) => trap(world, cell, purchases),
    act: (step, purchase) => act(world, step, purchase),
    goOn: (step, purchase) => goOn(world, step, purchase),
    age: ({ cartId }) => checkoutBooks.age(cartId),
    recover: () => actions.operate(world, "/recover"),
    askPersons: async () => {},
    books: (purchase) => readBooks(world, purchase),
    async calm() {
      giftcards.proxy.clear();
      bank.proxy.clear();
      database?.clear();
      await bank.proxy.release();
    },
    kill: () => world.kill(),
    restore: () => world.restore(),
  };
}

const isReturn = (step: Step) => step === "give back" || step === "give several back";

async function approach(world: World, step: Step, purchase: PlainPurchase): Promise<void> {
  const must = async (what: string, done: Promise<boolean>) => {
    if (!(await done)) throw new Error(`${what} failed before the fault`);
  };
  if (step === "quote") return;
  await must("applying the cards", actions.apply(world, purchase));
  if (step === "return" || step === "decline" || step === "sweep") {
    await must("placing the order", actions.place(world, purchase));
  }
  if (step === "give several back") purchase.returns = [Math.ceil((purchase.units?.length ?? 1) / 2)];
  if (step === "cancel" || step === "refund" || isReturn(step))
    await must("paying the order", actions.buy(world, purchase));
  if (step === "recovery") {
    const { proxy } = world.giftcards;
    // Of several charges the last one is lost, and the others are owed.
    proxy.set("devalue", "cut-after", 1, purchase.units === null ? 0 : skipOf("the last", purchase));
    proxy.set("canceldevalue", "cut-before");
    await actions.place(world, purchase);
    proxy.set("canceldevalue", "pass");
  }
}

async function act(world: World, step: Step, purchase: PlainPurchase): Promise<boolean> {
  switch (step) {
    case "quote":
      return actions.apply(world, purchase);
    case "return":
      return actions.decide(purchase, "approve");
    case "decline":
      return actions.decide(purchase, "decline");
    case "cancel":
    case "refund":
      return actions.operate(world, `/orders/${await orderOf(world, purchase)}/${step}`);
    case "give back":
    case "give several back":
      return actions.giveBack(world, purchase);
    case "sweep":
    case "recovery":
      await world.checkoutBooks.age(purchase.cartId);
      return actions.operate(world, "/recover");
    default:
      return actions.buy(world, purchase);
  }
}

function linkOf(world: World, cell: Cell, purchase: PlainPurchase): FaultyLink {
  const { place, step, point } = cell;
  if (place === "bank") {
    const operation = Object.values(bankOperations).find((name) => point.endsWith(name));
    return { proxy: world.bank.proxy, operations: [operation ?? ""], skip: 0, isAlone: true };
  }
  const { proxy } = world.giftcards;
  const operation = step === "quote" ? "balance" : step === "devalue" ? "devalue" : "canceldevalue";
  const skip = skipAt(operation, cell, purchase);
  return { proxy, operations: [operation], skip, isAlone: skip === 0 };
}

async function goOn(world: World, step: Step, purchase: PlainPurchase): Promise<void> {
  if (step === "quote") await again(() => actions.apply(world, purchase));
  if (step === "quote" || step === "purchase") await again(() => actions.buy(world, purchase));
  if (step === "devalue" || step === "remainder" || step === "return") {
    await again(() => actions.lookAgain(world, purchase));
  }
  if (isReturn(step)) await giveBackAgain(world, purchase);
  // Recovery finishes a recorded refund. The operator presses again only if none was recorded.
  const [paid] = await world.checkoutBooks.purchases(purchase.cartId);
  if ((step === "cancel" || step === "refund") && paid?.state === "paid") {
    await again(() => act(world, step, purchase));
  }
}

/**
 * The operator presses again, twice. With ten units, the operator only does so if no refund was recorded: recovery
 * finishes a recorded one.
 */
async function giveBackAgain(world: World, purchase: PlainPurchase): Promise<void> {
  const isWritten = (await world.checkoutBooks.refunds(purchase.cartId)).length > 0;
  if (isWritten && purchase.kind === "ten units") return;
  await again(() => actions.giveBack(world, purchase));
  await actions.giveBack(world, purchase);
}

/** Both fail: the bank's network at the cell's point, and the service's with the card's part. */
async function provoke({ giftcards }: World, { place, point, fault }: Cell): Promise<void> {
  if (place === "bank" && point.includes("canceldevalue and "))
    giftcards.proxy.set("canceldevalue", fault as Exclude<ServiceFault, "refuse">);
}

/** The order of a purchase that is paid. */
async function orderOf({ checkoutBooks }: World, { cartId }: PlainPurchase): Promise<string | undefined> {
  return (await checkoutBooks.purchases(cartId)).find(({ state }) => state !== "failed")?.order_id;
}
