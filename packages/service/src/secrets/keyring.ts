import { createHmac, hash, type KeyObject } from "node:crypto";
import { Secret } from "@giftcard-pay/client/contract";

/**
 * One generation of the service's secrets: a key per purpose, 32 bytes each. Node.js prepares a raw key anew at each use,
 * which takes five times as long as the hash.
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

/**
 * The hash under which a secret of high entropy stands in the database: an API key or a cancel token.
 * Guessing one is hopeless, so the hash needs no key.
 */
export const hashOf = (secret: Secret) => sha256(secret.reveal());

/** Tells whether two generations are the same, without telling what is in them. */
export function checkOf({ cardNumber, pin, cancelToken, idempotency }: SecretGeneration): Buffer {
  const parts = [cardNumber, pin, cancelToken, idempotency].map((key) =>
    hmac(key, "giftcard-service key check"),
  );
  return sha256(Buffer.concat(parts));
}

/**
 * Everything that is hashed under the service's keys. It never shows them. Generations are numbered from 1, the oldest;
 * the newest hashes what is new. What comes as a list has one hash for each, oldest first.
 */
export class Keyring {
  #generations: readonly SecretGeneration[];
  readonly #reload: (() => Promise<readonly SecretGeneration[]>) | undefined;

  /** @param reload reads them again, after another process has added one */
  constructor(generations: readonly SecretGeneration[], reload?: () => Promise<readonly SecretGeneration[]>) {
    this.#generations = generations;
    this.#reload = reload;
  }

  /** The number of the newest generation. */
  get newest(): number {
    return this.#generations.length;
  }

  /** Reads the secrets again, and tells whether there are newer ones. */
  async refresh(): Promise<boolean> {
    const before = this.newest;
    if (this.#reload) this.#generations = await this.#reload();
    return this.newest > before;
  }

  /** What a card is found by. */
  cardNumbers(cardNumber: Secret): Buffer[] {
    return this.#generations.map((keys) => hmac(keys.cardNumber, cardNumber.reveal()));
  }

  /** What wrong PINs of a number are counted by: the first of {@link cardNumbers}, whatever the generation of its card. */
  guessSubject(cardNumber: Secret): Buffer {
    return hmac(this.#oldest.cardNumber, cardNumber.reveal());
  }

  /** A PIN counts only together with its card number. */
  pins(cardNumber: Secret, pin: Secret): Buffer[] {
    return this.#generations.map((keys) => hmac(keys.pin, cardNumber.reveal(), "\0", pin.reveal()));
  }

  /**
   * The cancel token of a deduction: made again for a repeated answer, never stored.
   *
   * @param tokenHash the hash of the token as it was first given, for one of an older generation
   */
  cancelToken(deductionId: string, nonce: Buffer, tokenHash?: Buffer): Secret {
    for (const { cancelToken } of this.#generations.toReversed()) {
      const token = new Secret(hmac(cancelToken, deductionId, "\0", nonce).toString("hex"));
      if (!tokenHash || hashOf(token).equals(tokenHash)) return token;
    }
    throw new Error("No generation of the secrets makes this token.");
  }

  /** What an Idempotency-Key is found by. It stays known for good, so it is hashed under the oldest generation. */
  idempotencyKey(key: string): Buffer {
    return hmac(this.#oldest.idempotency, "key\0", key);
  }

  /** Tells whether two calls carry the same parameters, without keeping them. */
  parameters(...values: (string | number)[]): Buffer[] {
    return this.#generations.map((keys) => hmac(keys.idempotency, "parameters\0", JSON.stringify(values)));
  }

  /** What failed logins of an account or an address are counted by: the same in every process, whatever the generation. */
  loginSubject(kind: "account" | "email" | "address", value: string): Buffer {
    return hmac(this.#oldest.idempotency, "login\0", kind, "\0", value);
  }

  get #oldest(): SecretGeneration {
    return this.#generations[0] as SecretGeneration;
  }
}
