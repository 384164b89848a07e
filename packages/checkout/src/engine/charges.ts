import { randomUUID } from "node:crypto";
import { type Cents, cents, GiftcardError, RefusedError, type Secret } from "@giftcard-pay/client";
import { SealError } from "../sealing/seal.js";
import type { Charge } from "../store/charge.js";
import { orderedStates, tokenlessStates } from "../store/charge-states.js";
import type { LaidCharge } from "./charge-layout.js";
import { type FlowContext, moveAndTell, referencesOf, tenderAudience } from "./context.js";
import type { CartView, Engine, PlannedPart } from "./engine.js";
import { CheckoutError, toCheckoutError } from "./errors.js";
import { insist } from "./late-writes.js";
import type { Recovery } from "./recovery.js";

/** No devalue went out: a key couldn't be got first, or no connection made. */
const isUnsent = (error: GiftcardError) =>
  error.endpoint === "authenticate" || error.code === "not_connected";

/**
 * A refusal proves that nothing was taken where the service shows that it knows the key, or answers before it looks at
 * the card. Any other is proved by ending the key.
 */
const isBelieved = (error: GiftcardError) =>
  isUnsent(error) ||
  (error instanceof RefusedError &&
    (error.keyHonoured || error.status === undefined || error.isBeforeTheCall));

/** What a devalue's answer writes down. */
interface Kept {
  readonly deductedCents: Cents;
  readonly sealedToken: string;
  readonly sealedCard: null;
}

/** The part of the flow that takes money, once, and keeps what it takes to reverse it. */
export function createCharges(context: FlowContext, recovery: Recovery) {
  const { client, journal, sealer, companyId, environment, leaseMs } = context;
  const { move, moveAll } = moveAndTell(context);
  /** What this engine began and hasn't sent or given up, by reference: nobody else may send it. */
  const begun = new Map<string, { owner: string; sealedCard: string }>();

  async function begin(
    cart: CartView,
    part: PlannedPart,
    externalId: string,
    owner: string,
    orderId?: string,
  ): Promise<Charge[]> {
    const laid = part.charges ?? [{ amountCents: part.amountCents }];
    const laidCents = laid.reduce((sum, { amountCents }) => sum + amountCents, 0);
    if (laidCents !== part.amountCents) throw new RangeError("A card's charges have to add up to its part.");
    const tender = (await journal.tenders(cart.id)).find((t) => t.id === part.tenderId);
    if (tender?.state !== "applied") throw new CheckoutError("payment_in_progress");
    if (tender.expired || tender.sealedCard === null) throw new CheckoutError("applied_card_expired");
    const audience = tenderAudience(context, cart.id);
    const card = await sealer.openTenderCard(tender.sealedCard, audience).catch((error: unknown) => {
      // A key that this process lacks says nothing of the card.
      const isGone = error instanceof SealError && error.fault !== "unknown_key";
      throw isGone ? new CheckoutError("applied_card_expired") : error;
    });
    const seal = async ({ amountCents, pieces }: Pick<LaidCharge, "amountCents"> & Partial<LaidCharge>) => {
      const reference = `gc_${randomUUID()}`;
      const sealedCard = await sealer.sealChargeCard(card, reference);
      return { reference, amountCents: cents(amountCents), sealedCard, pieces };
    };
    const ids = { tenderId: part.tenderId, cartId: cart.id, externalId, orderId };
    const place = { environment, baseUrl: client.baseUrl, companyId };
    const sealed = await Promise.all(laid.map(seal));
    const charges = await journal.begin({ ...ids, ...place, charges: sealed }, { owner, forMs: leaseMs });
    if (charges.length === 0) throw new CheckoutError("payment_in_progress");
    for (const charge of charges) {
      if (charge.sealedCard) begun.set(charge.reference, { owner, sealedCard: charge.sealedCard });
      context.onChange(charge);
    }
    return charges;
  }

  async function devalue(reference: string): Promise<Charge> {
    const intent = begun.get(reference);
    begun.delete(reference);
    if (intent === undefined) {
      const charge = await journal.charge(reference);
      if (charge?.state === "devalued") return charge;
      throw new CheckoutError("payment_in_progress");
    }
    const { owner } = intent;
    const card = await sealer.openChargeCard(intent.sealedCard, reference);
    const sent = await move(reference, {
      from: ["intent"],
      to: "sent",
      owner,
      lease: { owner, forMs: leaseMs },
    });
    if (!sent) throw new CheckoutError("payment_in_progress");
    let answer: Awaited<ReturnType<typeof client.devalue>>;
    try {
      answer = await client.devalue({ ...card, amountCents: sent.amountCents, reference });
    } catch (error) {
      if (!(error instanceof GiftcardError)) throw error;
      throw isBelieved(error) ? await refuse(sent, error) : await endUnknown(sent, error);
    }
    const kept = {
      deductedCents: answer.deductedCents,
      sealedToken: await sealer.sealToken(answer.cancelToken, reference),
      sealedCard: null,
    };
    const isWhole = kept.deductedCents === sent.amountCents;
    const reason = isWhole ? "answered_too_late" : "balance_changed";
    const written = await insist(() => keep(sent, owner, kept, reason)).catch((error: unknown) =>
      reverseUnwritten(sent, answer.cancelToken, kept, error),
    );
    if (written.state === "devalued") return written;
    if (written.state === "reversing") await recovery.reverseOwed(written);
    throw new CheckoutError(isWhole ? "payment_in_progress" : "balance_changed");
  }

  /** Writes the token down, wherever the charge has got to meanwhile: a token in hand is never lost. */
  async function keep(sent: Charge, owner: string, kept: Kept, reason: string): Promise<Charge> {
    const { reference } = sent;
    const lease = { owner, forMs: leaseMs };
    const isWhole = kept.deductedCents === sent.amountCents;
    const devalued = { from: ["sent"], to: "devalued", owner, lease, ...kept } as const;
    const owed = { from: tokenlessStates, to: "reversing", reason, lease, ...kept } as const;
    const written = (isWhole && (await move(reference, devalued))) || (await move(reference, owed));
    // The answer to an earlier try to write this may have been lost.
    return written ?? (await journal.charge(reference)) ?? sent;
  }

  /**
   * Where the store can't take the token, it is used at once. What became of it stays with this process until it can be
   * written.
   */
  async function reverseUnwritten(
    { reference }: Charge,
    cancelToken: Secret,
    kept: Kept,
    failure: unknown,
  ): Promise<never> {
    const to = await client.cancelDevalue({ cancelToken }).then(
      ({ refundedCents }) => (refundedCents === kept.deductedCents ? "reversed" : "needs_attention"),
      (error: unknown) =>
        error instanceof RefusedError && error.code === "token_used" ? "reversed" : "reversing",
    );
    const reason = to === "needs_attention" ? "refund_differs" : "not_written";
    // One that was written after all, without an answer, is reversed too.
    const from = [...tokenlessStates, "devalued"] as const;
    context.lateWrites.keep(reference, { from, to, reason, lease: null, ...kept });
    if (to === "reversed") throw failure;
    context.report(failure);
    throw new CheckoutError("outcome_unknown");
  }

  async function refuse(sent: Charge, error: GiftcardError): Promise<CheckoutError> {
    const reason = isUnsent(error) ? "not_sent" : error.code;
    // Once recovery has called it unknown, this answer settles nothing; recovery ends it by its key.
    const refused = { from: ["sent"], to: "refused", reason, sealedCard: null, lease: null } as const;
    await insist(() => move(sent.reference, refused)).catch((failure: unknown) => {
      context.lateWrites.keep(sent.reference, refused);
      context.report(failure);
    });
    return toCheckoutError(error);
  }

  async function endUnknown(sent: Charge, error: GiftcardError): Promise<CheckoutError> {
    try {
      const refusal = error instanceof RefusedError ? error.code : undefined;
      const reason = refusal ? "refusal_unproven" : error.code;
      const lost = { from: ["sent"], to: "unknown", reason } as const;
      const unknown = await insist(() => move(sent.reference, lost));
      const ended = unknown ? await recovery.resolveByKey(unknown, refusal) : null;
      // A service that knows the key shows it in each of its refusals: any other wasn't its own.
      if (ended?.state === "refused" && ended.reason === refusal) return toCheckoutError(error);
      const isWhole = ended?.state === "reversed" || ended?.state === "refused";
      return new CheckoutError(isWhole ? "service_unavailable" : "outcome_unknown");
    } catch (failure) {
      // Recovery ends it, in whatever state it stands.
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
    // What was refunded of it stays so.
    const read = async () =>
      (await journal.chargesOfPayment(externalId)).filter(({ refundId }) => refundId === null);
    const before = await read();
    const open = before.filter(({ state }) => state === "committed");
    const isOrdered = before.every(({ state }) => orderedStates.includes(state));
    if (isOrdered && open.length > 0)
      await moveAll(referencesOf(open), { from: ["committed"], to: "captured" });
    const charges = await read();
    if (charges.length > 0 && charges.every(({ state }) => state === "captured")) return charges;
    throw new CheckoutError("payment_in_progress");
  }

  const reverse: Engine["reverse"] = (reference, reason) => {
    begun.delete(reference);
    return recovery.reverse(reference, reason);
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

  return { begin, devalue, commit, capture, reverse, cancel, void: voidCharge };
}
