import { recognizeCopies } from "./copies.js";

const DOTS = "••••••";

/**
 * A value that must not be seen: a card number, a PIN, an API key, a password, a cancel token.
 * It prints as dots in templates, JSON, `console.log` and error messages; only {@link Secret.reveal} gives it away.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** Wraps a string; a Secret is returned as it is. */
  static of(value: Secret | string): Secret {
    return value instanceof Secret ? value : new Secret(value);
  }

  /** The value itself. Call it only where the wire is written, where a hash is taken, and where a seal is made. */
  reveal(): string {
    return this.#value;
  }

  /** The last four characters, for a person to tell cards apart; dots for a value of eight characters or fewer. */
  lastFour(): string {
    return this.#value.length > 8 ? this.#value.slice(-4) : "••••";
  }

  /** Dots. */
  toString(): string {
    return DOTS;
  }

  /** Dots. */
  toJSON(): string {
    return DOTS;
  }

  /** Dots, in templates and comparisons. */
  [Symbol.toPrimitive](): string {
    return DOTS;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `Secret(${DOTS})`;
  }
}

recognizeCopies(Secret, "@giftcard-pay/client: Secret");
