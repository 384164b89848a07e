import type { RemainderPart, RemainderRequest } from "../../src/remainder.js";
import type { Charge, Move, NewPurchase, Purchase, PurchaseChange, PurchaseLease } from "../../src/store/index.js";
import type { BankWatcher, PayInput, Payment } from "./bank.js";
import type { IssuerWatcher, LedgerEntry } from "./issuer.js";
import type { MemoryStore, Row } from "./memory-store.js";
import type { Process } from "./network.js";
import type { Plan } from "./plan.js";
import { agreement, type Story } from "./story.js";

/** The world as far as its steps are checked. */
export interface Watched {
  readonly memory: MemoryStore;
  readonly plan: Plan;
  readonly stories: readonly Story[];
  violate(kind: string, text: string): void;
  opened(payment: Payment, input: PayInput): void;
  purchase(orderId: string): Row | undefined;
  isSettled(purchase: Row | undefined, attemptId: string): boolean;
  references(attemptId: string): readonly string[];
  heldCents(attemptId: string): number;
}

/** Checks every step while a history runs. */
export class Watch implements IssuerWatcher, BankWatcher {
  readonly #sent = new Set<string>();
  /** The state that each purchase was last moved to. */
  readonly #states = new Map<string, string>();
  /** Attempts whose leases were renewed since their last slow step: of the purchase, and of its charges. */
  readonly #renewed = { purchase: new Set<string>(), charges: new Set<string>() };
  constructor(private readonly world: Watched) {}

  violate(kind: string, text: string): void {
    this.world.violate(kind, text);
  }

  opened(payment: Payment, input: PayInput): void {
    this.world.opened(payment, input);
  }

  #charge(reference: string): Row | undefined {
    return this.world.memory.read("select * from giftcard_charge where reference = ?", reference)[0];
  }

  /** A devalue is sent once, after it was recorded, and for what was shown. */
  devalueSent(_process: Process, reference: string, amountCents: number): void {
    if (this.#sent.has(reference)) this.violate("a devalue is sent twice", reference);
    this.#sent.add(reference);
    const charge = this.#charge(reference);
    // Recovery may have ended it since, if this process was suspended.
    if (!charge?.sent_at || charge.amount_cents !== amountCents)
      this.violate(
        "a devalue is sent before it is recorded",
        `${reference}: ${charge?.state}, ${charge?.amount_cents}`,
      );
    this.#checkRenewed(String(charge?.attempt_id), true);
    if (amountCents > 5000) this.violate("more than the issuer's limit", String(amountCents));
    const purchase = this.world.purchase(String(charge?.order_id));
    if (purchase?.attempt_id === charge?.attempt_id) this.#checkAgreed(purchase);
  }

  /** Each slow step of a payment needs leases that were renewed, and not lost. */
  #checkRenewed(attemptId: string, hasCharges: boolean): void {
    if (!this.#renewed.purchase.delete(attemptId)) this.violate("a purchase's lease isn't renewed", attemptId);
    if (!this.#renewed.charges.delete(attemptId) && hasCharges)
      this.violate("a charge's lease isn't renewed", attemptId);
  }

  #checkAgreed(purchase: Row | undefined): void {
    const story = this.world.stories.find(({ id }) => id === purchase?.order_id);
    if (!purchase || !story || story.isUnshown) return;
    const asked = agreement({
      totalCents: purchase.total_cents as never,
      remainderCents: purchase.remainder_cents as never,
    });
    if (!story.agreed.has(asked))
      this.violate("charged another amount than shown", `${asked}, shown ${[...story.agreed].join(" ")}`);
  }

  /** A reversal is recorded as owed before it is sent, unless the store can't be used. */
  reversalSent(process: Process, entry: LedgerEntry | undefined): void {
    const charge = entry && this.#charge(entry.reference);
    if (!charge || charge.state === "reversing" || process.hasLostStore) return;
    // Another process may have reversed it meanwhile.
    if (charge.state === "reversed") return;
    this.violate("a reversal is sent before it is recorded", `${charge.reference}: ${charge.state}`);
  }

  authorizationSent({ orderId, attemptId, remainderCents }: RemainderRequest): void {
    this.#checkRenewed(attemptId, this.world.references(attemptId).length > 1);
    const purchase = this.world.purchase(orderId);
    if (purchase?.attempt_id !== attemptId) return;
    if (purchase.remainder_cents !== remainderCents)
      this.violate("the bank is asked for another remainder", `${remainderCents}, not ${purchase.remainder_cents}`);
    if (remainderCents < this.world.plan.leastRemainderCents && remainderCents < Number(purchase.total_cents))
      this.violate("less than the bank's least amount", String(remainderCents));
    this.#checkAgreed(purchase);
  }

  /** A remainder is canceled only once its attempt is being reversed, or was replaced. */
  cancelSent({ orderId, attemptId }: RemainderRequest): void {
    const purchase = this.world.purchase(orderId);
    const isCurrent = purchase?.attempt_id === attemptId;
    const state = String(purchase?.state);
    if (isCurrent && !["voiding", "canceling", "failed", "canceled"].includes(state))
      this.violate("the bank is told to cancel what isn't being reversed", `${orderId} is ${state}`);
    if (this.world.isSettled(purchase, attemptId))
      this.violate("a settled remainder is canceled", `${orderId}, ${attemptId}`);
  }

  refundSent({ orderId, attemptId }: RemainderRequest, { amountCents, id }: RemainderPart): void {
    const [refund] = this.world.memory.read("select * from giftcard_refund where order_id = ? and id = ?", orderId, id);
    if (refund?.remainder_cents !== amountCents)
      this.violate("a refund is sent before it is recorded", `${amountCents}, recorded ${refund?.remainder_cents}`);
    if (this.world.isSettled(this.world.purchase(orderId), attemptId))
      this.violate("a settled remainder is refunded", `${orderId}, ${attemptId}`);
  }

  /** Returns who has the lease that a write requires, before it. */
  leaseOf(name: string, [id, change]: readonly unknown[]): unknown {
    if ((name !== "move" && name !== "change") || (change as Move).owner === undefined) return undefined;
    return (name === "move" ? this.#charge(String(id)) : this.world.purchase(String(id)))?.lease_owner;
  }

  /** Looks at a write. */
  written(name: string, args: readonly unknown[], result: unknown, leased: unknown): void {
    if (result === null) return;
    if (leased !== undefined && leased !== (args[1] as Move).owner)
      this.violate("a write without its lease", `${name} ${args[0]}`);
    if (name === "move" && (args[1] as Move).to === "committed") this.#checkCommitted(result as Charge);
    if (name === "begin" && Array.isArray(result)) this.#renewed.charges.add((args[1] as PurchaseLease).owner);
    else if (name === "begin") this.#checkBegun(args[0] as NewPurchase, result as Purchase);
    const isWhole = name === "renew" && Number(result) >= this.world.references(String(args[0])).length;
    if (isWhole) this.#renewed.charges.add(String(args[0]));
    if (name !== "change") return;
    const [orderId, change] = args as [string, PurchaseChange];
    this.#states.set(orderId, change.to);
    if (change.attemptId !== undefined && change.lease?.owner === change.attemptId)
      this.#renewed.purchase.add(change.attemptId);
    if (change.remainderSettledBy !== undefined && ["charging", "pending", "paid"].includes(change.to))
      this.violate("settled although nothing is being returned", `${orderId} is ${change.to}`);
    const isDecided = change.to === "paid" && change.from.some((state) => state === "charging" || state === "pending");
    if (isDecided) this.checkPaid(orderId, "when it is decided");
  }

  /** An attempt begins after the last one has failed, and has nothing of it. */
  #checkBegun({ orderId, attemptId }: NewPurchase, begun: Purchase): void {
    if (begun.attemptId !== attemptId) return;
    const before = this.#states.get(orderId) ?? "failed";
    if (before !== "failed")
      this.violate("a new attempt begins before the last one has failed", `${orderId} is ${before}`);
    if (begun.remainderSettledBy) this.violate("a new attempt is settled already", orderId);
    this.#states.set(orderId, "charging");
    this.#renewed.purchase.add(attemptId);
  }

  /** Charges are committed to orders that are paid. */
  #checkCommitted({ reference, orderId }: Charge): void {
    const state = String(this.world.purchase(String(orderId))?.state);
    if (["charging", "pending", "voiding", "failed"].includes(state))
      this.violate("committed to an order that isn't paid", `${reference}, ${orderId} is ${state}`);
  }

  /** An order that counts as paid has all of its money, except for what was refunded. */
  checkPaid(orderId: string, when: string, isWhole = false): void {
    const purchase = this.world.purchase(orderId);
    if (purchase?.state !== "paid" || purchase.remainder_settled_by !== null || this.#hasDecisions()) return;
    const [refunds] = this.world.memory.read(
      "select count(*) as count from giftcard_refund where order_id = ?",
      orderId,
    );
    if (refunds?.count !== 0 && !isWhole) return;
    const heldCents = this.world.heldCents(String(purchase.attempt_id));
    if (heldCents !== purchase.total_cents)
      this.violate("paid without its money", `${orderId}, ${when}: ${heldCents} of ${purchase.total_cents}`);
  }

  /** Whether a person has decided about a charge. */
  #hasDecisions(): boolean {
    return Number(this.world.memory.read("select count(*) as count from giftcard_action")[0]?.count) > 0;
  }
}
