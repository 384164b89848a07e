import fc from "fast-check";
import { Deeds } from "./deeds.js";
import { during, withVirtualGlobals } from "./globals.js";
import { compare, settle } from "./judge.js";
import { MemoryStore } from "./memory-store.js";
import type { Plan } from "./plan.js";
import { plans } from "./plans.js";
import { Random } from "./random.js";
import { type Violation, World } from "./world.js";

/** A played history. */
export interface Played {
  readonly violations: readonly Violation[];
  /** How many events it had. */
  readonly steps: number;
  /** Its log, if it was asked for. */
  readonly lines: readonly string[];
}

/** A history that has broken a promise. */
export interface Failure {
  readonly seed: number;
  /** The path to the smallest history that breaks the same promise. */
  readonly path: string;
  readonly plan: Plan;
  readonly violations: readonly Violation[];
}

/** The result of many histories. */
export interface Result {
  readonly histories: number;
  readonly steps: number;
  readonly failures: readonly Failure[];
}

/** How many histories the smallest one is looked for in. */
const MOST_SHRINKS = 2000;

/** Plays histories, one after another, in one process. */
export class Simulation {
  readonly #memory = new MemoryStore();

  /** Plays a history, and judges it. */
  async play(plan: Plan, isTold = false): Promise<Played> {
    this.#memory.clear();
    const world = new World(plan, this.#memory, isTold);
    const random = new Random(plan.pace ^ 0x5bd1e995);
    await during({ clock: world.clock, random }, async () => {
      await world.open();
      const deeds = new Deeds(world);
      deeds.begin();
      if (!(await world.clock.run())) world.violate("it never ends", "");
      deeds.checkEnded();
      await settle(world);
      await compare(world);
    });
    return { violations: world.violations, steps: world.clock.steps, lines: world.lines };
  }

  /** Plays the history of a seed. If it breaks a promise, shrinks it. */
  async check(seed: number, isShrunk = true): Promise<{ failure: Failure | undefined; steps: number }> {
    let steps = 0;
    let first: Played | undefined;
    let runs = 0;
    const property = fc.asyncProperty(plans, async (plan) => {
      runs += 1;
      if (runs > MOST_SHRINKS) return true;
      const played = await this.play(plan);
      if (runs === 1) steps = played.steps;
      if (played.violations.length === 0) return true;
      first ??= played;
      const kinds = first.violations.map(({ kind }) => kind);
      return !played.violations.some(({ kind }) => kind === kinds[0]);
    });
    const details = await fc.check(property, { seed, numRuns: 1, unbiased: true, endOnFailure: !isShrunk });
    if (!details.failed || !details.counterexample || !first) return { failure: undefined, steps };
    const [plan] = details.counterexample;
    const { violations } = await this.play(plan);
    return { failure: { seed, path: details.counterexamplePath ?? "", plan, violations }, steps };
  }

  /** Returns the plan of a seed, or of the path to a smaller one. */
  planOf(seed: number, path?: string): Plan {
    let found: Plan | undefined;
    const property = fc.property(plans, (plan) => {
      // A path is followed by the plans next to its end.
      found ??= plan;
    });
    fc.check(property, { seed, numRuns: 1, unbiased: true, endOnFailure: true, ...(path ? { path } : {}) });
    if (!found) throw new TypeError(`The seed ${seed} has no path ${path}.`);
    return found;
  }
}

/** The histories to play. */
export interface RunOptions {
  /** The seed of the first history; the next ones have the next seeds. */
  readonly seed: number;
  readonly histories: number;
  /** How many failures end it. Default 1. */
  readonly mostFailures?: number;
  readonly isShrunk?: boolean;
  readonly signal?: AbortSignal;
  /** No further history begins after so many milliseconds. */
  readonly forMs?: number;
  readonly onProgress?: (histories: number, failures: number) => void;
}

/** Plays many histories. */
export async function runHistories(options: RunOptions): Promise<Result> {
  const { seed, histories, mostFailures = 1, isShrunk = true, signal, forMs = Number.POSITIVE_INFINITY } = options;
  const failures: Failure[] = [];
  let steps = 0;
  let played = 0;
  const startedAt = performance.now();
  await withVirtualGlobals(async () => {
    const simulation = new Simulation();
    while (played < histories && failures.length < mostFailures && !signal?.aborted) {
      if (performance.now() - startedAt > forMs) break;
      const checked = await simulation.check(seed + played, isShrunk);
      played += 1;
      steps += checked.steps;
      if (checked.failure) failures.push(checked.failure);
      options.onProgress?.(played, failures.length);
    }
  });
  return { histories: played, steps, failures };
}

/** Plays the history of a seed again, with its log. */
export async function replay(seed: number, path?: string): Promise<Played & { readonly plan: Plan }> {
  return withVirtualGlobals(async () => {
    const simulation = new Simulation();
    const plan = simulation.planOf(seed, path);
    return { plan, ...(await simulation.play(plan, true)) };
  });
}
