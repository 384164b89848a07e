import type { Cell, Step } from "../cells.js";
import { runNetworkCell } from "../run-cell.js";
import { type Death, killService, killShop, runKill } from "../run-kill.js";
import type { CellRunner, FaultyLink, Shop } from "../shop.js";
import { readBooks } from "./books.js";
import { bankOperations, statements } from "./cells.js";
import { freezeShop, killBank, killForAnother, outlast, trap } from "./deaths.js";
import { actions, again, begin, type PlainPurchase } from "./purchase.js";
import { runRace } from "./run-race.js";
import { runShopper } from "./run-shopper.js";
import { openWorld, type Store, type World } from "./world.js";

/** Starts the plain shop with everything it needs, its payments in one of the stores, to run cells. */
export async function openPlainShop(store: Store, postgresUrl: string): Promise<CellRunner> {
  const world = await openWorld(store, postgresUrl);
  const shop = createShop(world);
  const deathOf = ({ place, fault }: Cell): Death<PlainPurchase> | undefined => {
    if (place === "kill service") return killService;
    if (place === "kill bank") return killBank(world);
    if (place === "freeze shop") return freezeShop(world);
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
    statement: (point) => ({ pattern: statements[point] as RegExp }),
    begin: (kind) => begin(world, kind),
    approach: (step, purchase) => approach(world, step, purchase),
    provoke: async () => {},
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

async function approach(world: World, step: Step, purchase: PlainPurchase): Promise<void> {
  const must = async (what: string, done: Promise<boolean>) => {
    if (!(await done)) throw new Error(`${what} failed before the fault`);
  };
  if (step === "quote") return;
  await must("applying the cards", actions.apply(world, purchase));
  if (step === "return" || step === "decline" || step === "sweep") {
    await must("placing the order", actions.place(world, purchase));
  }
  if (step === "cancel" || step === "refund") await must("paying the order", actions.buy(world, purchase));
  if (step === "recovery") {
    const { proxy } = world.giftcards;
    proxy.set("devalue", "cut-after", 1);
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
    case "sweep":
    case "recovery":
      await world.checkoutBooks.age(purchase.cartId);
      return actions.operate(world, "/recover");
    default:
      return actions.buy(world, purchase);
  }
}

function linkOf(world: World, { place, step, point }: Cell, purchase: PlainPurchase): FaultyLink {
  if (place === "bank") {
    const operation = Object.values(bankOperations).find((name) => point.endsWith(name));
    return { proxy: world.bank.proxy, operations: [operation ?? ""], skip: 0, isAlone: true };
  }
  const { proxy } = world.giftcards;
  const operation = step === "quote" ? "balance" : step === "devalue" ? "devalue" : "canceldevalue";
  // With two cards it is the second that fails.
  const skip = operation === "canceldevalue" ? 0 : purchase.cards.length - 1;
  return { proxy, operations: [operation], skip, isAlone: skip === 0 };
}

async function goOn(world: World, step: Step, purchase: PlainPurchase): Promise<void> {
  if (step === "quote") await again(() => actions.apply(world, purchase));
  if (step === "quote" || step === "purchase") await again(() => actions.buy(world, purchase));
  if (step === "devalue" || step === "remainder" || step === "return") {
    await again(() => actions.lookAgain(world, purchase));
  }
  // What was written down as owed goes back by itself: the operator presses again only where nothing was.
  const [paid] = await world.checkoutBooks.purchases(purchase.cartId);
  if ((step === "cancel" || step === "refund") && paid?.state === "paid") {
    await again(() => act(world, step, purchase));
  }
}

/** The order of a purchase that is paid. */
async function orderOf({ checkoutBooks }: World, { cartId }: PlainPurchase): Promise<string | undefined> {
  return (await checkoutBooks.purchases(cartId)).find(({ state }) => state !== "failed")?.order_id;
}
