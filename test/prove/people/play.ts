import { actAsAdmin, orderIdOf } from "./admins.js";
import { bankActions } from "./bank-actions.js";
import type { Scene } from "./call.js";
import { issueUnlike } from "./cards.js";
import { createSignal, type LivingCart, newMoments, type Round } from "./round.js";
import type { Actor, AdminStep, BankStep, CartPlan, Scenario, ShopperStep, Step } from "./scenario.js";
import { addressIn, shopperActions } from "./shoppers.js";
import type { Stage } from "./stage.js";
import { changeWeather } from "./weather.js";

const POLL_MS = 40;
/** How long admins wait for an order after the last shopper and bank step. */
const PATIENCE_MS = 1500;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Issues the cards, creates the carts and runs all actors at once. Resolves after the last actor's last step. */
export async function play(stage: Stage, scenario: Scenario): Promise<Round> {
  const { world } = stage;
  const [cards, carts] = await Promise.all([
    issueUnlike(world.giftcards, scenario.cards),
    Promise.all(scenario.carts.map((plan, index) => openCart(stage, plan, index))),
  ]);
  const round: Round = {
    ...{ scenario, cards, carts, entries: [], startedAt: performance.now() },
    ...{ callsBefore: world.giftcards.proxy.seen.length, logsBefore: world.logs().map((log) => log.length) },
  };
  await Promise.all([
    ...carts.map((cart) => playCart(stage, round, cart)),
    ...scenario.actors.filter(({ role }) => role === "weather").map((actor) => changeWeather(stage, round, actor)),
  ]);
  world.giftcards.proxy.clear();
  await world.restore();
  round.entries.sort((a, b) => a.atMs - b.atMs);
  return round;
}

async function openCart(stage: Stage, { items, codes, delivery }: CartPlan, index: number): Promise<LivingCart> {
  const { storefront } = stage.world;
  const address = addressIn("nl");
  const { cart } = await storefront.ok("POST", "/store/carts", {
    ...{ region_id: stage.regions[0]?.id, email: "ada@example.com" },
    ...{ shipping_address: address, billing_address: address },
    items: items.map(({ good, quantity }) => ({ variant_id: stage.variantIds[good], quantity })),
  });
  const option = { option_id: stage.shippingOptionIds[delivery] };
  await storefront.ok("POST", `/store/carts/${cart.id}/shipping-methods`, option);
  // Medusa applies a code for free delivery only if the cart has a delivery.
  if (codes.length > 0) await storefront.ok("POST", `/store/carts/${cart.id}/promotions`, { promo_codes: codes });
  return {
    ...{ index, id: cart.id, session: null, cardIds: [], began: newMoments() },
    itemIds: cart.items.map(({ id }: { id: string }) => id),
  };
}

async function playCart(stage: Stage, round: Round, cart: LivingCart): Promise<void> {
  const actors = round.scenario.actors.filter((actor) => actor.cart === cart.index);
  const isAdmin = ({ role }: Actor) => role === "admin";
  const run = (actor: Actor) => playActor({ stage, round, actor, cart, name: nameOf(round, actor) });
  const over = createSignal();
  const watching = actors.some(isAdmin) ? watchForOrder(stage, cart, over.happened) : undefined;
  const admins = actors.filter(isAdmin).map(run);
  const others = actors.filter((actor) => !isAdmin(actor));
  const isLed = ({ steps: [first] }: Actor) => first?.after !== undefined;
  const led = others.filter(isLed).map(run);
  await Promise.all(others.filter((actor) => !isLed(actor)).map(run));
  for (const moment of ["session", "completing"] as const) cart.began[moment].end(false);
  await Promise.all(led);
  if (watching) await pause(PATIENCE_MS);
  over.end(true);
  for (const moment of ["order", "answered"] as const) cart.began[moment].end(false);
  await Promise.all([watching, ...admins]);
}

/** Signals the cart's order as soon as Medusa's tables have it, which is before the completion is answered. */
async function watchForOrder(stage: Stage, cart: LivingCart, over: Promise<boolean>): Promise<void> {
  let isOver = false;
  void over.then(() => (isOver = true));
  while (!isOver && !(await orderIdOf({ stage, cart }))) await pause(POLL_MS);
  cart.began.order.end(!isOver);
}

function nameOf({ scenario }: Round, actor: Actor): string {
  const alike = scenario.actors.filter(({ role, cart }) => role === actor.role && cart === actor.cart);
  const number = alike.length > 1 ? ` ${"abcdef"[alike.indexOf(actor)]}` : "";
  return `${actor.role}${number} of cart ${actor.cart}`;
}

async function playActor(scene: Scene): Promise<void> {
  for (const step of scene.actor.steps) {
    if (step.after && !(await scene.cart.began[step.after].happened)) return;
    if (step.waitMs) await pause(step.waitMs);
    const clicks = Array.from({ length: step.times ?? 1 }, async (_, index) => {
      await pause(index * (step.gapMs ?? 0));
      await act(scene, step);
    });
    await Promise.all(clicks);
  }
}

function act(scene: Scene, step: Step): Promise<unknown> {
  const { role } = scene.actor;
  if (role === "admin") return actAsAdmin(scene, { ...step, do: step.do as AdminStep });
  if (role === "bank") return bankActions[step.do as BankStep](scene, step);
  return shopperActions[step.do as ShopperStep](scene, step);
}
