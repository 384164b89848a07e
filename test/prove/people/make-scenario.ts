import { createRandom, type Random } from "./random.js";
import {
  type Actor,
  type AdminStep,
  type BankWay,
  type CartPlan,
  codes,
  type Good,
  goods,
  type Scenario,
  type ShopperStep,
  type Step,
  totalCentsOf,
} from "./scenario.js";

const goodNames = Object.keys(goods) as Good[];

/** Makes a round from its seed: the actors, their steps and the pauses between the steps. */
export function makeScenario(seed: number, cartCount = 4): Scenario {
  const random = createRandom(seed);
  const carts = Array.from({ length: cartCount }, (): CartPlan => {
    const isPlain = random.chance(0.2);
    const count = random.pick([1, 1, 1, 2, 2, 3]);
    return {
      isPlain,
      items: random
        .shuffle(goodNames)
        .slice(0, count)
        .map((good) => ({ good, quantity: random.chance(0.5) ? 1 : random.int(2, mostOf(good)) })),
      codes: random.chance(0.5) ? [random.pick(codes)] : [],
      delivery: random.chance(0.3) ? 1 : 0,
    };
  });
  const cards: number[] = [];
  const issue = (cents: number) => cards.push(cents) - 1;
  const shared = issue(amount(random));
  const actors = carts.flatMap((cart, index) =>
    cart.isPlain
      ? plainActors(random, index, cart, issue)
      : livelyActors(random, index, () => (random.chance(0.2) ? shared : issue(amount(random)))),
  );
  const weather = random.chance(0.3) ? [makeWeather(random)] : [];
  // If networks or processes fail, even an undisturbed purchase is not promised to succeed.
  const promised = weather.length > 0 ? carts.map((cart) => ({ ...cart, isPlain: false })) : carts;
  const charges = random.chance(0.6) ? "by-line" : "whole";
  return { seed, charges, cards, carts: promised, actors: [...actors, ...weather] };
}

/** Returns the largest quantity of a product: more if it is cheap. */
const mostOf = (good: Good) => (goods[good] < 1000 ? 13 : goods[good] < 5000 ? 5 : 3);

const amount = (random: Random) =>
  random.chance(0.6) ? random.pick([1000, 2000, 2500, 4000, 5000, 5000, 7500]) : random.int(100, 12_000);

const medusaOf = (random: Random) => (random.chance(0.75) ? 0 : 1);

function plainActors(random: Random, cart: number, plan: CartPlan, issue: (cents: number) => number): Actor[] {
  const totalCents = totalCentsOf(plan);
  const steps: Step[] = [];
  let leftCents = totalCents;
  for (const cents of random.chance(0.5) ? coveringCards(totalCents) : [amount(random)]) {
    steps.push({ do: "apply", n: issue(cents) });
    leftCents -= Math.min(cents, 5000, leftCents);
  }
  const how: BankWay = random.chance(0.8) ? "authorized" : "captured";
  if (leftCents > 0) steps.push({ do: "session", how });
  steps.push({ do: "complete", times: random.chance(0.7) ? 2 : 1, gapMs: random.int(0, 400) });
  const shopper: Actor = { role: "shopper", cart, medusa: medusaOf(random), steps };
  return random.chance(0.6) ? [shopper, ...makeAdmins(random, cart, "answered")] : [shopper];
}

/** Returns balances of at most four cards, up to 50.00 each. They cover a cart of up to 200.00. */
function coveringCards(totalCents: number): number[] {
  const count = Math.min(4, Math.ceil(totalCents / 5000));
  return Array.from({ length: count }, (_, index) => Math.min(5000, Math.max(100, totalCents - index * 5000)));
}

function livelyActors(random: Random, cart: number, cardOf: () => number): Actor[] {
  const medusa = medusaOf(random);
  const wait = (to: number) => (random.chance(0.5) ? {} : { waitMs: random.int(0, to) });
  const apply = (): Step => ({ do: random.chance(0.8) ? "apply" : "quote and apply", n: cardOf() });
  const how = random.weighted<BankWay>({
    ...{ authorized: 51, captured: 8, asks: 8, error: 4, later: 6, webhook: 14, pays: 9 },
  });
  const session = (): Step => ({ do: "session", how });
  const applied = Array.from({ length: random.pick([1, 1, 1, 2, 2, 3]) }, apply);
  const steps: Step[] = [...applied];
  if (random.chance(0.3)) steps.push(changeOf(random, apply));
  if (random.chance(0.92)) steps.push(session());
  if (random.chance(0.25)) steps.push(changeOf(random, apply), ...(random.chance(0.6) ? [session()] : []));
  const click = (): Step => ({
    do: "complete",
    ...(random.chance(0.35) && { times: 2, gapMs: random.int(0, 600) }),
    ...wait(400),
  });
  if (random.chance(0.95)) steps.push(click());
  // Shoppers whose first attempt got no order start the payment again.
  if (random.chance(0.5)) steps.push({ ...session(), ...wait(300) }, click());
  if (random.chance(0.2)) steps.push(changeOf(random, apply));
  const shopper: Actor = {
    ...{ role: "shopper", cart, medusa },
    steps: random.chance(0.12) ? random.shuffle(steps) : steps,
  };
  const actors = [shopper];
  for (let tabs = random.weighted({ 0: 4, 1: 5, 2: 1 }); Number(tabs) > actors.length - 1; ) {
    actors.push(makeTab(random, cart, apply, session));
  }
  if (how === "webhook" || how === "pays" || (how === "later" && random.chance(0.7)))
    actors.push(makeBank(random, cart, how));
  if (random.chance(0.65)) actors.push(...makeAdmins(random, cart));
  return actors;
}

/** Makes a second tab that acts around the moment at which the first one pays. */
function makeTab(random: Random, cart: number, apply: () => Step, session: () => Step): Actor {
  const steps = Array.from({ length: random.int(1, 3) }, (_, index): Step => {
    const step = random.chance(0.15) ? session() : changeOf(random, apply, true);
    const after = random.chance(0.8) ? "completing" : "session";
    return index > 0 ? step : { ...step, after, waitMs: random.int(0, 1000) };
  });
  return { role: "shopper", cart, medusa: medusaOf(random), steps };
}

function changeOf(random: Random, apply: () => Step, isInTab = false): Step {
  const name = random.weighted<ShopperStep>({
    ...{ remove: 30, apply: 20, quantity: 10, "add item": 4, shipping: 5, promotion: 6, "no promotion": 3 },
    ...{ "e-mail": 3, region: 3, look: 3, ...(isInTab && { complete: 30 }) },
  });
  if (name === "apply") return apply();
  if (name === "complete") return { do: name, ...(random.chance(0.2) && { times: 2, gapMs: 50 }) };
  return { do: name, n: random.int(0, 4) };
}

function makeBank(random: Random, cart: number, how: BankWay): Actor {
  const says = how === "pays" || random.chance(0.3) ? "captured" : "authorized";
  const first: Step = { do: how === "pays" ? "pay" : "webhook", how: says, after: "session" };
  const steps: Step[] = [{ ...first, waitMs: random.int(0, 1500) }];
  // A bank repeats a webhook that was not acknowledged, so webhooks may arrive late or twice.
  if (how === "pays" || random.chance(0.3)) {
    steps.push({ do: "webhook", how: says, waitMs: random.int(0, 2000) });
  }
  return { role: "bank", cart, medusa: medusaOf(random), steps };
}

function makeAdmins(random: Random, cart: number, after?: "answered"): Actor[] {
  const count = random.chance(0.2) ? 2 : 1;
  return Array.from({ length: count }, (): Actor => {
    const begins = after ?? (random.chance(0.2) ? "order" : "answered");
    const steps = adminSteps(random).map((step, index): Step => {
      if (index > 0) return random.chance(0.5) ? step : { ...step, waitMs: random.int(0, 400) };
      return { ...step, after: begins, waitMs: random.int(0, 800) };
    });
    return { role: "admin", cart, medusa: medusaOf(random), steps };
  });
}

/** Makes random steps in any order, or the usual ones: capture, fulfill and return (or edit), and refund. */
function adminSteps(random: Random): Step[] {
  const some = (from: number, to: number) => Array.from({ length: random.int(from, to) }, () => adminStep(random));
  if (random.chance(0.6)) return some(1, 4);
  const step = (name: AdminStep): Step => ({ do: name, n: random.int(0, 100) });
  const back = random.chance(0.3) ? [step("edit")] : [step("fulfil"), step("return")];
  const giveBack = (): Step => ({ ...step("give back"), ...(random.chance(0.3) && { times: 2, gapMs: 30 }) });
  const then = [[step("return"), giveBack()], [step("refund card")], some(0, 2)];
  return [step("capture"), ...back, giveBack(), ...random.pick(then)];
}

function adminStep(random: Random): Step {
  const name = random.weighted<AdminStep>({
    ...{ capture: 22, "capture bank": 8, "capture card": 8, "refund bank": 10, "refund card": 10 },
    ...{ edit: 14, fulfil: 8, return: 10, "give back": 18, cancel: 10, recover: 6 },
  });
  if (name === "cancel" && random.chance(0.4)) return { do: name, times: 2, gapMs: random.int(0, 200) };
  return { do: name, n: random.int(0, 100) };
}

function makeWeather(random: Random): Actor {
  const steps = Array.from({ length: random.int(1, 2) }, (): Step => {
    const name = random.weighted({ "lose answer": 80, "restart service": 14, "restart Medusa": 6 });
    const waitMs = random.int(200, 2500);
    if (name !== "lose answer") return { do: name as "restart service" | "restart Medusa", waitMs };
    const operation = random.weighted({ devalue: 6, canceldevalue: 3, balance: 1 });
    const fault = random.pick(["cut-before", "cut-after", "error", "busy", "garbage", "half", "delay"]);
    return { do: "lose answer", how: `${operation} ${fault}`, n: random.int(1, 2), waitMs };
  });
  return { role: "weather", cart: -1, medusa: 0, steps };
}
