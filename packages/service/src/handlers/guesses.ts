import { type Refusal, refuse } from "../http/handler.js";
import type { CompanyPins } from "../limits/company-pins.js";
import type { CardRefusal } from "../store/cards.js";

/** Refuses a company that has guessed too often. */
export function refuseGuesser(pins: CompanyPins, companyId: number): Refusal<"rate_limited"> | undefined {
  const retryAfterSeconds = pins.waitSeconds(companyId);
  return retryAfterSeconds === undefined
    ? undefined
    : refuse("rate_limited", { retryAfterSeconds, limit: "company_pins" });
}

/**
 * Refuses a card, and counts a wrong guess for the company.
 *
 * @param message replaces the text of `invalid_card`
 */
export async function refuseCard(
  pins: CompanyPins,
  companyId: number,
  refusal: CardRefusal,
  message?: string,
): Promise<Refusal<"card_locked" | "invalid_card">> {
  if (refusal.outcome === "card_locked") return refuse("card_locked", { retryAfterSeconds: refusal.retryAfterSeconds });
  await pins.count(companyId);
  return refuse("invalid_card", { message });
}
