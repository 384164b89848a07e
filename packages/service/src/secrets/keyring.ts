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

/** Hashes the API key of a till. A till's key is thus unknown wherever a shop's is expected, and the other way round. */
export const hashOfTillKey = (apiKey: Secret) => sha256(`till\0${apiKey.reveal()}`);

/** Returns a check value that identifies a generation without revealing its keys. */
export function checkOf({ cardNumber, pin, cancelToken, idempotency }: SecretGeneration): Buffer {
  const parts = [cardNumber, pin, cancelToken, idempotency].map((key) => hmac(key, "giftcard-service key check"));
  return sha256(Buffer.concat(parts));
}

/** The call that a deduction was made by. */
export interface DeductionCall {
  readonly companyId: number;
  readonly idempotencyKey: string;
  /** The requested amount. */
  readonly amountCents: number;
}

/** The values from which a cancel token is derived. The ledger stores both. */
export interface Deduction {
  readonly id: string;
  readonly nonce: Buffer;
}

/** Formats 16 bytes as a UUID of version 8, whose content is the maker's own. */
function uuidOf(bytes: Buffer): string {
  const copy = Buffer.from(bytes);
  copy.writeUInt8((copy.readUInt8(6) & 0x0f) | 0x80, 6);
  copy.writeUInt8((copy.readUInt8(8) & 0x3f) | 0x80, 8);
  return copy.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
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

  /** The number of the newest generation. */
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
   * Derives the id and the nonce of a deduction from its call, for each generation. So the cancel token proves the call: if a
   * restore loses the deduction, an import derives the same token for the right card alone.
   *
   * @param numberHashes of {@link cardNumbers}; undefined for a generation under which the card isn't hashed
   */
  deductions(call: DeductionCall, numberHashes: readonly (Buffer | undefined)[]): (Deduction | undefined)[] {
    const text = JSON.stringify([call.companyId, call.idempotencyKey, call.amountCents]);
    return numberHashes.map((numberHash, index) => {
      const generation = this.#generations[index];
      if (!numberHash || !generation) return undefined;
      const mac = hmac(generation.cancelToken, "deduction\0", numberHash, text);
      return { id: uuidOf(mac.subarray(0, 16)), nonce: mac.subarray(16) };
    });
  }

  /**
   * Derives the cancel token of a deduction. It is never stored: a replayed answer derives it again.
   *
   * @param tokenHash the hash of the original token, which may be of an older generation
   */
  cancelToken(deductionId: string, nonce: Buffer, tokenHash?: Buffer): Secret {
    const token = this.#findToken(deductionId, nonce, tokenHash);
    if (!token) throw new Error("No generation of the secrets derives this token.");
    return token;
  }

  /** Whether the deduction's cancel token has this hash. */
  derivesToken({ id, nonce }: Deduction, tokenHash: Buffer): boolean {
    return this.#findToken(id, nonce, tokenHash) !== undefined;
  }

  #findToken(deductionId: string, nonce: Buffer, tokenHash?: Buffer): Secret | undefined {
    for (const { cancelToken } of this.#generations.toReversed()) {
      const token = new Secret(hmac(cancelToken, deductionId, "\0", nonce).toString("hex"));
      if (!tokenHash || hashOf(token).equals(tokenHash)) return token;
    }
    return undefined;
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
