import { readBooks } from "./books.js";
import { judgeAnswers } from "./judge-answers.js";
import type { Violation } from "./judge-books.js";
import { tellStory } from "./log.js";
import { play } from "./play.js";
import type { Actor, Scenario } from "./scenario.js";
import { settle } from "./settle.js";
import type { Stage } from "./stage.js";

/** Concurrent steps interleave differently each time, so each candidate gets several tries. */
const TRIES_EACH = 2;

/** Violations in answers. All other kinds are about money, and are never shrunk to one of these. */
const toldKinds = ["5xx", "no answer", "unnamed refusal", "said nothing was taken", "plain purchase failed"];

/** Returns the most serious kinds of violations: a shorter scenario with a lesser kind would hide them. */
function gravestOf(violations: readonly Violation[]): ReadonlySet<string> {
  const kinds = violations.map(({ kind }) => kind);
  const money = kinds.filter((kind) => !toldKinds.includes(kind));
  return new Set(money.length > 0 ? money : kinds);
}

export interface Shorter {
  readonly scenario: Scenario;
  readonly story: string;
}

/**
 * Replays a violated scenario with fewer carts, actors and steps, as long as the same promise is still broken.
 * @param options.tries the most replays
 * @returns null if the violation never happened again
 */
export async function shrink(
  stage: Stage,
  scenario: Scenario,
  violations: readonly Violation[],
  { tries, signal }: { tries: number; signal?: AbortSignal | undefined },
): Promise<Shorter | null> {
  const kinds = gravestOf(violations);
  let best: Shorter | null = null;
  let left = tries;
  const isStillWrong = async (candidate: Scenario) => {
    for (let turn = 0; turn < TRIES_EACH && left > 0 && !signal?.aborted; turn += 1) {
      left -= 1;
      const round = await play(stage, candidate);
      // Answers can be judged at once, without settling the round.
      const early = await readBooks(stage, round);
      const told = judgeAnswers(round, early).filter(({ kind }) => kinds.has(kind));
      const { violations: again, books } =
        told.length > 0 ? { violations: told, books: early } : await settle(stage, round);
      if (!again.some(({ kind }) => kinds.has(kind))) continue;
      best = { scenario: candidate, story: tellStory(stage, round, books, again) };
      return true;
    }
    return false;
  };
  let current = scenario;
  // First try to remove all carts without a violation at once.
  const concerned = [...new Set(violations.filter(({ kind }) => kinds.has(kind)).map(({ cart }) => cart))].filter(
    (cart) => cart >= 0,
  );
  const [narrow] = concerned.length > 0 ? [withCarts(scenario, concerned)] : [];
  if (narrow && narrow.carts.length < scenario.carts.length && (await isStillWrong(narrow))) current = narrow;
  for (let hasShrunk = true; hasShrunk && left > 0; ) {
    hasShrunk = false;
    for (const candidate of smallerOnes(current)) {
      if (left <= 0 || signal?.aborted) break;
      if (!(await isStillWrong(candidate))) continue;
      current = candidate;
      hasShrunk = true;
      break;
    }
  }
  return best;
}

/** Yields the scenario with one cart, one actor or one step less. */
function* smallerOnes(scenario: Scenario): Generator<Scenario> {
  const { actors, carts } = scenario;
  for (const cart of carts.length > 1 ? carts.keys() : []) {
    yield withCarts(
      scenario,
      [...carts.keys()].filter((other) => other !== cart),
    );
  }
  for (const actor of actors) {
    if (isPlainShopper(scenario, actor)) continue;
    yield { ...scenario, actors: actors.filter((other) => other !== actor) };
  }
  for (const actor of actors) {
    if (isPlainShopper(scenario, actor)) continue;
    for (const step of actor.steps.length > 1 ? actor.steps : []) {
      const shorter = { ...actor, steps: actor.steps.filter((other) => other !== step) };
      yield { ...scenario, actors: actors.map((other) => (other === actor ? shorter : other)) };
    }
  }
}

/** Returns whether an actor is a plain cart's shopper, whose purchase is promised to succeed only with all its steps. */
const isPlainShopper = ({ carts }: Scenario, { role, cart }: Actor) =>
  role === "shopper" && (carts[cart]?.isPlain ?? false);

function withCarts(scenario: Scenario, kept: readonly number[]): Scenario {
  const actors = scenario.actors
    .filter(({ cart }) => cart < 0 || kept.includes(cart))
    .map((actor) => (actor.cart < 0 ? actor : { ...actor, cart: kept.indexOf(actor.cart) }));
  return { ...scenario, carts: kept.flatMap((cart) => scenario.carts[cart] ?? []), actors };
}
