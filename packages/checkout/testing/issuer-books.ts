import {
  cents,
  type ErrorCode,
  MAX_DEDUCTION_CENTS,
  type RequestOf,
  type ResponseOf,
  Secret,
} from "@giftcard-pay/client/contract";

const DAY_MS = 24 * 60 * 60_000;
/** Wrong PINs lock a number, as in the service's default settings. */
const PIN_FAILURES = 10;
/** For how long. */
export const LOCK_MS = 15 * 60_000;

/** A card of the issuer for tests. */
export interface TestCard {
  readonly cardNumber: string;
  readonly pin: string;
  balanceCents: number;
  isBlocked: boolean;
  /** The last day on which it can pay, yyyy-mm-dd. */
  expiryDate: string;
}

/** A deduction that may be reversed. */
interface Deduction {
  readonly card: TestCard;
  readonly cents: number;
  readonly token: string;
  readonly parameters: string;
  readonly at: number;
  isReversed: boolean;
}

/** An operation that the issuer refuses. Nothing has changed. */
export class Refusal extends Error {
  constructor(readonly code: ErrorCode) {
    super(code);
  }
}
const refuse = (code: ErrorCode): never => {
  throw new Refusal(code);
};

/** The cards, the deductions, and the keys that they carried. */
export class IssuerBooks {
  readonly #cards = new Map<string, TestCard>();
  readonly #deductions = new Map<string, Deduction>();
  /** The deductions by their Idempotency-Keys; null for a key that was closed without one. */
  readonly #keys = new Map<string, Deduction | null>();
  readonly #failures = new Map<string, number[]>();

  issue(balanceCents: number): TestCard {
    const digits = (count: number) =>
      Array.from(crypto.getRandomValues(new Uint8Array(count)), (byte) => byte % 10).join("");
    const expiryDate = new Date(Date.now() + 365 * DAY_MS).toISOString().slice(0, 10);
    const card = { cardNumber: `606435${digits(13)}`, pin: digits(6), balanceCents, isBlocked: false, expiryDate };
    this.#cards.set(card.cardNumber, card);
    return card;
  }

  /** @throws {Refusal} as all operations */
  balance(request: RequestOf<"balance">): ResponseOf<"balance"> {
    const { balanceCents, isBlocked, expiryDate } = this.#open(request);
    const cardStatus = isBlocked
      ? "Blocked"
      : isOver(expiryDate)
        ? "Expired"
        : balanceCents === 0
          ? "No balance"
          : "Active";
    return { balanceCents: cents(balanceCents), currency: "EUR", cardStatus, expiryDate, success: undefined };
  }

  /** @returns also whether the key's first devalue is only repeated */
  devalue(request: RequestOf<"devalue">, key: string | null): ResponseOf<"devalue"> & { isReplay: boolean } {
    const { cardNumber, pin, amountCents } = request;
    const parameters = JSON.stringify([cardNumber.reveal(), pin.reveal(), amountCents]);
    const known = key === null ? undefined : this.#keys.get(key);
    if (known === null) refuse("key_closed");
    if (known && known.parameters !== parameters) refuse("idempotency_key_reused");
    if (known && known.at < Date.now() - DAY_MS) refuse("idempotency_key_spent");
    const deduction = known ?? this.#deduct(this.#open(request), amountCents, parameters);
    if (key !== null) this.#keys.set(key, deduction);
    return {
      isReplay: known !== undefined,
      success: true as const,
      deductedCents: cents(deduction.cents),
      remainderCents: cents(amountCents - deduction.cents),
      cancelToken: new Secret(deduction.token),
    };
  }

  #deduct(card: TestCard, amountCents: number, parameters: string): Deduction {
    if (card.isBlocked) refuse("card_blocked");
    if (isOver(card.expiryDate)) refuse("card_expired");
    if (card.balanceCents === 0) refuse("card_no_balance");
    const taken = Math.min(amountCents, card.balanceCents, MAX_DEDUCTION_CENTS);
    card.balanceCents -= taken;
    const at = Date.now();
    const deduction = { card, cents: taken, token: crypto.randomUUID(), parameters, at, isReversed: false };
    this.#deductions.set(deduction.token, deduction);
    return deduction;
  }

  /** Reverses the devalue of a token, or of a key. */
  cancelDevalue(
    { cancelToken }: Pick<RequestOf<"cancelDevalue">, "cancelToken">,
    key: string | null,
  ): ResponseOf<"cancelDevalue"> {
    if (cancelToken) return this.#reverse(this.#deductions.get(cancelToken.reveal()) ?? refuse("token_invalid"));
    if (key === null) return refuse("invalid_request");
    const known = this.#keys.get(key);
    if (known) return this.#reverse(known);
    this.#keys.set(key, null);
    return refuse("devalue_not_done");
  }

  #reverse(deduction: Deduction): ResponseOf<"cancelDevalue"> {
    const { card } = deduction;
    if (deduction.isReversed) refuse("token_used");
    deduction.isReversed = true;
    card.balanceCents += deduction.cents;
    return { refundedCents: cents(deduction.cents), balanceCents: cents(card.balanceCents), success: true as const };
  }

  /** Returns the card of a number and PIN. Counts wrong ones, also of unknown numbers. */
  #open({ cardNumber, pin }: RequestOf<"balance">): TestCard {
    const number = cardNumber.reveal();
    const recent = (this.#failures.get(number) ?? []).filter((at) => at > Date.now() - LOCK_MS);
    if (recent.length >= PIN_FAILURES) refuse("card_locked");
    const card = this.#cards.get(number);
    if (card?.pin === pin.reveal()) return card;
    this.#failures.set(number, [...recent, Date.now()]);
    return refuse("invalid_card");
  }
}

const isOver = (expiryDate: string) => expiryDate < new Date().toISOString().slice(0, 10);
