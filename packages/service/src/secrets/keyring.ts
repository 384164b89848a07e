import { createHmac, hash, type KeyObject } from "node:crypto";
import { Secret } from "@giftcard-pay/client/contract";

/**
 * One generation of the service's secrets: a key of 32 bytes for each purpose. They are `KeyObject`s since Node.js imports
 * raw keys at each use, which takes five times as long as the hash.
 */
export interface SecretGeneration {
  readonly cardNumber: KeyObject;
  readonly pin: KeyObject;
  readonly cancelToken: KeyObject;
  readonly idempotency: KeyObject;
}

const sha256 = (data: string | Buffer): Buffer => hash("sha256", data, "buffer");
const hmac = (key: KeyObject, ...parts: (string | Buffer)[]) => {
  const mac = createHmac("sha256", key);
  for (const part of parts) mac.update(part);
  return mac.digest();
};

/** Hashes an API key or a cancel token for the database. They have too much entropy to be guessed, so the hash needs no key. */
export const hashOf = (secret: Secret) => sha256(secret.reveal());

/** Returns a check value that identifies a generation without revealing its keys. */
export function checkOf({ cardNumber, pin, cancelToken, idempotency }: SecretGeneration): Buffer {
  const parts = [cardNumber, pin, cancelToken, idempotency].map((key) => hmac(key, "giftcard-service key check"));
  return sha256(Buffer.concat(parts));
}

/**
 * Hashes values under the service's secrets. Generations are numbered from 1, the oldest; new values use the newest. A list
 * of hashes has one for each generation, oldest first.
 */
export class Keyring {
  #generations: readonly SecretGeneration[];
  readonly #reload: (() => Promise<readonly SecretGeneration[]>) | undefined;

  /** @param reload reads the generations again, after another process has added one */
  constructor(generations: readonly SecretGeneration[], reload?: () => Promise<readonly SecretGeneration[]>) {
    this.#generations = generations;
    this.#reload = reload;
  }

  get newest(): number {
    return this.#generations.length;
  }

  /** Reads the secrets again. Of concurrent reads, the newest one stays. @returns whether there is a newer generation */
  async refresh(): Promise<boolean> {
    const before = this.newest;
    const read = (await this.#reload?.()) ?? [];
    if (read.length > this.newest) this.#generations = read;
    return this.newest > before;
  }

  /** Hashes a card number. Cards are found by it. */
  cardNumbers(cardNumber: Secret): Buffer[] {
    return this.#generations.map((keys) => hmac(keys.cardNumber, cardNumber.reveal()));
  }

  /** Hashes a card number for the count of its wrong PINs: the first of {@link cardNumbers}, for any card's generation. */
  guessSubject(cardNumber: Secret): Buffer {
    return hmac(this.#oldest.cardNumber, cardNumber.reveal());
  }

  /** Hashes a PIN together with its card number. */
  pins(cardNumber: Secret, pin: Secret): Buffer[] {
    return this.#generations.map((keys) => hmac(keys.pin, cardNumber.reveal(), "\0", pin.reveal()));
  }

  /**
   * Derives the cancel token of a deduction. It is never stored: a replayed answer derives it again.
   *
   * @param tokenHash the hash of the original token, which may be of an older generation
   */
  cancelToken(deductionId: string, nonce: Buffer, tokenHash?: Buffer): Secret {
    for (const { cancelToken } of this.#generations.toReversed()) {
      const token = new Secret(hmac(cancelToken, deductionId, "\0", nonce).toString("hex"));
      if (!tokenHash || hashOf(token).equals(tokenHash)) return token;
    }
    throw new Error("No generation of the secrets derives this token.");
  }

  /** Hashes an Idempotency-Key. Keys are kept for good, so the oldest generation is used. */
  idempotencyKey(key: string): Buffer {
    return hmac(this.#oldest.idempotency, "key\0", key);
  }

  /** Hashes a call's parameters, so that a later call can be compared without storing them. */
  parameters(...values: (string | number)[]): Buffer[] {
    return this.#generations.map((keys) => hmac(keys.idempotency, "parameters\0", JSON.stringify(values)));
  }

  /** Hashes the subject of failed logins: an account or an address. Uses the oldest generation, which all processes know. */
  loginSubject(kind: "account" | "email" | "address", value: string): Buffer {
    return hmac(this.#oldest.idempotency, "login\0", kind, "\0", value);
  }

  get #oldest(): SecretGeneration {
    return this.#generations[0] as SecretGeneration;
  }
}
