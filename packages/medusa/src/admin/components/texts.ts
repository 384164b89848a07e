import type { DifferenceKind } from "@giftcard-pay/checkout";
import type { ChargeState } from "@giftcard-pay/checkout/store";
import type { Failing } from "../../recovery/failing-jobs.js";

export type BadgeColor = "green" | "red" | "blue" | "orange" | "grey" | "purple";

/** How each state is called, and how loud. */
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
  outcome_unknown: "The answer was lost, and the service can't tell whether the card was charged.",
  service_not_configured: "It went to a service that this shop isn't configured for (any more).",
  refund_differs: "The service put another amount back than was taken.",
  token_invalid: "The service doesn't know the reversal's token.",
  seal_unknown_key: "Its token is sealed under a key that isn't configured.",
  seal_broken: "Its sealed token can't be read.",
  seal_expired: "Its sealed token is too old.",
  canceled: "The payment was canceled.",
  refunded: "The payment was refunded.",
  completion_failed: "The order couldn't be placed.",
  never_ordered: "The cart never became an order.",
  session_deleted: "The payment was started anew.",
  balance_changed: "The card held less than before.",
  answered_too_late: "The answer came after the shop had given up on it.",
  interrupted: "The shop was interrupted during the charge.",
  not_sent: "The charge never left the shop.",
  timeout: "The service didn't answer in time.",
  connection_lost: "The connection to the service was lost.",
  server_error: "The service failed.",
};

/** Why a charge is in its state, in words; the code itself where there are none. */
export const reasonText = (reason: string | null): string =>
  reason === null ? "" : (reasonTexts[reason] ?? reason.replaceAll("_", " "));

/** What recovery was to do. */
export const jobTexts: Record<Failing["kind"], string> = {
  note_paid: "Note that the order was paid",
  cancel_order: "Cancel an order that nobody paid",
  reverse: "Reverse what a canceled or deleted order holds",
  release_payment: "Cancel or refund a payment that no order has, or a canceled one",
  credit_line: "End a credit line of a refund",
  record_payment: "Write a capture or refund into the order",
  unknown_refund: "A refund that the order doesn't know of",
  close_cart: "Close a cart that was ordered",
  open_cart: "Open a cart that has no order",
  scan: "Look for what is to be done",
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

/** Cents as an amount in euro; a dash where it isn't known. */
export const money = (cents: number | null): string => (cents === null ? "–" : euro.format(cents / 100));

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** A time as people read it, by the browser's clock. */
export const time = (iso: string | null): string => (iso === null ? "–" : moment.format(new Date(iso)));

/** What a payment method is called: `pp_stripe_stripe` is "stripe". */
export const methodName = (providerId: string): string =>
  providerId === "pp_system_default"
    ? "manual payment"
    : (providerId.replace(/^pp_/, "").split("_")[0] ?? "");

export const cardName = (lastFour: string): string => `•••• ${lastFour}`;
