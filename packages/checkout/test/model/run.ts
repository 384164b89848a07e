import fc from "fast-check";
import { checkBooks } from "./books.js";
import type { MethodName } from "./other-method.js";
import { PlayedError } from "./played-error.js";
import type { StoreName } from "./stage.js";
import { type Setting, type Step, settings, steps } from "./steps.js";
import { type Finding, type Sequence, Tally } from "./tally.js";
import { type Place, World } from "./world.js";
import { openYard, type Yard } from "./yard.js";

/** The options of a run. */
export interface ModelOptions {
  /** A running PostgreSQL. */
  readonly postgresUrl: string;
  readonly seed: number;
  readonly sequences: number;
  /** The maximum time; the run then has fewer sequences. */
  readonly minutes?: number;
  /** Default both. */
  readonly stores?: readonly StoreName[];
  /** The other payment method. Default: the model's own bank. */
  readonly method?: MethodName;
  /** The number of concurrent sequences, each on its own store. Default 6. */
  readonly atOnce?: number;
  /** Runs only this sequence, once on each store. */
  readonly only?: Sequence;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, findings: readonly Finding[]) => void;
}

/** The result of a run, with its violations. */
export interface ModelResult {
  readonly seed: number;
  readonly sequences: number;
  /** The orders that someone began to pay. */
  readonly orders: number;
  /** The number of sequences with violations. */
  readonly violations: number;
  readonly findings: readonly Finding[];
  /** The number of calls by result. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** All sequences, including those that search for a shorter one. */
  readonly plays: number;
  readonly seconds: number;
}

const LONGEST_SEQUENCE = 14;
/** The limits of the search for a shorter sequence. */
const MOST_SHRINKS = 80;
const LONGEST_SHRINKING_MS = 60_000;
/** The distance between the seeds of two slots, so that they never overlap. */
const SEED_STRIDE = 1_000_003;

/** A command of fast-check, which can remove steps. */
class TakeStep implements fc.AsyncCommand<World, World> {
  readonly step: Step;
  constructor(step: Step) {
    this.step = step;
  }
  check = () => true;
  run = (world: World) => world.take(this.step);
  toString = () => JSON.stringify(this.step);
}

const anySequence = fc.tuple(
  settings,
  fc.commands([steps.map((step) => new TakeStep(step))], {
    maxCommands: LONGEST_SEQUENCE,
    size: "max",
  }),
);

/** The sequence of a seed and a path, before it is shortened. */
export function sequenceOf(seed: number, path: string): Sequence {
  const [sampled] = fc.sample(anySequence, { seed, path, numRuns: 1 });
  if (!sampled) throw new Error("There is no such sequence.");
  const [setting, commands] = sampled;
  return { setting, steps: [...commands].map((command) => JSON.parse(String(command)) as Step) };
}

/** Runs random sequences against the real service, and returns the violations. */
export async function runModel(options: ModelOptions): Promise<ModelResult> {
  const {
    seed,
    minutes = Number.POSITIVE_INFINITY,
    stores = ["sqlite", "postgres"],
    only,
    method = "stripe",
  } = options;
  const startedAt = performance.now();
  const endsAt = startedAt + minutes * 60_000;
  const tally = new Tally();
  process.on("unhandledRejection", tellRejection);
  const yard = await openYard(options.postgresUrl);
  try {
    const slots = only ? stores.length : (options.atOnce ?? 6);
    const played = Array.from({ length: slots }, async (_, slot) => {
      const store = stores[slot % stores.length] as StoreName;
      const player = new Player(yard, await yard.place(store, method), { store, method }, tally);
      if (only) return player.playOnly(only, seed);
      const isOver = () =>
        tally.done >= options.sequences || performance.now() > endsAt || options.signal?.aborted === true;
      await player.playMany(seed + slot * SEED_STRIDE, isOver, () => options.onProgress?.(tally.done, tally.findings));
    });
    // All of them end before their stores are closed.
    for (const end of await Promise.allSettled(played)) if (end.status === "rejected") throw end.reason;
  } finally {
    await yard.close();
    process.off("unhandledRejection", tellRejection);
  }
  const { done: sequences, orders, violations, findings, outcomes, plays } = tally;
  const seconds = (performance.now() - startedAt) / 1000;
  return { seed, sequences, orders, violations, findings, outcomes, plays, seconds };
}

function tellRejection(error: unknown): void {
  if (!(error instanceof PlayedError)) throw error;
  error.onUnhandled();
}

/** Runs one sequence after the other in a slot. */
class Player {
  readonly #yard: Yard;
  readonly #place: Place;
  readonly #kind: { readonly store: StoreName; readonly method: MethodName };
  readonly #tally: Tally;

  constructor(yard: Yard, place: Place, kind: { store: StoreName; method: MethodName }, tally: Tally) {
    this.#yard = yard;
    this.#place = place;
    this.#kind = kind;
    this.#tally = tally;
  }

  async playOnly({ setting, steps }: Sequence, seed: number): Promise<void> {
    const world = await this.#play(setting, async (world) => {
      for (const step of steps) await world.take(step);
    });
    this.#tally.count(world, { ...this.#kind, seed, path: "" });
  }

  /** For a new kind of violation, searches the shortest sequence, and continues. */
  async playMany(firstSeed: number, isOver: () => boolean, onPlayed: () => void): Promise<void> {
    for (let seed = firstSeed; !isOver(); seed += 1) {
      const search = { kind: "", left: MOST_SHRINKS, endsAt: Number.POSITIVE_INFINITY };
      let index = -1;
      const property = fc.asyncProperty(anySequence, async ([setting, commands]) => {
        const isSearching = search.kind !== "";
        if (isSearching ? search.left-- <= 0 || performance.now() > search.endsAt : isOver()) return;
        if (!isSearching) index += 1;
        const world = await this.#play(setting, (world) =>
          fc.asyncModelRun(() => ({ model: world, real: world }), commands),
        );
        const origin = { ...this.#kind, seed, path: String(index) };
        if (isSearching) {
          if (!world.violations.some(({ kind }) => kind === search.kind)) return;
          this.#tally.note(search.kind, world, origin);
        } else {
          search.kind = this.#tally.count(world, origin) ?? "";
          search.endsAt = performance.now() + LONGEST_SHRINKING_MS;
          onPlayed();
        }
        if (search.kind !== "") throw new Error(search.kind);
      });
      const { failed, errorInstance } = await fc.check(property, { seed, numRuns: 1_000 });
      // A failure of the model itself is no violation.
      if (failed && search.kind === "") throw errorInstance;
    }
  }

  async #play(setting: Setting, steps: (world: World) => Promise<void>): Promise<World> {
    this.#tally.plays += 1;
    const cards = await this.#yard.cards.take(setting.balances);
    const world = new World(this.#place, String(this.#tally.plays), setting, cards);
    await world.begin();
    await steps(world);
    await checkBooks(world);
    return world;
  }
}
