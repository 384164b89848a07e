import { type Cents, cents } from "@giftcard-pay/client/contract";
import type { Queryable } from "../database.js";
import { type Handlers, Replay, refuse } from "../http/handler.js";
import type { Keyring } from "../keyring.js";
import type { LockoutRule } from "../limits/limits.js";
import { type CardRefusal, cancelByKey, cancelByToken, readCard } from "../store/cards.js";
import type { Devalue } from "../store/devalue.js";

const CURRENCY = "EUR";

/** What the operations on a card need. */
export interface CardContext {
  readonly db: Queryable;
  readonly keys: Keyring;
  readonly rule: LockoutRule;
  readonly devalue: Devalue;
}

/** The three operations on a card. */
export function cardHandlers({
  db,
  keys,
  rule,
  devalue,
}: CardContext): Pick<Handlers, "balance" | "devalue" | "cancelDevalue"> {
  return {
    async balance({ cardNumber, pin }) {
      const card = await readCard(db, keys, rule, { cardNumber, pin });
      if (card.outcome !== "done") return refuseCard(card);
      const { balanceCents, cardStatus, expiryDate } = card;
      return { success: true, balanceCents, currency: CURRENCY, cardStatus, expiryDate };
    },

    async devalue({ cardNumber, pin, amountCents }, { companyId, idempotencyKey }) {
      const done = await devalue({ companyId, cardNumber, pin, amountCents, idempotencyKey });
      if (done.outcome === "invalid_card" || done.outcome === "card_locked") return refuseCard(done);
      if (done.outcome !== "done" && done.outcome !== "replayed") return refuse(done.outcome);
      const { deductedCents, cancelToken } = done;
      const remainderCents: Cents = cents(amountCents - deductedCents);
      const response = { success: true as const, deductedCents, remainderCents, cancelToken };
      return done.outcome === "replayed" ? new Replay(response) : response;
    },

    async cancelDevalue({ cancelToken }, { companyId, idempotencyKey }) {
      const path = "cancel_token";
      if (!cancelToken && idempotencyKey === undefined) {
        return refuse("invalid_request", { faults: [{ path, message: "must not be empty" }] });
      }
      const done = cancelToken
        ? await cancelByToken(db, companyId, cancelToken)
        : await cancelByKey(db, keys, companyId, idempotencyKey as string);
      if (done.outcome !== "done") return refuse(done.outcome);
      return { success: true, refundedCents: done.refundedCents, balanceCents: done.balanceCents };
    },
  };
}

const refuseCard = (refusal: CardRefusal) =>
  refusal.outcome === "card_locked"
    ? refuse("card_locked", { retryAfterSeconds: refusal.retryAfterSeconds })
    : refuse("invalid_card");
