import type { Entry } from "./round.js";
import type { StepName } from "./scenario.js";

/** A refusal of Medusa's own that is correct and accepted. The plugin has no part in it. */
interface Allowed {
  readonly steps: readonly StepName[];
  readonly status: number | readonly number[];
  readonly message: RegExp;
  /** Accepted only if the call took at least this long. */
  readonly atLeastMs?: number;
  /** Accepted only for carts without a card, which the plugin leaves to Medusa. */
  readonly withoutCards?: true;
  readonly why: string;
}

/** Steps that use Medusa's own cart routes. */
const cartSteps: readonly StepName[] = [
  ...(["quantity", "add item", "shipping", "promotion", "no promotion", "e-mail", "region"] as const),
];

/** Steps of admins on the order itself and on the bank's payment. */
const adminSteps: readonly StepName[] = [
  ...(["edit", "return", "fulfil", "cancel", "capture", "capture bank", "refund bank"] as const),
];

const list: readonly Allowed[] = [
  {
    ...{ steps: cartSteps, status: 500, message: /Could not delete all payment sessions/ },
    why: "the other payment method already has its money, so Medusa's own cart routes fail and change nothing",
  },
  {
    ...{
      steps: [...cartSteps, ...adminSteps, "session"],
      status: 500,
      message: /unknown error/,
      atLeastMs: 900,
    },
    why: "Medusa's own routes wait two seconds for the lock on a cart or order, or one second until PostgreSQL detects a deadlock, and then fail with this error",
  },
  {
    ...{ steps: ["complete"], status: 400, message: /was not authorized with the provider/ },
    why: "no card is left on the cart, so Medusa authorizes the other payment itself, and reports its error in its own words",
  },
  {
    ...{ steps: cartSteps, status: 400, message: /is already completed/ },
    why: "the cart is already an order, and Medusa's own routes report that in their own words",
  },
  {
    ...{
      steps: ["session"],
      status: 500,
      message: /unknown error|Could not delete all payment sessions/,
      withoutCards: true,
    },
    why: "two tabs create a cart's payment collection or session at once: Medusa creates one, and its own route fails for the other tab",
  },
  {
    ...{ steps: adminSteps, status: 500, message: /unknown error/, withoutCards: true },
    why: "a second tab starts a payment while the cart is completed, and Medusa deletes the session that pays for the order",
  },
  {
    ...{
      steps: adminSteps,
      status: 400,
      message:
        /already has an existing active order change|has been canceled|has already been fulfilled|All fulfillments must be canceled|Order Change could not be found|No stock reservation found|does not exist in order|exceeds the reserved quantity|Cannot cancel a completed payment collection|refund amount greater|(refund|capture|return|fulfill) more/,
    },
    why: "Medusa's own admin routes reject what the order's state, or another admin's change, rules out",
  },
  {
    ...{
      steps: ["refund card", "capture card"],
      status: 400,
      message: /(refund|capture) more than|has been canceled|existing active order change/,
    },
    why: "Medusa validates the order and its payments before it calls the plugin",
  },
  {
    ...{ steps: ["complete"], status: [400, 404], message: /./, withoutCards: true },
    why: "the cart has no cards, so Medusa alone refuses: no payment was started, a second tab has changed it, or the bank declines",
  },
];

/** Returns whether Medusa would give the same refusal without the gift card plugin. */
export const isAllowed = ({ step, status, message, hadCards, tookMs }: Entry) =>
  list.some(
    (allowed) =>
      allowed.steps.includes(step as StepName) &&
      [allowed.status].flat().includes(status) &&
      allowed.message.test(message ?? "") &&
      tookMs >= (allowed.atLeastMs ?? 0) &&
      !(allowed.withoutCards && hadCards),
  );
