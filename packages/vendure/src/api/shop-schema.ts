import { shopErrorCodes } from "@giftcard-pay/checkout/plugin";
import { parse } from "graphql";

/** How an order was paid. In the Shop API and in the Admin API. */
export const paymentTypes = /* GraphQL */ `
  "The cards and the remainder of an order that gift cards have paid, or pay in part."
  type GiftcardPayment {
    "charging, pending, paid, voiding, failed, canceling, canceled, refunding or refunded"
    state: String!
    "In the order in which they were charged. Empty until the order is paid."
    cards: [GiftcardPaymentCard!]!
    "The part that other methods pay."
    remainder: Money!
    "The part of the order's total that no payment holds now."
    outstanding: Money!
  }

  type GiftcardPaymentCard {
    lastFour: String!
    amount: Money!
    refunded: Money!
  }

  extend type Order {
    "Null if no gift card was charged for this order."
    giftcardPayment: GiftcardPayment
  }
`;

/**
 * The types and calls of the Shop API. None of the calls takes money: addPaymentToOrder charges the cards. Its metadata
 * `{ plan }` is what the page has shown.
 */
export const shopSchema = parse(/* GraphQL */ `
  ${paymentTypes}

  enum GiftcardErrorCode {
    ${shopErrorCodes.join("\n    ")}
  }

  "A refusal. The message is for developers; pages show their own text for the code."
  type GiftcardError implements ErrorResult {
    errorCode: ErrorCode!
    message: String!
    code: GiftcardErrorCode!
    "With too_many_attempts: the seconds to wait."
    retryAfterSeconds: Int
  }

  "The gift cards of the active order."
  type GiftcardSummary {
    orderCode: String!
    "Identifies these amounts: the metadata of addPaymentToOrder."
    plan: String!
    currencyCode: CurrencyCode!
    total: Money!
    "The sum that the applied cards pay."
    covered: Money!
    "The amount that another payment method has to pay."
    remainder: Money!
    "The part of the remainder that no card may pay."
    notByCard: Money!
    maxPerCard: Money!
    maxCards: Int!
    cards: [GiftcardApplied!]!
    "live or sandbox"
    environment: String!
  }

  enum GiftcardLimitedBy {
    order
    balance
    limit
  }

  enum GiftcardAppliedState {
    applied
    expired
    settling
  }

  type GiftcardApplied {
    id: String!
    lastFour: String!
    "The amount that this order uses of the card."
    amount: Money!
    "The balance when the card was quoted."
    balance: Money!
    "yyyy-mm-dd, or empty"
    expiryDate: String!
    limitedBy: GiftcardLimitedBy!
    state: GiftcardAppliedState!
    "Why the last attempt to pay could not charge this card."
    refusal: GiftcardErrorCode
  }

  "A card's balance, and how much of it this order would use."
  type GiftcardQuote {
    id: String!
    lastFour: String!
    balance: Money!
    usable: Money!
    limitedBy: GiftcardLimitedBy!
    remainder: Money!
    expiryDate: String!
  }

  type GiftcardBalance {
    lastFour: String!
    balance: Money!
    expiryDate: String!
  }

  input GiftcardInput {
    cardNumber: String!
    pin: String!
  }

  "Either quoteId, or cardNumber and pin."
  input ApplyGiftcardInput {
    quoteId: String
    cardNumber: String
    pin: String
  }

  union GiftcardSummaryResult = GiftcardSummary | GiftcardError
  union GiftcardQuoteResult = GiftcardQuote | GiftcardError
  union GiftcardBalanceResult = GiftcardBalance | GiftcardError

  extend type Query {
    "The gift cards of the active order."
    giftcards: GiftcardSummaryResult!
  }

  extend type Mutation {
    quoteGiftcard(input: GiftcardInput!): GiftcardQuoteResult!
    applyGiftcard(input: ApplyGiftcardInput!): GiftcardSummaryResult!
    removeGiftcard(id: String!): GiftcardSummaryResult!
    giftcardBalance(input: GiftcardInput!): GiftcardBalanceResult!
  }
`);
