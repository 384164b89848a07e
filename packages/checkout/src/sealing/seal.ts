import { Secret } from "@giftcard-pay/client";
import { decodeProtectedHeader, EncryptJWT, errors, jwtDecrypt } from "jose";

/** A key for cards and tokens: 32 random bytes in base64 or base64url (`openssl rand -base64 32`). */
export interface SealingKey {
  /** Stored in plain text with each sealed value, to find its key. */
  readonly id: string;
  readonly key: string;
}

/**
 * Parses keys from a setting such as an environment variable: `id:key,id:key`, the newest first. `createSealer` validates
 * them.
 */
export function readSealingKeys(text: string): SealingKey[] {
  return text.split(",").map((entry) => {
    const [id = "", ...key] = entry.trim().split(":");
    return { id, key: key.join(":") };
  });
}

/** A card number and its PIN. */
export interface Card {
  readonly cardNumber: Secret;
  readonly pin: Secret;
}

/** The reason why a value can't be opened. `unknown_key`: it was sealed under a key that isn't configured. */
export type SealFault = "expired" | "unknown_key" | "broken";

/** The error of a sealed value that can't be opened. It contains nothing of the value. */
export class SealError extends Error {
  override readonly name = "SealError";
  constructor(readonly fault: SealFault) {
    super(
      {
        expired: "The sealed card is too old to be used.",
        unknown_key: "Sealed under a key that is not configured. Add the old key after the new one in sealingKeys.",
        broken: "The seal is broken, or was made for another purpose.",
      }[fault],
    );
  }
}

/**
 * Seals (JWE, direct A256GCM) the secrets that a shop has to store. There are four kinds: a tender's card opens for its
 * cart, a charge's card and a cancel token open for their reference, and a secret of the shop opens for its name. The first
 * key seals, and all keys open.
 */
export interface Sealer {
  /**
   * Seals the card of a tender.
   *
   * @param audience the context in which it can be opened: a cart, and the service that quoted the card
   */
  sealTenderCard(card: Card, audience: string, lifeMs: number): Promise<string>;
  /** @throws {SealError} */
  openTenderCard(sealed: string, audience: string): Promise<Card>;
  /** Seals the card of a charge, for 24 hours. */
  sealChargeCard(card: Card, reference: string): Promise<string>;
  /** @throws {SealError} */
  openChargeCard(sealed: string, reference: string): Promise<Card>;
  /** Seals a cancel token, without expiry: an order may be canceled next month. */
  sealToken(token: Secret, reference: string): Promise<string>;
  /** @throws {SealError} */
  openToken(sealed: string, reference: string): Promise<Secret>;
  /** Seals a secret of the shop, without expiry. */
  sealSecret(secret: Secret, name: string): Promise<string>;
  /** @throws {SealError} */
  openSecret(sealed: string, name: string): Promise<Secret>;
  /** The id of the key that seals. */
  readonly newestKeyId: string;
  /** The ids of all keys that open. */
  readonly keyIds: readonly string[];
  /**
   * Seals the same value under the newest key, with the same purpose, audience and expiry.
   * @throws {SealError}
   */
  reseal(sealed: string): Promise<string>;
}

type Purpose = "tender-card" | "charge-card" | "cancel-token" | "secret";

const algorithms = { keyManagementAlgorithms: ["dir"], contentEncryptionAlgorithms: ["A256GCM"] };
const CHARGE_CARD_LIFE_MS = 24 * 60 * 60 * 1000;

function readKey({ id, key }: SealingKey): { id: string; bytes: Uint8Array } {
  if (!/^[\w.-]{1,64}$/.test(id)) {
    throw new TypeError("A sealing key's id is 1 to 64 letters, digits, dots, dashes or underscores.");
  }
  const bytes = /^[\w+/=-]+$/.test(key) ? Buffer.from(key, "base64") : Buffer.alloc(0);
  if (bytes.length !== 32) {
    throw new TypeError(`Sealing key "${id}" is not 32 bytes in base64. Make one with: openssl rand -base64 32`);
  }
  return { id, bytes: new Uint8Array(bytes) };
}

/**
 * Makes a sealer.
 *
 * @param options.keys the newest first; keep old ones until nothing is sealed under them
 * @throws {TypeError} if there is no key, a key isn't 32 bytes, or two keys have the same id
 */
export function createSealer(options: { keys: readonly SealingKey[] }): Sealer {
  const keys = options.keys.map(readKey);
  const newest = keys[0];
  if (!newest) throw new TypeError("At least one sealing key is needed. Make one with: openssl rand -base64 32");
  if (new Set(keys.map((k) => k.id)).size < keys.length) throw new TypeError("Two sealing keys have the same id.");

  const header = { alg: "dir", enc: "A256GCM", kid: newest.id };
  const newestBytes = newest.bytes;

  async function seal(purpose: Purpose, audience: string, claims: object, lifeMs?: number): Promise<string> {
    const jwt = new EncryptJWT({ ...claims }).setProtectedHeader(header).setIssuer(purpose).setAudience(audience);
    if (lifeMs !== undefined) jwt.setExpirationTime(new Date(Date.now() + lifeMs));
    return jwt.encrypt(newestBytes);
  }

  async function open(purpose: Purpose, audience: string, sealed: string): Promise<Record<string, unknown>> {
    const key = keys.find((k) => k.id === keyIdOf(sealed));
    if (!key) throw new SealError("unknown_key");
    try {
      const { payload } = await jwtDecrypt(sealed, key.bytes, {
        issuer: purpose,
        audience,
        ...algorithms,
      });
      return payload;
    } catch (error) {
      // The library's error can contain the claims, so it must not leave this function.
      throw new SealError(error instanceof errors.JWTExpired ? "expired" : "broken");
    }
  }

  async function reseal(sealed: string): Promise<string> {
    const key = keys.find((k) => k.id === keyIdOf(sealed));
    if (!key) throw new SealError("unknown_key");
    const { payload } = await jwtDecrypt(sealed, key.bytes, { ...algorithms }).catch((error: unknown) => {
      throw new SealError(error instanceof errors.JWTExpired ? "expired" : "broken");
    });
    return new EncryptJWT(payload).setProtectedHeader(header).encrypt(newestBytes);
  }

  const cardClaims = (card: Card) => ({ n: card.cardNumber.reveal(), p: card.pin.reveal() });
  const toCard = (claims: Record<string, unknown>): Card => ({
    cardNumber: new Secret(String(claims.n)),
    pin: new Secret(String(claims.p)),
  });
  return {
    sealTenderCard: (card, audience, lifeMs) => seal("tender-card", audience, cardClaims(card), lifeMs),
    openTenderCard: async (sealed, audience) => toCard(await open("tender-card", audience, sealed)),
    sealChargeCard: (card, ref) => seal("charge-card", ref, cardClaims(card), CHARGE_CARD_LIFE_MS),
    openChargeCard: async (sealed, ref) => toCard(await open("charge-card", ref, sealed)),
    sealToken: (token, ref) => seal("cancel-token", ref, { t: token.reveal() }),
    openToken: async (sealed, ref) => new Secret(String((await open("cancel-token", ref, sealed)).t)),
    sealSecret: (secret, name) => seal("secret", name, { s: secret.reveal() }),
    openSecret: async (sealed, name) => new Secret(String((await open("secret", name, sealed)).s)),
    newestKeyId: newest.id,
    keyIds: keys.map((k) => k.id),
    reseal,
  };
}

function keyIdOf(sealed: string): string | undefined {
  try {
    return decodeProtectedHeader(sealed).kid;
  } catch {
    throw new SealError("broken");
  }
}
