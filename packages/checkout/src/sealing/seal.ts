import { Secret } from "@giftcard-pay/client";
import { decodeProtectedHeader, EncryptJWT, errors, jwtDecrypt } from "jose";

/** A key that seals cards and tokens: 32 random bytes in base64 or base64url (`openssl rand -base64 32`). */
export interface SealingKey {
  /** Stands in the clear beside what it sealed, so that the key can be found again. */
  readonly id: string;
  readonly key: string;
}

/**
 * Reads the keys from one setting: `id:key,id:key`, the newest first. `createSealer` checks them.
 *
 * @param text such as an environment's variable holds it
 */
export function readSealingKeys(text: string): SealingKey[] {
  return text.split(",").map((entry) => {
    const [id = "", ...key] = entry.trim().split(":");
    return { id, key: key.join(":") };
  });
}

/** Card number and PIN, never to be seen. */
export interface Card {
  readonly cardNumber: Secret;
  readonly pin: Secret;
}

/** Why a seal doesn't open. `expired`: its time has run out; `unknown_key`: sealed under a key that isn't configured. */
export type SealFault = "expired" | "unknown_key" | "broken";

/** A seal that doesn't open. It holds nothing of what was sealed. */
export class SealError extends Error {
  override readonly name = "SealError";
  constructor(readonly fault: SealFault) {
    super(
      {
        expired: "The sealed card is too old to be used.",
        unknown_key:
          "Sealed under a key that is not configured. Add the old key behind the new one in sealingKeys.",
        broken: "The seal is broken, or it was made for something else.",
      }[fault],
    );
  }
}

/**
 * Seals (JWE, direct A256GCM) what a shop must keep and nobody may read. Four seals: a tender's card opens for its
 * cart, a charge's card and a cancel token open for their reference, a secret of the shop's own for its name. The
 * first key seals, all open.
 */
export interface Sealer {
  /**
   * Seals the card of a tender.
   *
   * @param audience for whom it opens: a cart, and the service that quoted it
   */
  sealTenderCard(card: Card, audience: string, lifeMs: number): Promise<string>;
  /** @throws {SealError} */
  openTenderCard(sealed: string, audience: string): Promise<Card>;
  /** Lives for 24 hours. */
  sealChargeCard(card: Card, reference: string): Promise<string>;
  /** @throws {SealError} */
  openChargeCard(sealed: string, reference: string): Promise<Card>;
  /** Lives for good: an order may be canceled next month. */
  sealToken(token: Secret, reference: string): Promise<string>;
  /** @throws {SealError} */
  openToken(sealed: string, reference: string): Promise<Secret>;
  /** Lives for good. */
  sealSecret(secret: Secret, name: string): Promise<string>;
  /** @throws {SealError} */
  openSecret(sealed: string, name: string): Promise<Secret>;
  /** The id of the key that seals. */
  readonly newestKeyId: string;
  /** The ids of all keys that open. */
  readonly keyIds: readonly string[];
  /**
   * Seals the same content for the same purpose, audience and remaining time under the newest key.
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
    throw new TypeError(
      `Sealing key "${id}" is not 32 bytes in base64. Make one with: openssl rand -base64 32`,
    );
  }
  return { id, bytes: new Uint8Array(bytes) };
}

/**
 * Makes what seals and opens.
 *
 * @param options.keys the newest first; keep old ones until nothing is sealed under them
 * @throws {TypeError} when there is no key, a key isn't 32 bytes, or an id stands twice
 */
export function createSealer(options: { keys: readonly SealingKey[] }): Sealer {
  const keys = options.keys.map(readKey);
  const newest = keys[0];
  if (!newest)
    throw new TypeError("At least one sealing key is needed. Make one with: openssl rand -base64 32");
  if (new Set(keys.map((k) => k.id)).size < keys.length)
    throw new TypeError("Two sealing keys have the same id.");

  const header = { alg: "dir", enc: "A256GCM", kid: newest.id };
  const newestBytes = newest.bytes;

  async function seal(purpose: Purpose, audience: string, claims: object, lifeMs?: number): Promise<string> {
    const jwt = new EncryptJWT({ ...claims })
      .setProtectedHeader(header)
      .setIssuer(purpose)
      .setAudience(audience);
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
      // The library's error can hold the claims, so it goes no further than this.
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
