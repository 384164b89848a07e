import { randomUUID } from "node:crypto";
import { type Cents, cents, RefusedError, type RefusedErrorCode, Secret } from "@giftcard-pay/client";
import type { CardIssuer } from "../src/plugin.js";

interface DollarCard {
  readonly pin: string;
  balanceCents: number;
  isBlocked: boolean;
  wrongPins: number;
}

interface Deduction {
  readonly call: string;
  readonly card: DollarCard;
  readonly amountCents: number;
  readonly result: Awaited<ReturnType<CardIssuer["devalue"]>>;
  isReversed: boolean;
}

type Operation = "balance" | "devalue" | "cancelDevalue";

/** Another issuer of cards, with an interface of its own: US dollars, at most 100.00 at once. It shares no code with the service. */
export class DollarIssuer implements CardIssuer {
  readonly currency = "USD";
  readonly maxDeductionCents = 10_000;
  readonly environment = "sandbox";
  readonly baseUrl = "https://dollars.example";
  readonly companyId = 4711;
  readonly #cards = new Map<string, DollarCard>();
  readonly #byKey = new Map<string, Deduction | "closed">();

  /** Issues a card. */
  issueCard(balanceCents: number): { cardNumber: string; pin: string } {
    const cardNumber = `USD-${randomUUID()}`;
    this.#cards.set(cardNumber, { pin: "2468", balanceCents, isBlocked: false, wrongPins: 0 });
    return { cardNumber, pin: "2468" };
  }

  block(cardNumber: string): void {
    const card = this.#cards.get(cardNumber);
    if (card) card.isBlocked = true;
  }

  async checkAccess(): Promise<void> {}

  async balance(entry: Parameters<CardIssuer["balance"]>[0]): ReturnType<CardIssuer["balance"]> {
    const { balanceCents, isBlocked } = this.#open("balance", entry);
    const cardStatus = isBlocked ? "Blocked" : balanceCents === 0 ? "No balance" : "Active";
    return { balanceCents: cents(balanceCents), currency: "usd", cardStatus, expiryDate: "" };
  }

  async devalue(wanted: Parameters<CardIssuer["devalue"]>[0]): ReturnType<CardIssuer["devalue"]> {
    const { amountCents, reference = randomUUID() } = wanted;
    const call = `${Secret.of(wanted.cardNumber).reveal()} ${amountCents}`;
    const earlier = this.#byKey.get(reference);
    if (earlier === "closed") throw refusal("devalue", "key_closed");
    if (earlier && earlier.call !== call) throw refusal("devalue", "idempotency_key_reused");
    if (earlier) return { ...earlier.result, replayed: true };
    const card = this.#open("devalue", wanted);
    if (card.isBlocked) throw refusal("devalue", "card_blocked");
    if (card.balanceCents === 0) throw refusal("devalue", "card_no_balance");
    const taken = Math.min(amountCents, card.balanceCents, this.maxDeductionCents);
    card.balanceCents -= taken;
    const result = {
      deductedCents: cents(taken),
      remainderCents: cents(amountCents - taken),
      cancelToken: new Secret(randomUUID()),
      replayed: false,
      keyHonoured: true,
    };
    this.#byKey.set(reference, { call, card, amountCents: taken, result, isReversed: false });
    return result;
  }

  async cancelDevalue({
    cancelToken,
  }: Parameters<CardIssuer["cancelDevalue"]>[0]): ReturnType<CardIssuer["cancelDevalue"]> {
    const token = Secret.of(cancelToken).reveal();
    const found = [...this.#byKey.values()].find(
      (one) => one !== "closed" && one.result.cancelToken.reveal() === token,
    );
    if (!found || found === "closed") throw refusal("cancelDevalue", "token_invalid");
    if (found.isReversed) throw refusal("cancelDevalue", "token_used");
    return this.#reverse(found);
  }

  async resolveDevalue(reference: string): ReturnType<CardIssuer["resolveDevalue"]> {
    const found = this.#byKey.get(reference) ?? "closed";
    this.#byKey.set(reference, found);
    if (found === "closed") return { outcome: "not_done" };
    return found.isReversed ? { outcome: "already_reversed" } : { outcome: "reversed", ...this.#reverse(found) };
  }

  #reverse(deduction: Deduction): { refundedCents: Cents; balanceCents: Cents } {
    deduction.isReversed = true;
    deduction.card.balanceCents += deduction.amountCents;
    return { refundedCents: cents(deduction.amountCents), balanceCents: cents(deduction.card.balanceCents) };
  }

  #open(operation: Operation, entry: Parameters<CardIssuer["balance"]>[0]): DollarCard {
    const card = this.#cards.get(Secret.of(entry.cardNumber).reveal());
    if (!card) throw refusal(operation, "invalid_card");
    if (card.wrongPins >= 10) throw refusal(operation, "card_locked");
    if (card.pin === Secret.of(entry.pin).reveal()) return card;
    card.wrongPins += 1;
    throw refusal(operation, "invalid_card");
  }
}

const refusal = (endpoint: Operation, code: RefusedErrorCode) =>
  new RefusedError(code, { endpoint, status: 422, keyHonoured: true });
