import type { Secret } from "@giftcard-pay/client";
import type { Fingerprints } from "../sealing/fingerprints.js";
import type { GuessLimit, Journal } from "../store/journal.js";
import { networkOf, publicAddress } from "./addresses.js";
import { CheckoutError } from "./errors.js";

/**
 * How many wrong guesses of number and PIN are allowed in one window. After that, even a correct pair has to wait. A
 * single card also has to wait after 30 correct requests.
 */
export interface GuessLimits {
  /** Default 15 minutes. */
  readonly windowMs?: number;
  /** Default 10. */
  readonly perCart?: number;
  /** Per public IP address of a shopper, if the shop knows it. Default 20. */
  readonly perAddress?: number;
  /** For the whole shop. Beyond it, each cart and each address has a fifth of its guesses. Default 600. */
  readonly perShop?: number;
}

/** The cart and the IP address that a guess counts for. */
export interface Guesser {
  readonly cartId?: string | undefined;
  /** The shopper's IP address. */
  readonly address?: string | undefined;
}

interface GuessContext {
  readonly journal: Journal;
  readonly fingerprints: Fingerprints;
  readonly guessLimits: GuessLimits;
}

/** Beyond the shop's limit, the other limits are divided by this. */
const TIGHT = 5;
/** How often a card may be requested in one window, by all callers together. */
const REQUESTS_PER_CARD = 30;

/**
 * Makes a function that runs a check of card number and PIN only within the limits, and counts it unless they match.
 *
 * Beyond the shop's limit nobody is locked out; otherwise an attacker with many carts could lock out all shoppers. Instead,
 * each cart and each address has a fifth of its guesses: enough for typing mistakes, and little for each cart that an
 * attacker has to create. So every guess needs a cart or an address to count for.
 *
 * Correct pairs aren't guesses, but each is a call to the service, which limits the calls of a shop. An attacker with one
 * card, even an empty one, could use them up. So correct pairs count for the card. They don't count for an address, which
 * many shoppers may share. Wrong pairs don't count for the card, or an attacker could lock out its holder.
 */
export function createGuessLimits({ journal, fingerprints, guessLimits }: GuessContext) {
  const { windowMs = 15 * 60_000, perCart = 10, perAddress = 20, perShop = 600 } = guessLimits;

  async function ownLimits({ cartId, address }: Guesser): Promise<GuessLimit[]> {
    const own: GuessLimit[] = [];
    if (cartId) own.push({ key: `cart:${cartId}`, max: perCart });
    const ownAddress = publicAddress(address);
    const named = ownAddress ?? (cartId ? undefined : address);
    // All shoppers behind a proxy share its address. Only guesses without a cart count for it, with room for all of them.
    const max = ownAddress ? perAddress : Math.ceil(perShop / TIGHT);
    if (named) own.push({ key: `address:${await fingerprints.ofText(networkOf(named))}`, max });
    return own;
  }

  /** @throws {CheckoutError} too_many_attempts; what `check` throws */
  return async function guarded<T>(guesser: Guesser, cardNumber: Secret, check: () => Promise<T>): Promise<T> {
    const own = await ownLimits(guesser);
    if (own.length === 0) throw new TypeError("A guess of a card needs a cart or an address that it counts for.");
    const tight = own.map(({ key, max }) => ({ key, max: Math.ceil(max / TIGHT) }));
    const ofCard = [{ key: `card:${await fingerprints.ofCard(cardNumber)}`, max: REQUESTS_PER_CARD }];
    let limits: GuessLimit[] = [{ key: "shop", max: perShop }, ...own];
    let retryAfterSeconds = await take([...limits, ...ofCard]);
    if (retryAfterSeconds > 0) {
      limits = tight;
      retryAfterSeconds = await take([...limits, ...ofCard]);
    }
    if (retryAfterSeconds > 0) throw new CheckoutError("too_many_attempts", { retryAfterSeconds });
    try {
      const checked = await check();
      await journal.returnGuess(limits);
      return checked;
    } catch (error) {
      const isWrong = error instanceof CheckoutError && error.code === "invalid_card";
      await journal.returnGuess(isWrong ? ofCard : limits);
      throw error;
    }
  };

  /** Counts a guess. If a limit refuses it, it is not counted: a shopper who has to wait must not make others wait. */
  async function take(limits: readonly GuessLimit[]): Promise<number> {
    const seconds = await journal.takeGuess(limits, windowMs);
    if (seconds > 0) await journal.returnGuess(limits);
    return seconds;
  }
}
