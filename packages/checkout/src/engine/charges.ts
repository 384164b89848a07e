import { randomUUID } from "node:crypto";
import { type Cents, cents, GiftcardError, RefusedError, type Secret } from "@giftcard-pay/client";
import { type Card, SealError } from "../sealing/seal.js";
import type { Charge } from "../store/charge.js";
import { orderedStates, tokenlessStates } from "../store/charge-states.js";
import type { LaidCharge } from "./charge-layout.js";
import type { Recovery } from "./charge-recovery.js";
import { type EngineContext, moveAndAnnounce, referencesOf, tenderAudience } from "./context.js";
import type { CartView, Engine, PlannedPart } from "./engine.js";
import { CheckoutError, toCheckoutError } from "./errors.js";
import { retryUntilWritten } from "./late-writes.js";

/** Whether no devalue was sent: the call could not authenticate or connect. */
const isUnsent = (error: GiftcardError) => error.endpoint === "authenticate" || error.code === "not_connected";

/**
 * Whether an error proves that no money was taken: the service echoes the idempotency key, or refuses before it reads
 * the card. After any other error, the charge is resolved by its key.
 */
const provesNothingTaken = (error: GiftcardError) =>
  isUnsent(error) ||
  (error instanceof RefusedError && (error.keyHonoured || error.status === undefined || error.isBeforeTheCall));

/** The fields of a charge that a devalue's response sets. */
interface Deduction {
  readonly deductedCents: Cents;
  readonly sealedToken: string;
  readonly sealedCard: null;
}

/** Takes money from cards, each charge once, and stores the tokens that can reverse it. */
export function createCharges(context: EngineContext, recovery: Recovery) {
  const { issuer, journal, sealer, companyId, environment, leaseMs } = context;
  const { move, moveAll } = moveAndAnnounce(context);
  /** Charges that this engine began and has not sent yet, by reference. No other engine may send them. */
  const begun = new Map<string, { owner: string; card: Card; charge: Charge }>();

  async function begin(
    cart: CartView,
    part: PlannedPart,
    externalId: string,
    owner: string,
    { orderId, attemptId, isOnlyPart = false }: NonNullable<Parameters<Engine["begin"]>[4]> = {},
  ): Promise<Charge[]> {
    const laid = part.charges ?? [{ amountCents: part.amountCents }];
    const laidCents = laid.reduce((sum, { amountCents }) => sum + amountCents, 0);
    if (laidCents !== part.amountCents) throw new RangeError("A card's charges have to add up to its part.");
    const audience = tenderAudience(context, cart.id);
    const card = await sealer.openTenderCard(part.sealedCard, audience).catch((error: unknown) => {
      // If only this process lacks the sealing key, the card may still be usable.
      const isGone = error instanceof SealError && error.fault !== "unknown_key";
      throw isGone ? new CheckoutError("applied_card_expired") : error;
    });
    const seal = async ({ amountCents, pieces }: Pick<LaidCharge, "amountCents"> & Partial<LaidCharge>) => {
      const reference = `gc_${randomUUID()}`;
      const sealedCard = await sealer.sealChargeCard(card, reference);
      return { reference, amountCents: cents(amountCents), sealedCard, pieces };
    };
    const ids = { tenderId: part.tenderId, cartId: cart.id, externalId, attemptId, orderId };
    const place = { environment, baseUrl: issuer.baseUrl, companyId };
    const sealed = await Promise.all(laid.map(seal));
    const state = isOnlyPart && sealed.length === 1 ? "sent" : "intent";
    const charges = await journal.begin({ ...ids, ...place, state, charges: sealed }, { owner, forMs: leaseMs });
    if (charges.length === 0) throw await whyNotBegun(cart.id, part.tenderId);
    for (const charge of charges) {
      begun.set(charge.reference, { owner, card, charge });
      context.onChange(charge);
    }
    return charges;
  }

  async function whyNotBegun(cartId: string, tenderId: string): Promise<CheckoutError> {
    const tender = (await journal.tenders(cartId)).find(({ id }) => id === tenderId);
    const isExpired = tender?.state === "applied" && (tender.expired || tender.sealedCard === null);
    return new CheckoutError(isExpired ? "applied_card_expired" : "payment_in_progress");
  }

  async function devalue(reference: string): Promise<Charge> {
    const intent = begun.get(reference);
    begun.delete(reference);
    if (intent === undefined) {
      const charge = await journal.charge(reference);
      if (charge?.state === "devalued") return charge;
      throw new CheckoutError("payment_in_progress");
    }
    const { owner, card } = intent;
    const send = { from: ["intent"], to: "sent", owner, lease: { owner, forMs: leaseMs } } as const;
    const sent = intent.charge.state === "sent" ? intent.charge : await move(reference, send);
    if (!sent) throw new CheckoutError("payment_in_progress");
    let answer: Awaited<ReturnType<typeof issuer.devalue>>;
    try {
      answer = await issuer.devalue({ ...card, amountCents: sent.amountCents, reference });
    } catch (error) {
      if (!(error instanceof GiftcardError)) throw error;
      throw provesNothingTaken(error) ? await refuse(sent, error) : await resolveUnknown(sent, error);
    }
    const deduction = {
      deductedCents: answer.deductedCents,
      sealedToken: await sealer.sealToken(answer.cancelToken, reference),
      sealedCard: null,
    };
    const isComplete = deduction.deductedCents === sent.amountCents;
    const reason = isComplete ? "answered_too_late" : "balance_changed";
    const written = await retryUntilWritten(() => record(sent, owner, deduction, reason)).catch((error: unknown) =>
      reverseUnwritten(sent, answer.cancelToken, deduction, error),
    );
    if (written.state === "devalued") return written;
    if (written.state === "reversing") await recovery.reverseOwed(written);
    throw new CheckoutError(isComplete ? "payment_in_progress" : "balance_changed");
  }

  /** Records the token whatever state the charge has reached by now, so that no token is lost. */
  async function record(sent: Charge, owner: string, deduction: Deduction, reason: string): Promise<Charge> {
    const { reference } = sent;
    const lease = { owner, forMs: leaseMs };
    const isComplete = deduction.deductedCents === sent.amountCents;
    const devalued = { from: ["sent"], to: "devalued", owner, lease, ...deduction } as const;
    const owed = { from: tokenlessStates, to: "reversing", reason, lease, ...deduction } as const;
    const written = (isComplete && (await move(reference, devalued))) || (await move(reference, owed));
    // An earlier attempt may have written it, and its response was lost.
    return written ?? (await journal.charge(reference)) ?? sent;
  }

  /**
   * Reverses a charge at once if the store can't take its token. The result stays in this process's memory until it can
   * be written.
   */
  async function reverseUnwritten(
    { reference }: Charge,
    cancelToken: Secret,
    deduction: Deduction,
    failure: unknown,
  ): Promise<never> {
    const to = await issuer.cancelDevalue({ cancelToken }).then(
      ({ refundedCents }) => (refundedCents === deduction.deductedCents ? "reversed" : "needs_attention"),
      (error: unknown) => (error instanceof RefusedError && error.code === "token_used" ? "reversed" : "reversing"),
    );
    const reason = to === "needs_attention" ? "refund_differs" : "not_written";
    // The write may have succeeded although its response was lost: reverse that too.
    const from = [...tokenlessStates, "devalued"] as const;
    context.lateWrites.add(reference, { from, to, reason, lease: null, ...deduction });
    if (to === "reversed") throw failure;
    context.report(failure);
    throw new CheckoutError("outcome_unknown");
  }

  async function refuse(sent: Charge, error: GiftcardError): Promise<CheckoutError> {
    const reason = isUnsent(error) ? "not_sent" : error.code;
    // If recovery has marked the charge as unknown, this changes nothing: recovery resolves it by its key.
    const refused = { from: ["sent"], to: "refused", reason, sealedCard: null, lease: null } as const;
    await retryUntilWritten(() => move(sent.reference, refused)).catch((failure: unknown) => {
      context.lateWrites.add(sent.reference, refused);
      context.report(failure);
    });
    return toCheckoutError(error);
  }

  async function resolveUnknown(sent: Charge, error: GiftcardError): Promise<CheckoutError> {
    try {
      const refusal = error instanceof RefusedError ? error.code : undefined;
      const reason = refusal ? "refusal_unproven" : error.code;
      const lost = { from: ["sent"], to: "unknown", reason } as const;
      const unknown = await retryUntilWritten(() => move(sent.reference, lost));
      const resolved = unknown ? await recovery.resolveByKey(unknown, refusal) : null;
      // If the service can't resolve by key, its refusal counts. A service that can echoes the key in every refusal, so a
      // refusal without the key came from something in between, such as a proxy.
      if (resolved?.state === "refused" && resolved.reason === refusal) return toCheckoutError(error);
      const hasTakenNothing = resolved?.state === "reversed" || resolved?.state === "refused";
      return new CheckoutError(hasTakenNothing ? "service_unavailable" : "outcome_unknown");
    } catch (failure) {
      // Recovery resolves the charge from whatever state it is in.
      context.report(failure);
      return new CheckoutError("outcome_unknown");
    }
  }

  async function commit(reference: string, owner: string, orderId: string): Promise<Charge> {
    const paid = { from: ["devalued"], to: "committed", owner, orderId, lease: null } as const;
    const charge = (await move(reference, paid)) ?? (await journal.charge(reference));
    if (charge && orderedStates.includes(charge.state) && charge.orderId === orderId) return charge;
    throw new CheckoutError("payment_in_progress");
  }

  async function capture(externalId: string): Promise<Charge[]> {
    // Refunded charges stay refunded.
    const read = async () => (await journal.chargesOfPayment(externalId)).filter(({ refundId }) => refundId === null);
    const before = await read();
    const open = before.filter(({ state }) => state === "committed");
    const isOrdered = before.every(({ state }) => orderedStates.includes(state));
    if (isOrdered && open.length > 0) await moveAll(referencesOf(open), { from: ["committed"], to: "captured" });
    const charges = await read();
    if (charges.length > 0 && charges.every(({ state }) => state === "captured")) return charges;
    throw new CheckoutError("payment_in_progress");
  }

  const chargeAll: Engine["chargeAll"] = async (cart, parts, options) => {
    const { owner, orderId, attemptId, paymentOf, onBegun, onStep, onCharged } = options;
    const ids = { orderId, attemptId, isOnlyPart: parts.length === 1 };
    const payments: Charge[][] = [];
    for (const [index, part] of parts.entries()) {
      const payment = await begin(cart, part, await paymentOf(index), owner, ids);
      payments.push(payment);
      onBegun?.(payment);
    }
    const all = payments.flat();
    // If this process stalled and recovery took a charge over, stop here. A single charge's lease has just been written.
    const checkLeases = async () => {
      if (all.length > 1 && (await journal.renew(owner, leaseMs)) < all.length)
        throw new CheckoutError("payment_in_progress");
      await onStep?.();
    };
    for (const payment of payments) {
      const charged: Charge[] = [];
      for (const charge of payment) {
        if (charge !== all[0]) await checkLeases();
        charged.push(await devalue(charge.reference));
      }
      await onCharged?.(charged as [Charge, ...Charge[]]);
    }
    await checkLeases();
    return all;
  };

  const reverse: Engine["reverse"] = (reference, reason, options) => {
    begun.delete(reference);
    return recovery.reverse(reference, reason, options);
  };

  const cancel: Engine["cancel"] = async (externalId) => {
    const charges = await journal.chargesOfPayment(externalId);
    for (const { reference } of charges) begun.delete(reference);
    return recovery.cancel(externalId);
  };

  const voidCharge: Engine["void"] = (reference, options) => {
    begun.delete(reference);
    return recovery.void(reference, options);
  };

  return { begin, devalue, chargeAll, commit, capture, reverse, cancel, void: voidCharge };
}
