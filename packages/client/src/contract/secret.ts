import { recognizeCopies } from "./copies.js";

const DOTS = "••••••";

/**
 * A confidential value: a card number, a PIN, an API key, a password or a cancel token. It prints as dots in templates,
 * JSON, `console.log` and error messages. Only {@link Secret.reveal} returns it.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** Wraps a string. Returns a Secret unchanged. */
  static of(value: Secret | string): Secret {
    return value instanceof Secret ? value : new Secret(value);
  }

  /** Returns the value. Call it only to write a request, to hash, and to seal. */
  reveal(): string {
    return this.#value;
  }

  /** Returns the last four characters, so that people can tell cards apart; dots if the value has eight or fewer. */
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

  /** Returns dots, in templates and comparisons. */
  [Symbol.toPrimitive](): string {
    return DOTS;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `Secret(${DOTS})`;
  }
}

recognizeCopies(Secret, "@giftcard-pay/client: Secret");
