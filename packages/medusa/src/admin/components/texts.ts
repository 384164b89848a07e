import type { DifferenceKind } from "@giftcard-pay/checkout";
import type { ChargeState } from "@giftcard-pay/checkout/store";
import type { Failing } from "../../recovery/failing-jobs.js";
import type { RefundPart } from "../../refunds/order-refund.js";

export type BadgeColor = "green" | "red" | "blue" | "orange" | "grey" | "purple";

export const stateTexts: Record<ChargeState, { label: string; color: BadgeColor }> = {
  intent: { label: "Starting", color: "blue" },
  sent: { label: "On its way", color: "blue" },
  devalued: { label: "Charged, no order yet", color: "blue" },
  committed: { label: "Charged", color: "green" },
  captured: { label: "Charged, captured", color: "green" },
  reversing: { label: "Reversal owed", color: "orange" },
  reversed: { label: "Back on the card", color: "grey" },
  refused: { label: "Not charged", color: "grey" },
  unknown: { label: "Not known yet", color: "orange" },
  needs_attention: { label: "Needs attention", color: "red" },
  taken: { label: "Marked as taken", color: "purple" },
};

const reasonTexts: Record<string, string> = {
  outcome_unknown: "The response was lost, and the service can't tell whether the card was charged.",
  service_not_configured: "It belongs to a service that this shop isn't configured for (any more).",
  refund_differs: "The service returned another amount than it took.",
  token_invalid: "The service doesn't know the reversal's token.",
  seal_unknown_key: "Its token is sealed under a key that isn't configured.",
  seal_broken: "Its sealed token can't be read.",
  seal_expired: "Its sealed token is too old.",
  canceled: "The payment was canceled.",
  refunded: "The payment was refunded.",
  completion_failed: "The order couldn't be placed.",
  never_ordered: "The cart never became an order.",
  session_deleted: "The payment was started again.",
  balance_changed: "The card held less than before.",
  answered_too_late: "The response arrived after the shop had given up on it.",
  interrupted: "The shop was interrupted during the charge.",
  not_sent: "The charge was never sent.",
  timeout: "The service didn't answer in time.",
  connection_lost: "The connection to the service was lost.",
  server_error: "The service failed.",
};

/** Explains why a charge is in its state. Falls back to the code. */
export const reasonText = (reason: string | null): string =>
  reason === null ? "" : (reasonTexts[reason] ?? reason.replaceAll("_", " "));

export const jobTexts: Record<Failing["kind"], string> = {
  note_paid: "Record that the order was paid",
  cancel_order: "Cancel an order that nobody paid",
  reverse: "Reverse the charges of a canceled or deleted order",
  release_payment: "Cancel or refund a payment without an order, or of a canceled one",
  credit_line: "Finish the credit line of a refund",
  record_payment: "Write a capture or refund into the order",
  capture: "Capture the cards of a paid order",
  unknown_refund: "A refund that the order doesn't have",
  close_cart: "Close a cart that was ordered",
  open_cart: "Open a cart that has no order",
  scan: "Find open work",
  reversal: "Put money back on a card",
  outcome: "Find out whether a card was charged",
};

export const actionTexts: Record<string, string> = {
  retry: "Tried again",
  mark_taken: "Marked as taken",
  mark_not_taken: "Marked as not taken",
};

export const differenceTexts: Record<DifferenceKind, string> = {
  undecided: "Not decided",
  payment_missing: "No payment in Medusa",
  charge_missing: "Not in the journal",
  held: "Other amount",
  captured: "Capture differs",
  service: "Service differs",
};

const euro = new Intl.NumberFormat(undefined, { style: "currency", currency: "EUR" });

/** Formats cents as an amount in euro; a dash if it isn't known. */
export const money = (cents: number | null): string => (cents === null ? "–" : euro.format(cents / 100));

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export const time = (iso: string | null): string => (iso === null ? "–" : moment.format(new Date(iso)));

/** Returns the name of a payment method: "stripe" for `pp_stripe_stripe`. */
export const methodName = (providerId: string): string =>
  providerId === "pp_system_default" ? "manual payment" : (providerId.replace(/^pp_/, "").split("_")[0] ?? "");

export const cardName = (lastFour: string): string => `•••• ${lastFour}`;

/** Names the card or the method that a part of a refund goes to. */
export const targetOf = ({ lastFour, providerId }: RefundPart): string =>
  lastFour === null ? methodName(providerId) : `card ${cardName(lastFour)}`;

export const partText = (part: RefundPart): string => `${money(part.cents)} to ${targetOf(part)}`;
