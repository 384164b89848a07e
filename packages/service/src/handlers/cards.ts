import { type Cents, cents } from "@giftcard-pay/client/contract";
import type { Queryable } from "../database.js";
import { type Handlers, Replay, refuse } from "../http/handler.js";
import type { Keyring } from "../keyring.js";
import { cancelByKey, cancelByToken, devalue, findCard } from "../store/cards.js";

const CURRENCY = "EUR";

/** The three operations on a card. */
export function cardHandlers(
  db: Queryable,
  keys: Keyring,
): Pick<Handlers, "balance" | "devalue" | "cancelDevalue"> {
  return {
    async balance({ cardNumber, pin }) {
      const card = await findCard(db, keys, cardNumber, pin);
      if (!card) return refuse("invalid_card");
      const { balanceCents, cardStatus, expiryDate } = card;
      return { success: true, balanceCents, currency: CURRENCY, cardStatus, expiryDate };
    },

    async devalue({ cardNumber, pin, amountCents }, { companyId, idempotencyKey }) {
      const done = await devalue(db, keys, { companyId, cardNumber, pin, amountCents, idempotencyKey });
      if (done.outcome !== "done" && done.outcome !== "replayed") return refuse(done.outcome);
      const { deductedCents, cancelToken } = done;
      const remainingCents: Cents = cents(amountCents - deductedCents);
      const response = { success: true as const, deductedCents, remainingCents, cancelToken };
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
