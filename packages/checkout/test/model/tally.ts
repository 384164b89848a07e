import type { MethodName } from "./other-method.js";
import type { StoreName } from "./stage.js";
import type { Setting, Step } from "./steps.js";
import type { World } from "./world.js";

/** The definition of a sequence. */
export interface Sequence {
  readonly setting: Setting;
  readonly steps: readonly Step[];
}

/** The source of a sequence: its store, and fast-check's seed and path. */
export interface Origin {
  readonly store: StoreName;
  readonly method: MethodName;
  readonly seed: number;
  readonly path: string;
}

/** A kind of violation, with its shortest sequence. */
export interface Finding extends Origin {
  readonly kind: string;
  readonly text: string;
  readonly sequence: Sequence;
  /** Each step with its result. */
  readonly log: readonly string[];
  /** The number of sequences with it. */
  readonly times: number;
}

/** The counts of concurrent sequences. */
export class Tally {
  readonly #findings = new Map<string, Finding>();
  /** The number of calls by result. */
  readonly outcomes: Record<string, number> = {};
  /** Sequences. */
  done = 0;
  /** The orders that someone began to pay. */
  orders = 0;
  /** The number of sequences with violations. */
  violations = 0;
  /** Including those that search for a shorter one. */
  plays = 0;

  get findings(): readonly Finding[] {
    return [...this.#findings.values()];
  }

  /** Counts a sequence. Returns a new kind of violation, if there is one. */
  count(world: World, origin: Origin): string | undefined {
    this.done += 1;
    this.orders += world.begunOrders;
    for (const outcome of world.outcomes) this.outcomes[outcome] = (this.outcomes[outcome] ?? 0) + 1;
    const { violations } = world;
    if (violations.length > 0) this.violations += 1;
    const fresh = violations.find(({ kind }) => !this.#findings.has(kind))?.kind;
    for (const kind of new Set(violations.map((violation) => violation.kind))) {
      const known = this.#findings.get(kind);
      if (known) this.#findings.set(kind, { ...known, times: known.times + 1 });
      else this.note(kind, world, origin);
    }
    return fresh;
  }

  /** Stores the shortest sequence of its kind. */
  note(kind: string, world: World, origin: Origin): void {
    const times = this.#findings.get(kind)?.times ?? 1;
    const text = world.violations.find((violation) => violation.kind === kind)?.text ?? "";
    const sequence = { setting: world.setting, steps: [...world.steps] };
    this.#findings.set(kind, { ...origin, kind, text, sequence, log: [...world.log], times });
  }
}
