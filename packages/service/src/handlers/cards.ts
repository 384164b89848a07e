import { type Cents, cents } from "@giftcard-pay/client/contract";
import type { Queryable } from "../database/database.js";
import { type Handlers, type Refusal, Replay, refuse } from "../http/handler.js";
import { CompanyPins } from "../limits/company-pins.js";
import type { Limits } from "../limits/limits.js";
import type { Keyring } from "../secrets/keyring.js";
import { inBatches } from "../store/card-calls.js";
import { type CardRefusal, cancelByKey, cancelByToken, createRead } from "../store/cards.js";
import { createDevalue } from "../store/devalue.js";

/** Dependencies of the operations on a card. */
export function cardHandlers(
  db: Queryable,
  keys: Keyring,
  { card, companyPins: companyPinRule, storage: { closedKeys } }: Limits,
): Pick<Handlers, "balance" | "devalue" | "cancelDevalue"> {
  const read = createRead(inBatches(db, "read_card"), keys, card);
  const devalue = createDevalue(inBatches(db, "devalue"), keys, card);
  const companyPins = new CompanyPins(db, companyPinRule);
  return {
    async balance({ cardNumber, pin }, { companyId, apiKeyHash }) {
      const refused = refuseGuesser(companyPins, companyId);
      if (refused) return refused;
      const card = await read({ companyId, apiKeyHash, cardNumber, pin });
      if (card.outcome === "unauthorized") return refuse(card.outcome);
      if (card.outcome !== "done") return refuseCard(companyPins, companyId, card);
      const { balanceCents, cardStatus, expiryDate } = card;
      return { success: true, balanceCents, currency: "EUR", cardStatus, expiryDate };
    },

    async devalue({ cardNumber, pin, amountCents }, { companyId, apiKeyHash, idempotencyKey }) {
      const refused = refuseGuesser(companyPins, companyId);
      if (refused) return refused;
      const done = await devalue({ companyId, apiKeyHash, cardNumber, pin, amountCents, idempotencyKey });
      if (done.outcome === "invalid_card" || done.outcome === "card_locked")
        return refuseCard(companyPins, companyId, done);
      // The refusal shows that number or PIN differ from those of the key's first call: a guess that no lock counts.
      if (done.outcome === "idempotency_key_reused") await companyPins.count(companyId);
      if (done.outcome !== "done" && done.outcome !== "replayed") return refuse(done.outcome);
      const { deductedCents, cancelToken } = done;
      const remainderCents: Cents = cents(amountCents - deductedCents);
      const response = { success: true as const, deductedCents, remainderCents, cancelToken };
      return done.outcome === "replayed" ? new Replay(response) : response;
    },

    async cancelDevalue({ cancelToken }, { companyId, idempotencyKey }) {
      if (!cancelToken && idempotencyKey === undefined) {
        return refuse("invalid_request", { faults: [{ path: "cancel_token", message: "must not be empty" }] });
      }
      const done = cancelToken
        ? await cancelByToken(db, companyId, cancelToken)
        : await cancelByKey(db, keys, { companyId, idempotencyKey: idempotencyKey as string, closedKeys });
      if (done.outcome === "rate_limited") return refuse(done.outcome, { ...done, limit: "closed_keys" });
      if (done.outcome !== "done") return refuse(done.outcome);
      return { success: true, refundedCents: done.refundedCents, balanceCents: done.balanceCents };
    },
  };
}

function refuseGuesser(pins: CompanyPins, companyId: number): Refusal<"rate_limited"> | undefined {
  const retryAfterSeconds = pins.waitSeconds(companyId);
  return retryAfterSeconds === undefined
    ? undefined
    : refuse("rate_limited", { retryAfterSeconds, limit: "company_pins" });
}

/** Refuses a card, and counts a wrong guess for the company. */
async function refuseCard(
  pins: CompanyPins,
  companyId: number,
  refusal: CardRefusal,
): Promise<Refusal<"card_locked" | "invalid_card">> {
  if (refusal.outcome === "card_locked") return refuse("card_locked", { retryAfterSeconds: refusal.retryAfterSeconds });
  await pins.count(companyId);
  return refuse("invalid_card");
}
