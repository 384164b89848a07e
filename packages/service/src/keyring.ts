import { createHash, createHmac } from "node:crypto";
import { Secret } from "@giftcard-pay/client/contract";

/** One key per purpose, 32 bytes each. */
interface Keys {
  readonly cardNumber: Buffer;
  readonly pin: Buffer;
  readonly cancelToken: Buffer;
  readonly idempotency: Buffer;
}

const hmac = (key: Buffer, ...parts: (string | Buffer)[]) => {
  const mac = createHmac("sha256", key);
  for (const part of parts) mac.update(part);
  return mac.digest();
};

/**
 * The hash under which a secret of high entropy stands in the database: an API key or a cancel token.
 * Guessing one is hopeless, so the hash needs no key.
 */
export const hashOf = (secret: Secret) => createHash("sha256").update(secret.reveal()).digest();

/** Everything that is hashed under the service's keys. It never shows them. */
export class Keyring {
  readonly #keys: Keys;

  constructor(keys: Keys) {
    this.#keys = keys;
  }

  /** Tells whether two keyrings are the same, without telling what is in them. */
  check(): Buffer {
    const parts = Object.values(this.#keys).map((key: Buffer) => hmac(key, "giftcard-service key check"));
    return createHash("sha256").update(Buffer.concat(parts)).digest();
  }

  /** What a card is found by. */
  cardNumber(cardNumber: Secret): Buffer {
    return hmac(this.#keys.cardNumber, cardNumber.reveal());
  }

  /** A PIN counts only together with its card number. */
  pin(cardNumber: Secret, pin: Secret): Buffer {
    return hmac(this.#keys.pin, cardNumber.reveal(), "\0", pin.reveal());
  }

  /** The cancel token of a deduction: made again for a repeated answer, never stored. */
  cancelToken(deductionId: string, nonce: Buffer): Secret {
    return new Secret(hmac(this.#keys.cancelToken, deductionId, "\0", nonce).toString("hex"));
  }

  /** What an Idempotency-Key is found by. */
  idempotencyKey(key: string): Buffer {
    return hmac(this.#keys.idempotency, "key\0", key);
  }

  /** Tells whether two calls carry the same parameters, without keeping them. */
  parameters(...values: (string | number)[]): Buffer {
    return hmac(this.#keys.idempotency, "parameters\0", JSON.stringify(values));
  }
}
