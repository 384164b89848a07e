import { never, PlayedError } from "./played-error.js";

/**
 * A fault of a process at one of its statements, or of its calls to a provider: before it runs, or after it ran and before its
 * result arrives. A cut is that of a connection, which the store on PostgreSQL has to hide.
 */
export const troubleKinds = [
  "crash-before",
  "crash-after",
  "freeze-before",
  "freeze-after",
  "fail-before",
  "fail-after",
  "cut-before",
  "cut-after",
] as const;
export interface Trouble {
  readonly kind: (typeof troubleKinds)[number];
  /** The number of the statement within the call, from 1. */
  readonly at: number;
}

/** The gate for all statements of a process. The process can crash, stall or fail there. */
export class Gate {
  #passed = 0;
  #trouble: Trouble | null = null;
  #troubleAt = 0;
  #isDead = false;
  #frozen: Promise<void> | null = null;
  #thaw: () => void = () => {};
  #stopped = Promise.withResolvers<"dead" | "waiting">();
  readonly #onTrouble: (kind: Trouble["kind"]) => void;

  /** @param onTrouble called with a fault when it happens */
  constructor(onTrouble: (kind: Trouble["kind"]) => void = () => {}) {
    this.#onTrouble = onTrouble;
  }

  /** Resolves once the process has died or stalled, or waits forever. */
  get stopped(): Promise<"dead" | "waiting"> {
    return this.#stopped.promise;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Injects a fault into the next call. */
  set(trouble: Trouble | null): void {
    this.#trouble = trouble;
    this.#troubleAt = this.#passed + (trouble?.at ?? 0);
  }

  die(): void {
    this.#isDead = true;
    this.#stopped.resolve("dead");
  }

  /** Marks that the process waits for an external response. */
  wait(): void {
    this.#stopped.resolve("waiting");
  }

  /** Resumes a stalled process. One that waits for an external response still does. */
  thaw(): void {
    if (!this.#frozen || this.#isDead) return;
    this.#frozen = null;
    this.#stopped = Promise.withResolvers();
    this.#thaw();
  }

  async pass<T>(statement: () => T | Promise<T>): Promise<T> {
    if (this.#isDead) return never<T>();
    while (this.#frozen) await this.#frozen;
    this.#passed += 1;
    // Of two concurrent calls, only one statement is affected.
    const kind = this.#trouble && this.#passed === this.#troubleAt ? this.#trouble.kind : null;
    // Statements of concurrent calls come in any order.
    if (this.#passed % 3 === 1) await new Promise((resolve) => setImmediate(resolve));
    if (kind?.endsWith("before")) await this.#befall(kind);
    if (this.#isDead) return never<T>();
    const answer = await statement();
    if (kind?.endsWith("after")) await this.#befall(kind);
    while (this.#frozen) await this.#frozen;
    return this.#isDead ? never<T>() : answer;
  }

  async #befall(kind: Trouble["kind"]): Promise<void> {
    this.#trouble = null;
    this.#onTrouble(kind);
    if (kind.startsWith("fail")) throw new PlayedError("database");
    if (kind.startsWith("cut")) throw Object.assign(new PlayedError("database"), { code: "ECONNRESET" });
    if (kind.startsWith("crash")) return this.die();
    if (!this.#frozen) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#frozen = promise;
      this.#thaw = resolve;
    }
    this.#stopped.resolve("waiting");
    await this.#frozen;
  }
}
