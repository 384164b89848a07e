import { createHmac, randomBytes } from "node:crypto";
import { Secret } from "@giftcard-pay/client";
import type { Journal } from "../store/journal.js";
import type { Sealer } from "./seal.js";

const NAME = "fingerprint";

/** Keyed hashes, the same in every process of a shop, whatever its sealing keys. */
export interface Fingerprints {
  /** Hashes a card number, to recognize a card on a cart. */
  ofCard(cardNumber: Secret): Promise<string>;
  /** Hashes a text that should not be stored, such as a shopper's IP address. */
  ofText(text: string): Promise<string>;
}

/**
 * Makes the hash functions. Their random key is created once per journal, and stored sealed in it.
 *
 * @throws {SealError} by each hash function, if the sealing key of that key isn't configured
 */
export function createFingerprints(journal: Journal, sealer: Sealer): Fingerprints {
  let key: Promise<Buffer> | undefined;

  async function read(): Promise<Buffer> {
    const fresh = new Secret(randomBytes(32).toString("base64"));
    const sealed = await journal.keepSecret(NAME, await sealer.sealSecret(fresh, NAME));
    return Buffer.from((await sealer.openSecret(sealed, NAME)).reveal(), "base64");
  }

  async function hash(text: string): Promise<string> {
    key ??= read().catch((error: unknown) => {
      key = undefined;
      throw error;
    });
    return createHmac("sha256", await key)
      .update(text)
      .digest("base64url");
  }

  return {
    ofCard: (cardNumber) => hash(`card\0${cardNumber.reveal()}`),
    ofText: (text) => hash(`text\0${text}`),
  };
}
