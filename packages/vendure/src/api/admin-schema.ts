import { RwPermissionDefinition } from "@vendure/core";
import { parse } from "graphql";
import { paymentTypes } from "./shop-schema.js";

/** The permissions `ReadGiftcards` and `WriteGiftcards`. */
export const giftcardPermission = new RwPermissionDefinition("Giftcards", (operation) =>
  operation === "read"
    ? "Grants permission to read gift card charges"
    : "Grants permission to decide about gift card charges",
);

/** The types and calls of the Admin API: what needs a person, the facts, decisions and reconciliation. */
export const adminSchema = parse(/* GraphQL */ `
  ${paymentTypes}

  "A single devalue of a card for an order."
  type GiftcardCharge {
    reference: String!
    orderCode: String
    "In lists only."
    orderId: ID
    "intent, sent, devalued, committed, captured, reversing, reversed, refused, unknown, needs_attention or taken"
    state: String!
    lastFour: String!
    amount: Money!
    reason: String
    tries: Int!
    "The code of the last failed step."
    lastError: String
    createdAt: DateTime!
    stateChangedAt: DateTime!
  }

  type GiftcardChargeList {
    items: [GiftcardCharge!]!
    totalItems: Int!
  }

  input GiftcardChargeOptions {
    "For example needs_attention. Default: all."
    states: [String!]
    "Required in other channels than the default channel."
    orderCode: String
    skip: Int
    take: Int
  }

  "The payment of an order by cards and a remainder."
  type GiftcardPurchase {
    orderCode: String!
    orderId: ID
    state: String!
    total: Money!
    remainder: Money!
    "What other methods have collected beyond the remainder. Refund it, or cancel the order."
    overcollected: Money!
    tries: Int!
    lastError: String
    createdAt: DateTime!
  }

  type GiftcardPurchaseList {
    items: [GiftcardPurchase!]!
    totalItems: Int!
  }

  "A person's earlier decision."
  type GiftcardAction {
    action: String!
    actor: String!
    fromState: String!
    toState: String!
    createdAt: DateTime!
  }

  "The facts for a decision about a charge."
  type GiftcardEvidence {
    charge: GiftcardCharge!
    balanceBefore: Money
    balanceBeforeAt: DateTime
    balanceAfter: Money
    balanceAfterAt: DateTime
    actions: [GiftcardAction!]!
    otherChargesOfCard: [GiftcardCharge!]!
  }

  type GiftcardReconciliation {
    charges: Int!
    payments: Int!
    "Those that differ only because a charge or reversal is in progress."
    moving: Int!
    differences: JSON!
    "The same as a table, for reading."
    text: String!
  }

  extend type Query {
    giftcardCharges(options: GiftcardChargeOptions): GiftcardChargeList!
    giftcardPurchases(skip: Int, take: Int): GiftcardPurchaseList!
    "The payment of one order. Null if no gift card was charged for it."
    giftcardPurchase(orderCode: String!): GiftcardPurchase
    giftcardEvidence(reference: String!): GiftcardEvidence
    "Health of the service, the API key, clocks, sealing keys, open charges and purchases, and the last run of recovery."
    giftcardHealth: JSON!
    "Compares charges with Vendure's payments. Days are yyyy-mm-dd, including both."
    giftcardReconciliation(from: String!, to: String!): GiftcardReconciliation!
  }

  extend type Mutation {
    "Null if the charge does not need attention any more. So for the other decisions."
    retryGiftcardCharge(reference: String!): GiftcardCharge
    "Decides that the money is off the card and stays off."
    markGiftcardChargeTaken(reference: String!): GiftcardCharge
    "Decides that nothing was taken, or that it is back on the card."
    markGiftcardChargeNotTaken(reference: String!): GiftcardCharge
    "Retries the failed step of an unsettled payment. A pending one whose remainder isn't paid is given up. Null if it is settled or in progress."
    retryGiftcardPurchase(orderCode: String!): GiftcardPurchase
    "Records that a remainder which its provider can't return is settled elsewhere, such as refunded by hand. Null if nothing is being returned."
    markGiftcardRemainderSettled(orderCode: String!): GiftcardPurchase
    "Refunds what was collected beyond the total, and places the order. Returns the refunded amount."
    refundGiftcardOvercollection(orderCode: String!): Money!
  }
`);
