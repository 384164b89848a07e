import { formatCents } from "@giftcard-pay/client/contract";
import { type Answer, type CompanyCall, type Handlers, Replay, type RequestTo, refuse } from "../http/handler.js";
import type { CompanyPins } from "../limits/company-pins.js";
import type { TillOperation } from "../operations.js";
import type { Load } from "../store/card-loads.js";
import { refuseCard, refuseGuesser } from "./guesses.js";

/** The same for every card, so that a till can't find out which numbers exist. */
const NO_SUCH_CARD = "No card with this number can be activated or topped up here.";
const WRONG_AMOUNT = "must be the amount that the card was issued for; only a card without one takes another";
const DAY_LIMIT = "This key has put its amount per day on cards. Try again tomorrow.";

/** Creates the handlers of the operations of tills. */
export function tillHandlers(load: Load, pins: CompanyPins): Pick<Handlers, TillOperation> {
  const handle = async (
    isActivation: boolean,
    { cardNumber, amountCents }: RequestTo<TillOperation>,
    { companyId, apiKeyHash, idempotencyKey }: CompanyCall,
  ): Promise<Answer<TillOperation>> => {
    const refused = refuseGuesser(pins, companyId);
    if (refused) return refused;
    // Without a key, a till whose answer was lost could not repeat the call.
    if (idempotencyKey === undefined) return refuse("idempotency_key_invalid");
    const done = await load({ companyId, apiKeyHash, isActivation, cardNumber, amountCents, idempotencyKey });
    const refuseAmount = async (message: string) => {
      await pins.count(companyId);
      return refuse("invalid_request", { faults: [{ path: "amount", message }] });
    };
    switch (done.outcome) {
      case "done":
        return { success: true, loadedCents: done.loadedCents };
      case "replayed":
        return new Replay({ success: true as const, loadedCents: done.loadedCents });
      case "invalid_card":
      case "card_locked":
        return refuseCard(pins, companyId, done, NO_SUCH_CARD);
      case "day_limit":
        return refuse("rate_limited", { ...done, limit: "key_loads", message: DAY_LIMIT });
      case "card_full":
        return refuseAmount(`would raise the card's balance above ${formatCents(done.cardLimitCents)}`);
      case "wrong_amount":
        return refuseAmount(WRONG_AMOUNT);
      case "idempotency_key_reused":
        await pins.count(companyId);
        return refuse(done.outcome);
      default:
        return refuse(done.outcome);
    }
  };
  return {
    activate: (request, call) => handle(true, request, call),
    topUp: (request, call) => handle(false, request, call),
  };
}
