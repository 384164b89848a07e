import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import type { Secret } from "@giftcard-pay/client/contract";

/** scrypt at N = 2^15, r = 8, p = 3: about a quarter of a second and 32 MiB. */
const COST = { N: 2 ** 15, r: 8, p: 3 };
const HASH_BYTES = 32;
const SALT_BYTES = 16;

export async function hashPassword(password: Secret): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, COST);
  return ["scrypt", COST.N, COST.r, COST.p, salt.toString("base64url"), hash.toString("base64url")].join("$");
}

/** Returns whether a hash has another cost than new ones. */
export const isOutdated = (hash: string) => !hash.startsWith(`scrypt$${COST.N}$${COST.r}$${COST.p}$`);

/** A hash that no password matches. Checking it takes as long as checking a real one. */
const NO_ACCOUNT = ["scrypt", COST.N, COST.r, COST.p, randomBytes(SALT_BYTES).toString("base64url"), ""].join("$");

/**
 * Checks a password.
 *
 * @param stored a hash of {@link hashPassword}; undefined for an unknown account, which takes the same time
 */
export async function checkPassword(password: Secret, stored: string | undefined): Promise<boolean> {
  const [, n, r, p, salt = "", hash = ""] = (stored ?? NO_ACCOUNT).split("$");
  const derived = await derive(password, Buffer.from(salt, "base64url"), {
    N: Number(n),
    r: Number(r),
    p: Number(p),
  });
  const expected = Buffer.from(hash, "base64url");
  const comparable = expected.length === derived.length ? expected : randomBytes(HASH_BYTES);
  return timingSafeEqual(derived, comparable);
}

function derive(password: Secret, salt: Buffer, cost: typeof COST): Promise<Buffer> {
  return new Promise((resolve, reject) =>
    scrypt(
      password.reveal().normalize("NFC"),
      salt,
      HASH_BYTES,
      { ...cost, maxmem: 256 * cost.N * cost.r },
      (error, key) => (error ? reject(error) : resolve(key)),
    ),
  );
}
