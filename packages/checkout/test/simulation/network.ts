import type { Clock, Owner } from "./clock.js";
import type { Fault, FaultKind, Place, Plan } from "./plan.js";
import { mix } from "./random.js";

/** A process of the shop. */
export class Process implements Owner {
  isAlive = true;
  frozenUntil = 0;
  /** Whether a call of it failed although it may have had an effect, so that it has to act without its store. */
  hasLostStore = false;
  /** Whether one of its calls is never answered. */
  hasHung = false;
  readonly calls: Record<Place, number> = { store: 0, issuer: 0, bank: 0 };

  /** @param id the number in the plan; a process that replaces a dead one has a higher one */
  constructor(readonly id: number) {}
}

/** A call of a process. */
export interface Call<T> {
  readonly place: Place;
  readonly name: string;
  /** Looks at the world when it is sent. */
  readonly onSend?: (() => void) | undefined;
  /** Has the call's effect. */
  readonly act: () => T | Promise<T>;
  /** Returns the error of a call that failed. */
  readonly failure: (kind: FaultKind) => unknown;
  /** Returns a wrong answer, or throws. */
  readonly garbled?: (() => T) | undefined;
  /** Whether it may arrive late, or twice. Default: yes. */
  readonly isAtOnce?: boolean | undefined;
  /** Whether its caller waits for it for ever. */
  readonly isUnlimited?: boolean | undefined;
  /** The caller's own timeout. */
  readonly timeoutMs?: number | undefined;
}

/** How a call ended. */
type Outcome<T> = { readonly value: T } | { readonly error: unknown };

const never = <T>() => new Promise<T>(() => {});

/** Delivers the calls of processes, in an order that the plan's pace decides, with its faults. */
export class Network {
  /** Whether calls fail. */
  hasFaults = true;
  readonly #faults: Map<string, Fault>;

  constructor(
    private readonly clock: Clock,
    private readonly plan: Pick<Plan, "pace" | "faults" | "slowMs">,
    private readonly log: (line: string) => void,
  ) {
    this.#faults = new Map();
    for (const fault of plan.faults.toReversed())
      for (let more = 0; more < fault.times; more += 1)
        this.#faults.set(`${fault.process} ${fault.place} ${fault.nth + more}`, fault);
  }

  /** Makes a call. The promise never settles once the process is dead. */
  call<T>(process: Process, call: Call<T>): Promise<T> {
    const { place } = call;
    const nth = process.calls[place];
    process.calls[place] = nth + 1;
    if (!process.isAlive) return never<T>();
    const fault = this.hasFaults ? this.#faults.get(`${process.id} ${place} ${nth}`) : undefined;
    const isOff = call.isAtOnce === true && (fault?.kind === "late" || fault?.kind === "twice");
    const kind = isOff ? "lost" : fault?.kind;
    const forMs = fault?.forMs ?? 0;
    if (kind === "dies") return this.#die(process, call.name);
    if (kind === "stalls") this.#stall(process, forMs, call.name);
    call.onSend?.();
    const [thereMs, backMs] = this.#durations(process, place, nth);
    return new Promise((resolve, reject) => {
      const settle = (outcome: Outcome<T>) => ("value" in outcome ? resolve(outcome.value) : reject(outcome.error));
      const answer = (delayMs: number, outcome: Outcome<T>) => {
        if (delayMs === 0 && process.frozenUntil <= this.clock.now) settle(outcome);
        else this.clock.schedule(delayMs, () => settle(outcome), process);
      };
      if (call.timeoutMs !== undefined && (forMs > call.timeoutMs || kind === "never"))
        this.clock.schedule(call.timeoutMs, () => reject(call.failure("never")), process);
      if (kind === "refused") {
        this.log(`${this.#label(process, call)}: refused`);
        process.hasLostStore ||= place === "store";
        this.clock.schedule(thereMs, () => reject(call.failure(kind)), process);
        return;
      }
      // A store is in the process: a process that is suspended doesn't write.
      const owner = place === "store" ? process : undefined;
      const arrive = () => void this.#arrive(process, call, { kind, forMs }, (outcome) => answer(backMs, outcome));
      this.clock.schedule(kind === "late" ? forMs : thereMs, arrive, owner);
    });
  }

  async #arrive<T>(
    process: Process,
    call: Call<T>,
    { kind, forMs }: { kind: FaultKind | undefined; forMs: number },
    answer: (outcome: Outcome<T>) => void,
  ): Promise<void> {
    // The process itself works on with the answer.
    this.clock.current = process;
    let outcome: Outcome<T>;
    try {
      outcome = { value: await call.act() };
    } catch (error) {
      outcome = { error };
    }
    this.log(`${this.#label(process, call)}: ${kind ? `${kind}, ` : ""}${"value" in outcome ? "done" : outcome.error}`);
    switch (kind) {
      case "dies-after":
        return void this.#die(process, call.name);
      case "never":
        process.hasHung ||= call.isUnlimited === true;
        return;
      case "lost":
        process.hasLostStore ||= call.place === "store";
        return answer({ error: call.failure(kind) });
      case "garbled":
        return answer(this.#garble(process, call, outcome));
      case "stalls-after":
        this.#stall(process, forMs, call.name);
        return answer(outcome);
      case "twice":
        // Nobody repeats what was refused.
        if (call.place !== "store" && "value" in outcome)
          this.clock.schedule(forMs, () => void this.#repeat(process, call));
        return answer(outcome);
      case "answered-late":
        return void this.clock.schedule(forMs, () => answer(outcome), process);
      default:
        return answer(outcome);
    }
  }

  #garble<T>(process: Process, call: Call<T>, outcome: Outcome<T>): Outcome<T> {
    try {
      if (call.garbled) return { value: call.garbled() };
      process.hasLostStore ||= call.place === "store";
      return call.place === "store" ? { error: call.failure("lost") } : outcome;
    } catch (error) {
      return { error };
    }
  }

  async #repeat<T>(process: Process, call: Call<T>): Promise<void> {
    this.log(`${this.#label(process, call)}: arrives again`);
    await Promise.resolve()
      .then(call.act)
      .catch(() => {});
  }

  #die<T>(process: Process, name: string): Promise<T> {
    this.log(`p${process.id} dies at ${name}`);
    process.isAlive = false;
    return never<T>();
  }

  #stall(process: Process, forMs: number, name: string): void {
    this.log(`p${process.id} is suspended at ${name}, for ${forMs} ms`);
    process.frozenUntil = this.clock.now + forMs;
  }

  /** Returns how long a call takes to arrive, and its answer. */
  #durations(process: Process, place: Place, nth: number): [thereMs: number, backMs: number] {
    const { pace } = this.plan;
    if (!this.hasFaults) return [1, 0];
    const slowMs = place === "store" ? 0 : this.plan.slowMs;
    if (pace === 0) return [1 + slowMs, 0];
    const bits = mix(pace, process.id, place.length, nth);
    const thereMs = 1 + slowMs + (bits & 15) * ((bits & 0xf0) === 0 ? 12 : 1);
    return [thereMs, (bits & 0x300) === 0 ? 1 + ((bits >>> 12) & 31) : 0];
  }

  #label<T>({ id }: Process, { place, name }: Call<T>): string {
    return `p${id} ${place} ${name}`;
  }
}
