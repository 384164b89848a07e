import { randomUUID } from "node:crypto";
import { type Cents, cents, GiftcardError, RefusedError } from "@giftcard-pay/client";
import { createEnding } from "./ending.js";
import type { CartView, PlannedPart } from "./engine.js";
import { CheckoutError, toCheckoutError } from "./errors.js";
import type { Attempt } from "./journal.js";
import { type MoneyDesk, moveAndTell, tenderAudience } from "./money-desk.js";
import { SealError } from "./seal.js";

/** No devalue went out: a key couldn't be got first, or no connection made. */
const isUnsent = (error: GiftcardError) =>
  error.endpoint === "authenticate" || error.code === "not_connected";

/** The part of the flow that takes money, once, and keeps what it takes to give it back. */
export function createAttempts(desk: MoneyDesk) {
  const { client, journal, sealer, companyId, environment, leaseMs } = desk;
  const ending = createEnding(desk);
  const move = moveAndTell(desk);
  /** What this engine began, by reference: nobody else may send it. */
  const begun = new Map<string, { owner: string; sealedCard: string }>();

  async function begin(
    cart: CartView,
    part: PlannedPart,
    externalId: string,
    owner: string,
    orderId?: string,
  ): Promise<Attempt> {
    const tender = (await journal.tenders(cart.id)).find((t) => t.id === part.tenderId);
    if (tender?.state !== "applied") throw new CheckoutError("payment_in_progress");
    if (tender.expired || tender.sealedCard === null) throw new CheckoutError("applied_card_expired");
    const audience = tenderAudience(desk, cart.id);
    const card = await sealer.openTenderCard(tender.sealedCard, audience).catch((error: unknown) => {
      throw error instanceof SealError ? new CheckoutError("applied_card_expired") : error;
    });
    const reference = `gc_${randomUUID()}`;
    const attempt = await journal.begin(
      {
        reference,
        tenderId: part.tenderId,
        cartId: cart.id,
        externalId,
        orderId,
        environment,
        baseUrl: client.baseUrl,
        companyId,
        amountCents: cents(part.amountCents),
        sealedCard: await sealer.sealAttemptCard(card, reference),
      },
      { owner, forMs: leaseMs },
    );
    if (!attempt?.sealedCard) throw new CheckoutError("payment_in_progress");
    begun.set(reference, { owner, sealedCard: attempt.sealedCard });
    desk.onChange(attempt);
    return attempt;
  }

  async function devalue(reference: string): Promise<Attempt> {
    const intent = begun.get(reference);
    begun.delete(reference);
    if (intent === undefined) {
      const attempt = await journal.attempt(reference);
      if (attempt?.state === "devalued") return attempt;
      throw new CheckoutError("payment_in_progress");
    }
    const { owner } = intent;
    const card = await sealer.openAttemptCard(intent.sealedCard, reference);
    const sent = await move(reference, {
      from: ["intent"],
      to: "sent",
      owner,
      lease: { owner, forMs: leaseMs },
    });
    if (!sent) throw new CheckoutError("payment_in_progress");
    try {
      const answer = await client.devalue({ ...card, amountCents: sent.amountCents, reference });
      return await keep(
        sent,
        owner,
        answer.deductedCents,
        await sealer.sealToken(answer.cancelToken, reference),
      );
    } catch (error) {
      if (!(error instanceof GiftcardError)) throw error;
      throw error instanceof RefusedError || isUnsent(error)
        ? await refuse(sent, error)
        : await endUnknown(sent, error);
    }
  }

  /** Writes the token down, wherever the attempt has got to meanwhile: a token in hand is never lost. */
  async function keep(
    sent: Attempt,
    owner: string,
    deductedCents: Cents,
    sealedToken: string,
  ): Promise<Attempt> {
    const { reference } = sent;
    const kept = { deductedCents, sealedToken, sealedCard: null } as const;
    if (deductedCents === sent.amountCents) {
      const lease = { owner, forMs: leaseMs };
      const devalued = await move(reference, { from: ["sent"], to: "devalued", owner, lease, ...kept });
      if (devalued) return devalued;
    }
    const reason = deductedCents === sent.amountCents ? "answered_too_late" : "balance_changed";
    const owed = await move(reference, {
      from: ["sent", "unknown", "needs_attention"],
      to: "reversing",
      reason,
      lease: { owner, forMs: leaseMs },
      ...kept,
    });
    if (owed) await ending.reverseOwed(owed);
    throw new CheckoutError(reason === "balance_changed" ? "balance_changed" : "payment_in_progress");
  }

  async function refuse(sent: Attempt, error: GiftcardError): Promise<CheckoutError> {
    const reason = isUnsent(error) ? "not_sent" : error.code;
    // Once recovery has called it unknown, this answer settles nothing; recovery ends it by its key.
    await move(sent.reference, { from: ["sent"], to: "refused", reason, sealedCard: null, lease: null });
    return toCheckoutError(error);
  }

  async function endUnknown(sent: Attempt, error: GiftcardError): Promise<CheckoutError> {
    const unknown = await move(sent.reference, { from: ["sent"], to: "unknown", reason: error.code });
    const ended = unknown ? await ending.endByKey(unknown) : null;
    const nothingTaken = ended?.state === "reversed" || ended?.state === "refused";
    return new CheckoutError(nothingTaken ? "service_unavailable" : "outcome_unknown");
  }

  async function commit(reference: string, owner: string, orderId: string): Promise<Attempt> {
    const committed = await move(reference, {
      from: ["devalued"],
      to: "committed",
      owner,
      orderId,
      lease: null,
    });
    if (committed) return committed;
    const attempt = await journal.attempt(reference);
    const already = attempt?.state === "committed" || attempt?.state === "captured";
    if (attempt && already && attempt.orderId === orderId) return attempt;
    throw new CheckoutError("payment_in_progress");
  }

  async function capture(reference: string): Promise<Attempt> {
    const captured = await move(reference, { from: ["committed"], to: "captured" });
    if (captured) return captured;
    const attempt = await journal.attempt(reference);
    if (attempt?.state === "captured") return attempt;
    throw new CheckoutError("payment_in_progress");
  }

  return { begin, devalue, commit, capture, ...ending };
}
