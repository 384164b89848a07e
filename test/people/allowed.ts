import type { Entry } from "./round.js";
import type { StepName } from "./scenario.js";

/** A refusal of Medusa's own that is let pass, because it is right there; the plugin has no part in it. */
interface Allowed {
  readonly steps: readonly StepName[];
  readonly status: number;
  readonly message: RegExp;
  /** Only where it took so long. */
  readonly atLeastMs?: number;
  /** Only of carts on which no card was: those the plugin leaves to Medusa. */
  readonly withoutCards?: true;
  readonly why: string;
}

/** Medusa's own routes of a cart. */
const cartSteps: readonly StepName[] = [
  ...(["quantity", "add item", "shipping", "promotion", "no promotion", "e-mail", "region"] as const),
];

/** What admins do to the order itself, and to the bank's payment. */
const adminSteps: readonly StepName[] = [
  ...(["edit", "return", "fulfil", "cancel", "capture", "capture bank", "refund bank"] as const),
];

const list: readonly Allowed[] = [
  {
    ...{ steps: cartSteps, status: 500, message: /Could not delete all payment sessions/ },
    why: "the other method has its money already, so Medusa's own cart routes fail, and change nothing",
  },
  {
    ...{
      steps: [...cartSteps, ...adminSteps, "session"],
      status: 500,
      message: /unknown error/,
      atLeastMs: 900,
    },
    why: "Medusa's own routes wait two seconds for whoever is at the same cart or order, or one until PostgreSQL ends their deadlock, and then fail so",
  },
  {
    ...{ steps: cartSteps, status: 400, message: /is already completed/ },
    why: "the cart is an order, and Medusa's routes say so in Medusa's words",
  },
  {
    ...{
      steps: ["complete"],
      status: 400,
      message: /was not authorized with the provider/,
      withoutCards: true,
    },
    why: "a bank that declines, where no card is: Medusa passes on what the provider's failure is",
  },
  {
    ...{
      steps: ["complete"],
      status: 400,
      message: /Payment sessions are required|Payment collection has not been initiated/,
      withoutCards: true,
    },
    why: "a cart without cards that nobody has started a payment for",
  },
  {
    ...{
      steps: ["session"],
      status: 500,
      message: /unknown error|Could not delete all payment sessions/,
      withoutCards: true,
    },
    why: "two tabs make a cart's payment collection or session at once: Medusa makes one, and its own route fails for the other",
  },
  {
    ...{ steps: ["complete"], status: 400, message: /Cannot create multiple links/, withoutCards: true },
    why: "two processes complete a cart at once, and Medusa's own lock is in memory: the plugin's turn is for carts with cards",
  },
  {
    ...{ steps: adminSteps, status: 500, message: /unknown error/, withoutCards: true },
    why: "a second tab starts a payment while the cart is completed, and Medusa deletes the session that the order is paid by",
  },
  {
    ...{
      steps: adminSteps,
      status: 404,
      message: /(Order|Return) id not found|such entity does not exist|OrderChange with id/,
    },
    why: "the admin saw an order whose completion failed then: Medusa has taken it away",
  },
  {
    ...{
      steps: [...adminSteps, "capture card", "refund card", "give back"],
      status: 404,
      message: /Payment with id: \S+ was not found|There is no such order/,
    },
    why: "the same: its payments are gone too",
  },
  {
    ...{ steps: adminSteps, status: 400, message: /Order could not be found/ },
    why: "the same, on routes that answer so",
  },
  {
    ...{
      steps: adminSteps,
      status: 400,
      message:
        /already has an existing active order change|has been canceled|has already been fulfilled|All fulfillments must be canceled|Order Change could not be found|No stock reservation found|does not exist in order|exceeds the reserved quantity|Cannot cancel a completed payment collection|refund amount greater|(refund|capture|return|fulfill) more/,
    },
    why: "Medusa's own admin routes say in Medusa's words what an order's state, or another admin, doesn't let them do",
  },
  {
    ...{
      steps: ["refund card", "capture card"],
      status: 400,
      message: /(refund|capture) more than|has been canceled|existing active order change/,
    },
    why: "Medusa looks at the order and its payments before it asks the plugin",
  },
];

/** Whether Medusa says so too where there is no gift card plugin. */
export const isAllowed = ({ step, status, message, hadCards, tookMs }: Entry) =>
  list.some(
    (allowed) =>
      allowed.steps.includes(step as StepName) &&
      allowed.status === status &&
      allowed.message.test(message ?? "") &&
      tookMs >= (allowed.atLeastMs ?? 0) &&
      !(allowed.withoutCards && hadCards),
  );
