import { createHmac, randomBytes } from "node:crypto";
import { Secret } from "@giftcard-pay/client";
import type { Journal } from "../store/journal.js";
import type { Sealer } from "./seal.js";

const NAME = "fingerprint";

/** Keyed hashes that every process of a shop agrees on, whichever sealing keys it has. */
export interface Fingerprints {
  /** Of a card number, by which a cart finds the same card again. */
  ofCard(cardNumber: Secret): Promise<string>;
  /** Of something that need not be known, such as a shopper's address on the network. */
  ofText(text: string): Promise<string>;
}

/**
 * Makes the hashes under a random key, which is made once for a journal and stands sealed in it.
 *
 * @throws {SealError} each hash, while the sealing key isn't configured that sealed it
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
