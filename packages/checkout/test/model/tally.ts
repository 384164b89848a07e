import type { StoreName } from "./stage.js";
import type { Setting, Step } from "./steps.js";
import type { World } from "./world.js";

/** Everything that makes a sequence. */
export interface Sequence {
  readonly setting: Setting;
  readonly steps: readonly Step[];
}

/** Where a sequence came from: the store it was played on, and fast-check's way to it. */
export interface Origin {
  readonly store: StoreName;
  readonly seed: number;
  readonly path: string;
}

/** A kind of violation as it was found first, in as few steps as could be. */
export interface Finding extends Origin {
  readonly kind: string;
  readonly text: string;
  readonly sequence: Sequence;
  /** Each step, and what it answered. */
  readonly log: readonly string[];
  /** In how many sequences it was seen. */
  readonly times: number;
}

/** What all that is played side by side counts together. */
export class Tally {
  readonly #findings = new Map<string, Finding>();
  /** How often calls came to what. */
  readonly outcomes: Record<string, number> = {};
  /** Sequences. */
  done = 0;
  /** Sequences that weren't as promised. */
  violations = 0;
  /** With those that only look for a shorter one. */
  plays = 0;

  get findings(): readonly Finding[] {
    return [...this.#findings.values()];
  }

  /** Counts a sequence. Gives a kind of violation that wasn't seen before, if there is one. */
  count(world: World, origin: Origin): string | undefined {
    this.done += 1;
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

  /** Keeps this one as the shortest sequence of its kind. */
  note(kind: string, world: World, origin: Origin): void {
    const times = this.#findings.get(kind)?.times ?? 1;
    const text = world.violations.find((violation) => violation.kind === kind)?.text ?? "";
    const sequence = { setting: world.setting, steps: [...world.steps] };
    this.#findings.set(kind, { ...origin, kind, text, sequence, log: [...world.log], times });
  }
}
