import type { Cell, Step } from "../cells.js";
import { basePoint, skipOf } from "../charge-points.js";
import { pause, runNetworkCell } from "../run-cell.js";
import { killService, killShop, runKill } from "../run-kill.js";
import {
  type CellRunner,
  type FaultyLink,
  LEASE_MS,
  type Purchase,
  type Shop,
  TIMEOUT_MS,
  type Trap,
} from "../shop.js";
import { readBooks } from "./books.js";
import { deadlyStatements } from "./points.js";
import { actions, begin } from "./purchase.js";
import { runRace } from "./run-race.js";
import { openWorld, type World } from "./world.js";

const operations = ["balance", "devalue", "canceldevalue"];

/** Starts Medusa with everything it needs on a PostgreSQL server, to run cells. */
export async function openMedusa(postgresUrl: string, charges: "whole" | "by-line"): Promise<CellRunner> {
  // The step "capture" has its own faults.
  const options = { timeoutMs: TIMEOUT_MS, leaseMs: LEASE_MS, charges, capture: "manual" } as const;
  const world = await openWorld(postgresUrl, options);
  const shop = createShop(world);
  return {
    async run(cells) {
      const [cell] = cells as [Cell];
      if (cell.place === "kill service") return runKill(shop, cells, killService);
      if (cell.place === "kill Medusa") return runKill(shop, cells, killShop);
      if (cell.place === "two Medusas") return [await runRace(world, shop, cell)];
      return [await runNetworkCell(shop, cell)];
    },
    restore: world.restore,
    close: world.close,
  };
}

function createShop(world: World): Shop {
  const { giftcards, database } = world;
  return {
    ...{ giftcards, database, refundsCardsOnly: false },
    statement: ({ point }, purchase) => ({
      pattern: deadlyStatements[basePoint(point)] as RegExp,
      skip: skipOf(point, purchase),
    }),
    begin: (kind) => begin(world, kind),
    approach: (step, purchase) => approach(world, step, purchase),
    provoke: (cell, purchase) => provoke(world, cell, purchase),
    link: (cell, purchase) => linkOf(world, cell, purchase),
    trap: (cell, purchases) => trap(world, cell, purchases),
    act: (step, purchase) => act(world, step, purchase),
    goOn: (step, purchase) => goOn(world, step, purchase),
    age: (purchase) => age(world, purchase),
    recover: () => recover(world),
    askPersons: (purchase) => askAgain(world, purchase),
    books: (purchase) => readBooks(world, purchase),
    async calm() {
      giftcards.proxy.clear();
      database.clear();
    },
    kill: () => world.kill(),
    restore: () => world.restore(),
  };
}

async function approach(world: World, step: Step, purchase: Purchase): Promise<void> {
  const must = async (what: string, done: Promise<boolean>) => {
    if (!(await done)) throw new Error(`${what} failed before the fault`);
  };
  if (step === "quote") return;
  await must("applying the cards", actions.quote(world, purchase));
  if (step === "session" && purchase.remainderCents > 0) return;
  const behaviour = step === "decline" ? "error" : "authorized";
  await must("starting the payment", actions.session(world, purchase, behaviour));
  if (step === "capture" || step === "cancel" || step === "refund" || step === "give back") {
    await must("placing the order", isOrder(actions.complete(world, purchase)));
    if (step === "refund" || step === "give back") await must("capturing", actions.capture(world, purchase));
    if (step === "give back") await must("taking a unit out", actions.takeOut(world, purchase));
  }
  if (step === "recovery") {
    const { proxy } = world.giftcards;
    // Of several charges the last one is lost, and the others are owed.
    proxy.set("devalue", "cut-after", 1, purchase.units === null ? 0 : skipOf("the last", purchase));
    proxy.set("canceldevalue", "cut-before");
    await actions.complete(world, purchase);
    proxy.set("canceldevalue", "pass");
  }
}

const isOrder = async (answer: ReturnType<typeof actions.complete>) => (await answer)?.body?.type === "order";

async function act(world: World, step: Step, purchase: Purchase): Promise<boolean> {
  switch (step) {
    case "quote":
      return actions.quote(world, purchase);
    case "session":
      // If the cards cover the total, the completion creates the session.
      if (purchase.remainderCents > 0) return actions.session(world, purchase);
      return isOrder(actions.complete(world, purchase));
    case "capture":
      return actions.capture(world, purchase);
    case "cancel":
      return actions.cancel(world, purchase);
    case "refund":
    case "give back":
      return actions[step](world, purchase);
    case "recovery":
      await age(world, purchase);
      return recover(world);
    default:
      return isOrder(actions.complete(world, purchase));
  }
}

/** Undoing comes after something else failed: the bank declines, or the database is gone for a moment. */
async function provoke(world: World, { place, step, point }: Cell, purchase: Purchase): Promise<void> {
  if (point.startsWith("bank ")) {
    await actions.session(world, purchase, point === "bank asked" ? "hangs" : "authorizes and hangs");
  }
  const isInService = place === "service" || place === "kill service";
  if (isInService && step === "remainder") await actions.session(world, purchase, "error");
  if (place === "service" && step === "order") {
    world.database.set({ pattern: deadlyStatements["order committed"] as RegExp, fault: "cut-before" });
  }
}

function linkOf({ giftcards }: World, { step, point }: Cell, purchase: Purchase): FaultyLink {
  const isUndoing = step === "remainder" || step === "order" || step === "decline";
  const isCharging = step === "devalue" || step === "again";
  // With two cards it is the second that fails.
  const cards = step === "quote" || isCharging ? purchase.cards.length - 1 : 0;
  return {
    proxy: giftcards.proxy,
    operations: isUndoing ? ["canceldevalue"] : isCharging ? ["devalue"] : operations,
    skip: purchase.units === null ? cards : skipOf(point, purchase),
    isAlone: !isUndoing,
  };
}

function trap({ giftcards, database, bank }: World, { point }: Cell, purchases: readonly Purchase[]): Trap {
  const { proxy } = giftcards;
  const since = proxy.seen.length;
  const times = purchases.length;
  const base = basePoint(point);
  const pattern = deadlyStatements[base];
  const operation = base.endsWith("on its way") ? (base.split(" ")[0] as string) : "";
  // A death at one of several charges is of one purchase.
  const skip = skipOf(point, purchases[0] as Purchase);
  if (pattern) database.set({ pattern, fault: "hold", times, skip });
  if (operation) proxy.set(operation, "hold", undefined, skip);
  return {
    isReached() {
      if (pattern) return database.hits >= times;
      if (operation) {
        const seen = proxy.seen.slice(since).filter((call) => call.operation === operation);
        return seen.length >= times + skip;
      }
      return purchases.every(({ cartId }) =>
        bank.deeds(cartId).some(({ deed }) => deed === (point === "bank asked" ? "ask" : "authorize")),
      );
    },
    async release() {
      await proxy.release();
      database.release();
    },
  };
}

async function goOn(world: World, step: Step, purchase: Purchase): Promise<void> {
  const again = async (action: (typeof actions)["quote"]) => {
    for (let tries = 0; tries < 3; tries += 1) {
      if (await action(world, purchase)) return;
      await pause(500);
    }
  };
  if (step === "quote") await again(actions.quote);
  if (step === "quote" || step === "session") await again((w, p) => actions.session(w, p));
  if (step === "quote" || step === "session" || step === "purchase") {
    await again((w, p) => isOrder(actions.complete(w, p)));
  }
  if (step === "again") await again((w, p) => isOrder(actions.complete(w, p)));
  if (step === "capture" || step === "cancel" || step === "refund") await again(actions[step]);
  if (step === "give back") {
    // Each response may cover a part; at the end, nothing is owed.
    for (let times = 0; times < 3; times += 1) await again(actions[step]);
  }
}

async function age({ shopBooks }: World, { cartId }: Purchase): Promise<void> {
  await shopBooks.query("update giftcard_charge set next_try_at = now() where cart_id = $1", [cartId]);
}

async function recover({ storefront }: World): Promise<boolean> {
  const answer = await storefront.send("POST", "/admin/giftcard-pay/recover", {}).catch(() => undefined);
  return answer?.status === 200;
}

/** A person who is asked looks at the card again: a call that was held may have arrived since. */
async function askAgain({ storefront, shopBooks }: World, { cartId }: Purchase): Promise<void> {
  const { rows } = await shopBooks.query(
    "select reference from giftcard_charge where cart_id = $1 and state = 'needs_attention'",
    [cartId],
  );
  for (const { reference } of rows) {
    await storefront.send("POST", `/admin/giftcard-pay/charges/${reference}/retry`, {});
  }
}
