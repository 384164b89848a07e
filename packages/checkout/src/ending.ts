import { randomUUID } from "node:crypto";
import { type Cents, GiftcardError, ProtocolError, RefusedError } from "@giftcard-pay/client";
import type { RecoverOptions } from "./engine.js";
import type { Attempt } from "./journal.js";
import { type MoneyDesk, moveAndTell } from "./money-desk.js";
import { SealError } from "./seal.js";

type OrderOf = RecoverOptions["orderOf"];

const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 60 * 60_000;

/** Doubles from five seconds to an hour, with jitter, so that a service that comes back isn't met by all at once. */
export function retryDelayMs(tries: number): number {
  const ceiling = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(tries, 20));
  return Math.round(ceiling * (0.5 + Math.random() / 2));
}

/** What the service gave back is what it had taken: the books show both. */
function whatWasTaken(
  { amountCents }: Attempt,
  end: { outcome: string; refundedCents?: Cents },
): { deductedCents?: Cents } {
  const { refundedCents = 0 } = end;
  return refundedCents > 0 && refundedCents <= amountCents ? { deductedCents: refundedCents as Cents } : {};
}

/** The part of the flow that gives money back, or makes certain that none was taken. */
export function createEnding(desk: MoneyDesk) {
  const { client, journal, sealer, leaseMs } = desk;
  const move = moveAndTell(desk);

  /** Only the service that the attempt names is asked: its reference and token mean nothing, or harm, elsewhere. */
  const isOurs = (a: Attempt) =>
    a.environment === desk.environment && a.baseUrl === client.baseUrl && a.companyId === desk.companyId;

  const current = async (reference: string): Promise<Attempt> => {
    const attempt = await journal.attempt(reference);
    if (!attempt) throw new TypeError(`There is no attempt ${reference}.`);
    return attempt;
  };

  const toPerson = (attempt: Attempt, reason: string) =>
    move(attempt.reference, { from: [attempt.state], to: "needs_attention", reason, lease: null });

  async function later(attempt: Attempt): Promise<Attempt> {
    const retryInMs = retryDelayMs(attempt.tries);
    const waiting = { from: [attempt.state], to: attempt.state, retryInMs, lease: null };
    return (await move(attempt.reference, waiting)) ?? current(attempt.reference);
  }

  /** Ends an attempt of unknown outcome by its key. It stays unknown while the service can't be asked. */
  async function endByKey(attempt: Attempt): Promise<Attempt> {
    if (!isOurs(attempt))
      return (await toPerson(attempt, "service_not_configured")) ?? current(attempt.reference);
    const settled = { from: ["unknown"], sealedCard: null, lease: null } as const;
    try {
      const end = await client.endDevalue(attempt.reference);
      const ended =
        end.outcome === "not_done"
          ? await move(attempt.reference, { ...settled, to: "refused" })
          : await move(attempt.reference, { ...settled, to: "reversed", ...whatWasTaken(attempt, end) });
      return ended ?? current(attempt.reference);
    } catch (error) {
      if (!(error instanceof GiftcardError)) throw error;
      if (error instanceof ProtocolError && error.code === "extension_not_supported")
        return readEvidence(attempt);
      return later(attempt);
    }
  }

  /** A service that can't end by key leaves a balance as the only evidence, and a balance is not proof. */
  async function readEvidence(attempt: Attempt): Promise<Attempt> {
    let balanceAfterCents: Attempt["balanceAfterCents"] = null;
    try {
      if (attempt.sealedCard && isOurs(attempt)) {
        const card = await sealer.openAttemptCard(attempt.sealedCard, attempt.reference);
        balanceAfterCents = (await client.balance(card)).balanceCents;
      }
    } catch (error) {
      if (!(error instanceof GiftcardError || error instanceof SealError)) throw error;
    }
    const asked = await move(attempt.reference, {
      from: [attempt.state],
      to: "needs_attention",
      reason: "outcome_unknown",
      lease: null,
      ...(balanceAfterCents === null ? {} : { balanceAfterCents }),
    });
    return asked ?? current(attempt.reference);
  }

  /** Tries a reversal that is written down as owed. Only 200 and 409 (done before) settle it. */
  async function reverseOwed(attempt: Attempt): Promise<Attempt> {
    if (!isOurs(attempt))
      return (await toPerson(attempt, "service_not_configured")) ?? current(attempt.reference);
    const reversed = { from: ["reversing"], to: "reversed", sealedCard: null, lease: null } as const;
    try {
      const cancelToken = await sealer.openToken(attempt.sealedToken ?? "", attempt.reference);
      const { refundedCents } = await client.cancelDevalue({ cancelToken });
      if (refundedCents !== attempt.deductedCents) {
        return (await toPerson(attempt, "refund_differs")) ?? current(attempt.reference);
      }
      return (await move(attempt.reference, reversed)) ?? current(attempt.reference);
    } catch (error) {
      if (error instanceof SealError)
        return (await toPerson(attempt, `seal_${error.fault}`)) ?? current(attempt.reference);
      if (!(error instanceof GiftcardError)) throw error;
      if (error instanceof RefusedError && error.code === "token_used") {
        return (await move(attempt.reference, reversed)) ?? current(attempt.reference);
      }
      if (error instanceof RefusedError && error.code === "token_invalid") {
        return (await toPerson(attempt, "token_invalid")) ?? current(attempt.reference);
      }
      return later(attempt);
    }
  }

  async function reverse(reference: string, reason: string): Promise<Attempt> {
    const owner = randomUUID();
    const lease = { owner, forMs: leaseMs };
    const never = await move(reference, {
      from: ["intent"],
      to: "refused",
      reason,
      sealedCard: null,
      lease: null,
    });
    if (never) return never;
    const owed = await move(reference, {
      from: ["devalued", "committed", "captured"],
      to: "reversing",
      reason,
      lease,
    });
    if (owed) return reverseOwed(owed);
    const attempt = await current(reference);
    return attempt.state === "reversing" ? reverseOwed(attempt) : attempt;
  }

  /** Ends a claimed attempt, whatever a crash or a lost answer left it in. */
  async function end(attempt: Attempt, orderOf?: OrderOf): Promise<Attempt> {
    const { reference } = attempt;
    const owner = attempt.leaseOwner ?? "";
    switch (attempt.state) {
      case "intent": {
        const never = {
          from: ["intent"],
          to: "refused",
          reason: "not_sent",
          sealedCard: null,
          lease: null,
        } as const;
        return (await move(reference, { ...never, owner })) ?? current(reference);
      }
      case "sent": {
        const unknown = await move(reference, {
          from: ["sent"],
          to: "unknown",
          reason: "interrupted",
          owner,
        });
        return unknown ? endByKey(unknown) : current(reference);
      }
      case "devalued": {
        const orderId = (await orderOf?.(attempt)) ?? null;
        if (orderId !== null) {
          const paid = await move(reference, {
            from: ["devalued"],
            to: "committed",
            orderId,
            owner,
            lease: null,
          });
          return paid ?? current(reference);
        }
        const owed = await move(reference, {
          from: ["devalued"],
          to: "reversing",
          reason: "never_ordered",
          owner,
        });
        return owed ? reverseOwed(owed) : current(reference);
      }
      case "unknown":
        return endByKey(attempt);
      case "reversing":
        return reverseOwed(attempt);
      default:
        return attempt;
    }
  }

  async function settle(cartId: string): Promise<void> {
    for (const attempt of await journal.claim({ owner: randomUUID(), forMs: leaseMs }, 100, cartId))
      await end(attempt);
  }

  async function recover({ limit = 100, orderOf }: RecoverOptions = {}): Promise<Attempt[]> {
    const ended: Attempt[] = [];
    // One at a time, so that a slow service can't outlast the leases of those that wait behind it.
    while (ended.length < limit) {
      const [attempt] = await journal.claim({ owner: randomUUID(), forMs: leaseMs }, 1);
      if (!attempt) break;
      ended.push(await end(attempt, orderOf));
    }
    await journal.purge();
    return ended;
  }

  return { endByKey, readEvidence, reverseOwed, reverse, settle, recover };
}
