import { cents, ProtocolError, RefusedError, Secret, UnreachableError } from "@giftcard-pay/client";
import type { CardIssuer } from "../../src/plugin.js";
import { IssuerBooks, Refusal, type TestCard } from "../../testing/issuer-books.js";
import type { Network, Process } from "./network.js";
import type { FaultKind } from "./plan.js";

/** The timeout of the client. */
const TIMEOUT_MS = 10_000;

type Operation = "balance" | "devalue" | "cancelDevalue";

/** A devalue as the issuer's ledger has it. */
export interface LedgerEntry {
  readonly reference: string;
  readonly card: TestCard;
  readonly takenCents: number;
  readonly token: string;
  isReversed: boolean;
}

/** Watches the calls of processes to the issuer. */
export interface IssuerWatcher {
  devalueSent(process: Process, reference: string, amountCents: number): void;
  reversalSent(process: Process, entry: LedgerEntry | undefined): void;
}

/** The issuer for tests behind the network. It keeps a ledger of its own. */
export class Issuer {
  readonly books = new IssuerBooks();
  readonly ledger = new Map<string, LedgerEntry>();
  readonly #byToken = new Map<string, LedgerEntry>();

  constructor(
    private readonly network: Network,
    private readonly watcher: IssuerWatcher,
    private readonly hasKeys: boolean,
  ) {}

  /** Returns how much the issuer holds of these references. */
  heldCents(references: readonly string[]): number {
    return references.reduce((sum, reference) => {
      const entry = this.ledger.get(reference);
      return sum + (entry && !entry.isReversed ? entry.takenCents : 0);
    }, 0);
  }

  /** Returns the issuer of a process. */
  of(process: Process): CardIssuer {
    const send = <T>(name: Operation, act: () => T, onSend?: () => void) =>
      this.network.call<T>(process, {
        // Without keys, nobody can tell a late or repeated devalue from a new one.
        isAtOnce: name === "devalue" && !this.hasKeys,
        ...{ place: "issuer" as const, name, onSend, timeoutMs: TIMEOUT_MS },
        act: () => this.#refusing(name, act),
        failure: (kind) => failure(name, kind),
        garbled: () => {
          // Something in between answers, and the issuer did what it was asked. Without keys, its refusal would count.
          throw name === "devalue" && this.hasKeys && this.ledger.size % 2 === 0
            ? new RefusedError("card_blocked", { endpoint: name, status: 400 })
            : new ProtocolError("unexpected_answer", { endpoint: name, status: 200 });
        },
      });
    const open = ({ cardNumber, pin }: Parameters<CardIssuer["balance"]>[0]) => ({
      ...{ apiKey: new Secret("key"), companyId: 1 },
      ...{ cardNumber: Secret.of(cardNumber), pin: Secret.of(pin) },
    });
    return {
      ...{ currency: "EUR", maxDeductionCents: 5000, environment: "sandbox", companyId: 1 },
      baseUrl: "https://issuer.example",
      checkAccess: async () => {},
      balance: (card) => send("balance", () => this.books.balance(open(card))),
      devalue: ({ reference = "", amountCents, ...card }) =>
        send(
          "devalue",
          () => this.#devalue(reference, amountCents, open(card)),
          () => this.watcher.devalueSent(process, reference, amountCents),
        ),
      cancelDevalue: ({ cancelToken }) => {
        const entry = this.#byToken.get(Secret.of(cancelToken).reveal());
        return send(
          "cancelDevalue",
          () => {
            const back = this.books.cancelDevalue({ cancelToken: Secret.of(cancelToken) }, null);
            if (entry) entry.isReversed = true;
            return back;
          },
          () => this.watcher.reversalSent(process, entry),
        );
      },
      resolveDevalue: (reference) => send("cancelDevalue", () => this.#resolve(reference)),
    };
  }

  #devalue(reference: string, amountCents: number, card: Omit<Parameters<IssuerBooks["devalue"]>[0], "amountCents">) {
    const request = { ...card, amountCents: cents(amountCents) };
    const { isReplay, deductedCents, remainderCents, cancelToken } = this.books.devalue(
      request,
      this.hasKeys ? reference : null,
    );
    if (!isReplay) {
      const token = cancelToken.reveal();
      const owner = this.cards.find(({ cardNumber }) => cardNumber === card.cardNumber.reveal()) as TestCard;
      const entry = { reference, card: owner, takenCents: deductedCents, token, isReversed: false };
      this.ledger.set(reference, entry);
      this.#byToken.set(token, entry);
    }
    return { deductedCents, remainderCents, cancelToken, replayed: isReplay, keyHonoured: this.hasKeys };
  }

  #resolve(reference: string): Awaited<ReturnType<CardIssuer["resolveDevalue"]>> {
    if (!this.hasKeys) throw new ProtocolError("extension_not_supported", { endpoint: "cancelDevalue", status: 400 });
    try {
      const { refundedCents, balanceCents } = this.books.cancelDevalue({ cancelToken: undefined }, reference);
      const entry = this.ledger.get(reference);
      if (entry) entry.isReversed = true;
      return { outcome: "reversed", refundedCents, balanceCents };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.code === "devalue_not_done") return { outcome: "not_done" };
      if (error.code === "token_used") return { outcome: "already_reversed" };
      throw error;
    }
  }

  #refusing<T>(name: Operation, act: () => T): T {
    try {
      return act();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const code = error.code === "internal" || error.code === "overloaded" ? "refused" : error.code;
      throw new RefusedError(code, { endpoint: name, status: 400, keyHonoured: this.hasKeys && name === "devalue" });
    }
  }

  /** The cards, with the balances that they were issued with. */
  readonly cards: TestCard[] = [];

  issue(balanceCents: number): TestCard {
    const card = this.books.issue(balanceCents);
    this.cards.push(card);
    return card;
  }
}

function failure(endpoint: Operation, kind: FaultKind): Error {
  if (kind === "refused") return new UnreachableError("connection_lost", { endpoint });
  return new UnreachableError(kind === "never" ? "timeout" : "connection_lost", { endpoint });
}
