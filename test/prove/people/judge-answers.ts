import type { ShopErrorCode } from "@giftcard-pay/checkout/storefront";
import { isAllowed } from "./allowed.js";
import type { Books } from "./books.js";
import type { Violation } from "./judge-books.js";
import type { Entry, Round } from "./round.js";
import { hasWeather } from "./scenario.js";

/** Every code that a refusal may have. */
const codes: Record<ShopErrorCode, true> = {
  ...{ invalid_request: true, invalid_card: true, card_blocked: true, card_expired: true },
  ...{ card_no_balance: true, card_not_active: true, card_already_applied: true, too_many_cards: true },
  ...{ too_many_attempts: true, nothing_to_pay: true, giftcard_not_payable: true },
  ...{ quote_expired: true, applied_card_not_found: true },
  ...{ applied_card_expired: true, balance_changed: true, amount_changed: true, cart_not_found: true },
  ...{ cart_completed: true, currency_not_supported: true, payment_in_progress: true, outcome_unknown: true },
  ...{ giftcards_not_accepted: true, service_unavailable: true, internal: true },
};
const hasCode = ({ code }: Entry) => code !== null && code in codes;

/** Finds the answers that break a promise. */
export function judgeAnswers(round: Round, books: Books): Violation[] {
  const { scenario, entries, carts } = round;
  const isFair = !hasWeather(scenario);
  const orderIds = new Set(books.orders.map(({ id }) => id));
  /** Medusa deletes the order of a failed completion, perhaps while an admin works on it. */
  const isOnDeletedOrder = ({ workedOnOrderId: id }: Entry) => id !== null && !orderIds.has(id);
  return [
    ...entries.flatMap((entry) =>
      judgeEntry(entry, { isFair, mayFail: isAllowed(entry) || (entry.status < 500 && isOnDeletedOrder(entry)) }),
    ),
    ...carts.flatMap(({ index }) => judgeClicks(round, index)),
  ];
}

function judgeEntry(entry: Entry, { isFair, mayFail }: { isFair: boolean; mayFail: boolean }): Violation[] {
  const { status, cart, who, what, code, message } = entry;
  const said = `${who} ${what}: ${status} ${code ?? ""} ${message ?? ""}`.trim();
  const found = (kind: string): Violation[] => [{ kind, cart, what: said }];
  if (status === 0) return isFair ? found("no answer") : [];
  const isTemporary = status === 503 && hasCode(entry) && !isFair;
  if (status >= 500 && !isTemporary && !mayFail) return found("5xx");
  if (status >= 400 && status < 500 && !hasCode(entry) && !mayFail) {
    return found("unnamed refusal");
  }
  const isSaidWhole = /nothing was taken/i.test(message ?? "");
  if (isSaidWhole && entry.paidPastShopCents > 0) return found("said nothing was taken");
  return [];
}

/** Checks that all clicks that get an order get the same one, and that on a plain cart every click gets it. */
function judgeClicks({ scenario, entries }: Round, cart: number): Violation[] {
  const clicks = entries.filter((entry) => entry.cart === cart && entry.step === "complete");
  const orders = new Set(clicks.map(({ orderId }) => orderId).filter(Boolean));
  const found: Violation[] = [];
  if (orders.size > 1) found.push({ kind: "two orders of one cart", cart, what: [...orders].join(", ") });
  const failed = clicks.filter(({ orderId }) => orderId === null);
  if (scenario.carts[cart]?.isPlain && failed.length > 0) {
    const told = failed.map(({ status, type, code, message }) => `${status} ${code ?? type} ${message ?? ""}`);
    const what = `${failed.length} of ${clicks.length} clicks got no order: ${told.join("; ")}`;
    found.push({ kind: "plain purchase failed", cart, what });
  }
  return found;
}
