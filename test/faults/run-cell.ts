import type { SeenCall } from "../support/fault-proxy.js";
import { judge, type Verdict } from "./books.js";
import { type Cell, type ServiceFault, statements } from "./cells.js";
import { actions, begin, type Purchase, type Step } from "./purchase.js";
import { LEASE_MS, type World } from "./world.js";

/** How a cell ended. */
export interface CellResult {
  readonly cell: Cell;
  readonly verdict: Verdict;
  /** Calls at the proxy, each with how often it came. */
  readonly calls: Readonly<Record<string, number>>;
  readonly seconds: number;
}

const SETTLE_MS = 20_000;
const operations = ["balance", "devalue", "canceldevalue"];
export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Buys through one fault in a network, lets recovery run, and reads the books. */
export async function runNetworkCell(world: World, cell: Cell): Promise<CellResult> {
  const startedAt = performance.now();
  const since = world.proxy.seen.length;
  const purchase = await begin(world, cell.kind);
  world.proxy.withoutExtension(cell.place === "plain service");
  try {
    await approach(world, cell.step, purchase);
    await fail(world, cell, purchase);
    calm(world);
    world.proxy.withoutExtension(cell.place === "plain service");
    await goOn(world, cell.step, purchase);
    return await conclude(world, cell, purchase, since, startedAt);
  } finally {
    calm(world);
    world.database.release();
    await world.proxy.release();
  }
}

function calm({ proxy, database }: World): void {
  proxy.clear();
  database.clear();
}

/** Takes the steps before the one in which it goes wrong. */
export async function approach(world: World, step: Cell["step"], purchase: Purchase): Promise<void> {
  const must = async (what: string, done: Promise<boolean>) => {
    if (!(await done)) throw new Error(`${what} failed before the fault`);
  };
  if (step === "quote") return;
  await must("applying the cards", actions.quote(world, purchase));
  if (step === "session" && purchase.remainderCents > 0) return;
  await must("starting the payment", actions.session(world, purchase));
  if (step === "capture" || step === "cancel" || step === "refund") {
    await must("placing the order", isOrder(actions.complete(world, purchase)));
    if (step === "refund") await must("capturing", actions.capture(world, purchase));
  }
  if (step === "recovery") {
    world.proxy.set("devalue", "cut-after", 1);
    world.proxy.set("canceldevalue", "cut-before");
    await actions.complete(world, purchase);
    world.proxy.set("canceldevalue", "pass");
  }
}

const isOrder = async (answer: ReturnType<typeof actions.complete>) => (await answer)?.body?.type === "order";

/** The action that meets the fault. */
export async function act(world: World, step: Step | "purchase", purchase: Purchase): Promise<boolean> {
  switch (step) {
    case "quote":
      return actions.quote(world, purchase);
    case "session":
      // Where the cards cover all, the completion makes the session.
      if (purchase.remainderCents > 0) return actions.session(world, purchase);
      return isOrder(actions.complete(world, purchase));
    case "capture":
      return actions.capture(world, purchase);
    case "cancel":
      return actions.cancel(world, purchase);
    case "refund":
      return actions.refund(world, purchase);
    case "recovery":
      await ageOf(world, purchase);
      return world.recover();
    default:
      return isOrder(actions.complete(world, purchase));
  }
}

/** Sets the fault and takes the step; what is held is delivered when everybody has given it up. */
async function fail(world: World, cell: Cell, purchase: Purchase): Promise<void> {
  const { step, fault, place } = cell;
  if (place === "none") return;
  if (place === "database") {
    world.database.set({ pattern: statements[cell.point] as RegExp, fault: fault as never });
  } else await setServiceFault(world, cell, purchase);
  const acting = act(world, step, purchase);
  if (fault === "hold" && place === "database") {
    await Promise.race([until(() => world.database.hits > 0, SETTLE_MS), acting]);
    if (world.database.hits > 0) {
      // Recovery comes while the holder is frozen past its lease.
      await pause(LEASE_MS + 200);
      await Promise.race([world.recover(), pause(2000)]);
    }
    world.database.release();
  }
  await acting;
  if (place === "database" && world.database.hits === 0) throw new Error("the fault was never met");
  if (fault === "hold" && place !== "database") {
    await world.recover();
    await world.proxy.release();
  }
  await world.proxy.listen(true);
}

async function setServiceFault(world: World, cell: Cell, purchase: Purchase): Promise<void> {
  const { step } = cell;
  const fault = cell.fault as ServiceFault;
  const { proxy } = world;
  // Undoing comes after something else failed: the bank declines, or the database is gone for a moment.
  if (step === "remainder") await actions.session(world, purchase, "error");
  if (step === "order") {
    world.database.set({ pattern: statements["order committed"] as RegExp, fault: "cut-before" });
  }
  const isUndoing = step === "remainder" || step === "order";
  if (fault === "refuse" && !isUndoing) return proxy.listen(false);
  for (const operation of operations) {
    if (isUndoing && operation !== "canceldevalue") continue;
    if (step === "devalue" && operation !== "devalue") continue;
    // With two cards it is the second that fails.
    const skip = step === "quote" || step === "devalue" ? purchase.cards.length - 1 : 0;
    proxy.set(operation, fault === "refuse" ? "cut-before" : fault, undefined, skip);
  }
}

/** After the fault: who got an error tries again, and a purchase that hadn't come to its order goes on. */
export async function goOn(world: World, step: Cell["step"], purchase: Purchase): Promise<void> {
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
  if (step === "capture" || step === "cancel" || step === "refund") await again(actions[step]);
}

/** Makes the next try of what is owed due now: a retry's pause is minutes by and by. */
async function ageOf({ shopBooks }: World, { cartId }: Purchase): Promise<void> {
  await shopBooks.query("update giftcard_attempt set next_try_at = now() where cart_id = $1", [cartId]);
}

/** A person who is asked looks at the card again: a call that was held may have arrived since. */
async function askAgain({ storefront, shopBooks }: World, { cartId }: Purchase): Promise<void> {
  const { rows } = await shopBooks.query(
    "select reference from giftcard_attempt where cart_id = $1 and state = 'needs_attention'",
    [cartId],
  );
  for (const { reference } of rows) {
    await storefront.send("POST", `/admin/giftcard-pay/attempts/${reference}/retry`, {});
  }
}

/** Lets recovery run until the books are right, or its time is up. */
export async function conclude(
  world: World,
  cell: Cell,
  purchase: Purchase,
  since: number,
  startedAt: number,
): Promise<CellResult> {
  let verdict: Verdict;
  const giveUpAt = performance.now() + SETTLE_MS;
  for (;;) {
    await ageOf(world, purchase);
    await world.recover();
    if (cell.place === "plain service") await askAgain(world, purchase);
    verdict = await judge(world, purchase).catch((error: Error) => ({
      outcome: "open" as const,
      wrong: [error.message],
    }));
    if (verdict.wrong.length === 0 || performance.now() > giveUpAt) break;
    await pause(300);
  }
  const seen = world.proxy.seen.slice(since);
  const wrong = [...verdict.wrong, ...judgeCalls(seen, cell, purchase)];
  if (verdict.outcome !== "open" && !cell.ends.includes(verdict.outcome)) {
    wrong.push(`it ends ${verdict.outcome}, not ${cell.ends.join(" or ")}`);
  }
  return {
    ...{
      cell,
      verdict: { outcome: verdict.outcome, wrong },
      calls: count(seen.map((call) => call.operation)),
    },
    seconds: (performance.now() - startedAt) / 1000,
  };
}

/** Nothing ever sends a devalue twice; and a purchase without a fault costs one quote and one devalue a card. */
function judgeCalls(seen: readonly SeenCall[], cell: Cell, { cards }: Purchase): string[] {
  const devalues = seen.filter((call) => call.operation === "devalue");
  const byKey = count(devalues.map((call) => call.idempotencyKey ?? "none"));
  const wrong = Object.values(byKey).some((times) => times > 1) ? ["a devalue was sent twice"] : [];
  if (byKey.none) wrong.push("a devalue was sent without its key");
  if (cell.place !== "none") return wrong;
  const calls = count(seen.map((call) => call.operation));
  const isLeast =
    Object.keys(calls).length === 2 && calls.balance === cards.length && calls.devalue === cards.length;
  return isLeast ? wrong : [...wrong, `the purchase took ${JSON.stringify(calls)}`];
}

export function count(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

/** Waits until it holds. @throws when the time is up */
export async function until(holds: () => boolean | Promise<boolean>, timeoutMs: number): Promise<void> {
  const giveUpAt = performance.now() + timeoutMs;
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error(`it didn't come to it in ${timeoutMs / 1000} s`);
    await pause(20);
  }
}
