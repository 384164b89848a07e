import { randomUUID } from "node:crypto";
import { type Cents, GiftcardError, ProtocolError, RefusedError } from "@giftcard-pay/client";
import { SealError } from "../sealing/seal.js";
import type { Charge, ChargeState, Move } from "../store/charge.js";
import { cancelableStates, chargedStates, recoverableStates } from "../store/charge-states.js";
import { type EngineContext, moveAndAnnounce, referencesOf } from "./context.js";
import type { Engine, RecoverOptions } from "./engine.js";
import { retryUntilWritten } from "./late-writes.js";
import { codeOf } from "./observers.js";

type OrderOf = RecoverOptions["orderOf"];
/** Whether another part decides about the charge. */
const isLeft = (answer: string | symbol | null): answer is symbol => answer !== null && typeof answer !== "string";
/** Further changes of a charge and its tender. */
type Also = Pick<Move, "restore" | "orderId">;

/** The error of a seal whose key another process may have, but not this one. */
const UNKNOWN_KEY = "seal_unknown_key";
const isSealedByOtherKey = (error: unknown) => error instanceof SealError && error.fault === "unknown_key";

const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 60 * 60_000;

/** Returns an exponential backoff from five seconds to an hour, with jitter to spread the retries after an outage. */
export function retryDelayMs(tries: number): number {
  const ceiling = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(tries, 20));
  return Math.round(ceiling * (0.5 + Math.random() / 2));
}

/** Returns the amount that was taken: what the service has reversed, or what was asked for if that answer was lost. */
function deductionOf(
  { amountCents }: Charge,
  end: { outcome: string; refundedCents?: Cents },
): { deductedCents?: Cents } {
  const { outcome, refundedCents = 0 } = end;
  if (outcome === "already_reversed") return { deductedCents: amountCents };
  return refundedCents > 0 && refundedCents <= amountCents ? { deductedCents: refundedCents as Cents } : {};
}

/** Reverses charges, and resolves those whose outcome is unknown. */
export function createRecovery(context: EngineContext) {
  const { issuer, journal, sealer, leaseMs } = context;
  const { move, moveAll } = moveAndAnnounce(context);

  /** Whether the configured service made this charge. Another service must not get its reference or token. */
  const isOurs = (charge: Charge) =>
    charge.environment === context.environment &&
    charge.baseUrl === issuer.baseUrl &&
    charge.companyId === context.companyId;

  const current = async (reference: string): Promise<Charge> => {
    const charge = await journal.charge(reference);
    if (!charge) throw new TypeError(`There is no charge ${reference}.`);
    return charge;
  };

  const needAttention = (charge: Charge, reason: string) =>
    move(charge.reference, { from: [charge.state], to: "needs_attention", reason, lease: null });

  async function retryLater(charge: Charge, lastError: string): Promise<Charge> {
    const retryInMs = retryDelayMs(charge.tries);
    const change = { from: [charge.state], to: charge.state, retryInMs, lastError, lease: null };
    return (await move(charge.reference, change)) ?? current(charge.reference);
  }

  /**
   * Resolves a charge of unknown outcome by its idempotency key. It stays unknown while the service can't be reached.
   *
   * @param refusal the code of a refusal without the key; it counts if the service can't resolve by key
   */
  async function resolveByKey(charge: Charge, refusal?: string): Promise<Charge> {
    if (!isOurs(charge)) return (await needAttention(charge, "service_not_configured")) ?? current(charge.reference);
    const settled = { from: ["unknown"], sealedCard: null, lease: null } as const;
    const refuse = async (why: { reason?: string }) =>
      (await move(charge.reference, { ...settled, to: "refused", ...why })) ?? current(charge.reference);
    try {
      const end = await issuer.resolveDevalue(charge.reference);
      if (end.outcome === "not_done") return refuse({});
      const reversed = { ...settled, to: "reversed", ...deductionOf(charge, end) } as const;
      return (await move(charge.reference, reversed)) ?? current(charge.reference);
    } catch (error) {
      if (!(error instanceof GiftcardError)) throw error;
      if (error instanceof ProtocolError && error.code === "extension_not_supported")
        return refusal ? refuse({ reason: refusal }) : readEvidence(charge);
      return retryLater(charge, error.code);
    }
  }

  /** Reads the card's balance for a person, if the service can't resolve by key. A balance is evidence, not proof. */
  async function readEvidence(charge: Charge): Promise<Charge> {
    let balanceAfterCents: Charge["balanceAfterCents"] = null;
    try {
      if (charge.sealedCard && isOurs(charge)) {
        const card = await sealer.openChargeCard(charge.sealedCard, charge.reference);
        balanceAfterCents = (await issuer.balance(card)).balanceCents;
      }
    } catch (error) {
      if (isSealedByOtherKey(error)) return retryLater(charge, UNKNOWN_KEY);
      if (!(error instanceof GiftcardError || error instanceof SealError)) throw error;
    }
    const moved = await move(charge.reference, {
      from: [charge.state],
      to: "needs_attention",
      reason: "outcome_unknown",
      lease: null,
      ...(balanceAfterCents === null ? {} : { balanceAfterCents }),
    });
    return moved ?? current(charge.reference);
  }

  /** Tries a reversal that is recorded as owed. Only 200 and 409 (already reversed) complete it. */
  async function reverseOwed(charge: Charge): Promise<Charge> {
    if (!isOurs(charge)) return (await needAttention(charge, "service_not_configured")) ?? current(charge.reference);
    const reversed = { from: ["reversing"], to: "reversed", sealedCard: null, lease: null } as const;
    try {
      const cancelToken = await sealer.openToken(charge.sealedToken ?? "", charge.reference);
      const { refundedCents } = await issuer.cancelDevalue({ cancelToken });
      if (refundedCents !== charge.deductedCents) {
        // The token is used up. If this were not written, a retry would be told that all is reversed.
        return (await retryUntilWritten(() => needAttention(charge, "refund_differs"))) ?? current(charge.reference);
      }
      return (await move(charge.reference, reversed)) ?? current(charge.reference);
    } catch (error) {
      // Retry later: a process that has the key, such as one with the new configuration, can reverse the charge.
      if (isSealedByOtherKey(error)) return retryLater(charge, UNKNOWN_KEY);
      if (error instanceof SealError)
        return (await needAttention(charge, `seal_${error.fault}`)) ?? current(charge.reference);
      if (!(error instanceof GiftcardError)) throw error;
      if (error instanceof RefusedError && error.code === "token_used") {
        return (await move(charge.reference, reversed)) ?? current(charge.reference);
      }
      if (error instanceof RefusedError && error.code === "token_invalid") {
        return (await needAttention(charge, "token_invalid")) ?? current(charge.reference);
      }
      return retryLater(charge, error.code);
    }
  }

  /**
   * @param options.also further changes of the charge and its tender, made in any state
   * @param options.from the states from which a charge is reversed
   */
  async function reverse(
    reference: string,
    reason: string,
    { also = {}, from = chargedStates }: { also?: Also; from?: readonly ChargeState[] } = {},
  ): Promise<Charge> {
    await context.lateWrites.flush();
    const lease = { owner: randomUUID(), forMs: leaseMs };
    const never = { from: ["intent"], to: "refused", reason, sealedCard: null, lease: null } as const;
    const owed = { from, to: "reversing", reason, lease } as const;
    const moved = (await move(reference, { ...never, ...also })) ?? (await move(reference, { ...owed, ...also }));
    if (moved) return moved.state === "reversing" ? reverseOwed(moved) : moved;
    const charge = await current(reference);
    // A concurrent devalue has just moved it into one of these states.
    if (from.includes(charge.state)) return reverse(reference, reason, { also, from });
    // The charge can't be reversed, or is already. Its card may still be put back on the cart.
    const unchanged = { from: [charge.state], to: charge.state, ...also };
    const now = (also.restore && (await journal.move(reference, unchanged))) ?? charge;
    return now.state === "reversing" ? reverseOwed(now) : now;
  }

  const cancel: Engine["cancel"] = async (externalId) => {
    const read = () => journal.chargesOfPayment(externalId);
    const reason = "canceled";
    for (;;) {
      const open = (await read()).filter(({ state }) => cancelableStates.includes(state));
      const lease = { owner: randomUUID(), forMs: leaseMs };
      const owed = { from: cancelableStates, to: "reversing", reason, lease } as const;
      // All or none: a concurrent capture must find every charge of the payment, or none.
      if (open.length === 0 || (await moveAll(referencesOf(open), owed))) break;
    }
    const charges = await read();
    if (charges.length === 0) throw new TypeError(`There is no payment ${externalId}.`);
    const canceled: Charge[] = [];
    for (const { reference } of charges) canceled.push(await reverse(reference, reason, { from: cancelableStates }));
    return canceled;
  };

  const voidCharge: Engine["void"] = (reference, { orderIsGone = false } = {}) => {
    const restore = { maxCards: context.maxCards };
    return reverse(reference, "completion_failed", {
      also: orderIsGone ? { restore, orderId: null } : { restore },
    });
  };

  /** Settles a claimed charge after a crash or a lost response: a devalued one is committed to its order, or reversed. */
  async function recoverClaimed(charge: Charge, owner: string, orderId: string | null): Promise<Charge> {
    const { reference } = charge;
    switch (charge.state) {
      case "intent": {
        const never = { from: ["intent"], to: "refused", reason: "not_sent", sealedCard: null } as const;
        return (await move(reference, { ...never, owner, lease: null })) ?? current(reference);
      }
      case "sent": {
        const interrupted = { from: ["sent"], to: "unknown", reason: "interrupted", owner } as const;
        const unknown = await move(reference, interrupted);
        return unknown ? resolveByKey(unknown) : current(reference);
      }
      case "devalued": {
        if (orderId !== null) {
          const paid = { from: ["devalued"], to: "committed", orderId, owner, lease: null } as const;
          return (await move(reference, paid)) ?? current(reference);
        }
        const unordered = { from: ["devalued"], to: "reversing", reason: "never_ordered", owner } as const;
        const owed = await move(reference, unordered);
        return owed ? reverseOwed(owed) : current(reference);
      }
      case "unknown":
        return resolveByKey(charge);
      case "reversing":
        return reverseOwed(charge);
      default:
        return charge;
    }
  }

  /** Settles a due charge. Records and reports errors instead of throwing. Returns null if another part decides. */
  async function recoverDue(due: Charge, orderOf: OrderOf): Promise<Charge | null> {
    const lease = { owner: randomUUID(), forMs: leaseMs };
    const ask = async (charge: Charge) => (charge.state === "devalued" && orderOf ? orderOf(charge) : null);
    try {
      // Before the claim: if the purchase decides about this charge, it must keep its lease.
      if (isLeft(await ask(due))) return null;
      const claimed = await journal.claim(due.reference, lease);
      if (!claimed) return null;
      // Ask again: its completion can't commit the charge any more, but may have placed the order before the claim.
      const orderId = await ask(claimed);
      if (!isLeft(orderId)) return await recoverClaimed(claimed, lease.owner, orderId);
      await journal.release(due.reference, lease.owner);
      return null;
    } catch (error) {
      context.report(error);
      return putOff(due, lease.owner, error).catch((again: unknown) => {
        context.report(again);
        return due;
      });
    }
  }

  async function putOff(due: Charge, owner: string, error: unknown): Promise<Charge> {
    const now = await current(due.reference);
    if (!recoverableStates.includes(now.state)) return now;
    const held = now.leaseOwner === owner ? { owner, lease: null } : {};
    const change = { retryInMs: retryDelayMs(now.tries), lastError: codeOf(error) ?? "internal", ...held };
    return (await move(now.reference, { from: [now.state], to: now.state, ...change })) ?? now;
  }

  /** Settles one charge at a time: with a slow service, the leases of waiting charges would run out. */
  async function recoverAll({ limit = Number.POSITIVE_INFINITY, signal, orderOf }: RecoverOptions, cartId?: string) {
    await context.lateWrites.flush();
    const settled: Charge[] = [];
    let due = await journal.nextDue("", cartId);
    while (due && settled.length < limit && !signal?.aborted) {
      const charge = await recoverDue(due, orderOf);
      if (charge) settled.push(charge);
      due = await journal.nextDue(due.reference, cartId);
    }
    return settled;
  }

  async function recoverCart(cartId: string, options: RecoverOptions = {}): Promise<void> {
    await recoverAll(options, cartId);
  }

  async function recover(options: RecoverOptions = {}): Promise<Charge[]> {
    const settled = await recoverAll(options);
    await journal.purge().catch(context.report);
    return settled;
  }

  return { resolveByKey, readEvidence, reverseOwed, reverse, cancel, void: voidCharge, recoverCart, recover };
}

export type Recovery = ReturnType<typeof createRecovery>;
