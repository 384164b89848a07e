import { isIPv6 } from "node:net";
import type { Secret } from "@giftcard-pay/client";
import type { Fingerprints } from "../sealing/fingerprints.js";
import type { GuessLimit, Journal } from "../store/journal.js";
import { CheckoutError } from "./errors.js";

/**
 * Wrong guesses of number and PIN that are judged in one window; past them, even a right pair has to wait. So has one
 * card that was asked for 30 times, however right it was.
 */
export interface GuessLimits {
  /** Default 15 minutes. */
  readonly windowMs?: number;
  /** Default 10. */
  readonly perCart?: number;
  /** Per address of a shopper on the network, where the shop knows it. Default 20. */
  readonly perAddress?: number;
  /** Past it, each cart and each address has a fifth of its guesses left. Default 600. */
  readonly perShop?: number;
}

/** Whom a guess counts for. */
export interface Guesser {
  readonly cartId?: string | undefined;
  /** The shopper's address on the network. */
  readonly address?: string | undefined;
}

interface GuessContext {
  readonly journal: Journal;
  readonly fingerprints: Fingerprints;
  readonly guessLimits: GuessLimits;
}

/** Past the shop's limit this part of the others is left. */
const TIGHT = 5;
/** So often may a card be asked for in one window, by whomever. */
const ASKS_OF_CARD = 30;

/**
 * Lets a guess of card number and PIN be judged only within the limits, and counts it unless both matched.
 *
 * Past the shop's limit nobody is shut out, since a stranger with many carts could shut out everybody then. Each cart and
 * each address has a fifth of its guesses instead: enough for who mistypes, and little for each cart that a stranger has
 * to make. So every guess needs a cart or an address that it counts for.
 *
 * Right pairs aren't guesses, but each is a call to the service, and these are limited for the shop as a whole: a stranger
 * with one card, an empty one too, could use them all up, and nobody could pay by card. So they count for the card: not
 * for an address, which many shoppers may have, and a wrong pair not at all, or a stranger could shut out the card's holder.
 */
export function createGuessLimits({ journal, fingerprints, guessLimits }: GuessContext) {
  const { windowMs = 15 * 60_000, perCart = 10, perAddress = 20, perShop = 600 } = guessLimits;

  async function ownLimits({ cartId, address }: Guesser): Promise<GuessLimit[]> {
    const own: GuessLimit[] = [];
    if (cartId) own.push({ key: `cart:${cartId}`, max: perCart });
    if (address)
      own.push({ key: `address:${await fingerprints.ofText(networkOf(address))}`, max: perAddress });
    return own;
  }

  /** @throws {CheckoutError} too_many_attempts; what `judge` throws */
  return async function guarded<T>(
    guesser: Guesser,
    cardNumber: Secret,
    judge: () => Promise<T>,
  ): Promise<T> {
    const own = await ownLimits(guesser);
    if (own.length === 0)
      throw new TypeError("A guess at a card needs the cart or the address that it is of.");
    const tight = own.map(({ key, max }) => ({ key, max: Math.ceil(max / TIGHT) }));
    const asked = [{ key: `card:${await fingerprints.ofCard(cardNumber)}`, max: ASKS_OF_CARD }];
    let limits: GuessLimit[] = [{ key: "shop", max: perShop }, ...own];
    let retryAfterSeconds = await take([...limits, ...asked]);
    if (retryAfterSeconds > 0) {
      limits = tight;
      retryAfterSeconds = await take([...limits, ...asked]);
    }
    if (retryAfterSeconds > 0) throw new CheckoutError("too_many_attempts", { retryAfterSeconds });
    try {
      const judged = await judge();
      await journal.returnGuess(limits);
      return judged;
    } catch (error) {
      const isWrong = error instanceof CheckoutError && error.code === "invalid_card";
      await journal.returnGuess(isWrong ? asked : limits);
      throw error;
    }
  };

  /** What isn't judged doesn't count, or one who has to wait could make others wait. */
  async function take(limits: readonly GuessLimit[]): Promise<number> {
    const seconds = await journal.takeGuess(limits, windowMs);
    if (seconds > 0) await journal.returnGuess(limits);
    return seconds;
  }
}

/** An address as some proxies write it: with the port of the connection, which is another one each time. */
const withPort = /^\[(?<v6>[^\]]+)\](?::\d+)?$|^(?<v4>[\d.]+):\d+$/;

/** Of IPv6 the first half: one customer of a network has all addresses of the second. */
export function networkOf(named: string): string {
  const { v4, v6 } = withPort.exec(named)?.groups ?? {};
  const address = v4 ?? v6 ?? named;
  if (!isIPv6(address) || address.includes(".")) return address;
  const [start = "", end] = address.toLowerCase().replace(/%.*$/, "").split("::");
  const [before, after] = [start, end ?? ""].map((half) => half.split(":").filter(Boolean));
  const missing = end === undefined ? 0 : 8 - (before?.length ?? 0) - (after?.length ?? 0);
  const groups = [...(before ?? []), ...Array<string>(missing).fill("0"), ...(after ?? [])];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}
