/** The reasons in English, for logs, commands and the messages of errors. The admin has them in its other languages, too. */
export const SENTENCES = {
  inexact: "Exactly {{amountCents}} can't be refunded, since a card takes back only what it was charged at once.",
  nearest: "The nearest is {{amountCents}}.",
  nearestTwo: "The nearest is {{amountCents}} or {{otherCents}}.",
  removeUnits: "Remove the units by an edit or a return, then refund the order on its page.",
  useRest: "Refund all that is left of it on its own page, under Gift cards.",
  onItsPage: "Refund it on its own page.",
  uncaptured: "{{amountCents}} of it isn't captured: capture it with the refund, or cancel the order.",
  held: "Another bulk refund includes this order, or a person has exempted it. See the order's own page.",
  inBulk: "A bulk refund is about to refund it: wait until that is done.",
  missing: "There is no such order, or it is canceled.",
  unplanned: "It can't be planned ({{fault}}): look at it, and refund it on its own page.",
  byHand: "{{amountCents}} of it was refunded by hand, and may have been for these units.",
  settled: "{{amountCents}} of it was settled by a credit line or a transaction, and may have been for these units.",
  awaitsReturn: "A return of it was requested: receive or cancel it first.",
  due: "Its customer still has to pay {{amountCents}}: get that paid, or remove it from the order by an edit.",
  partlyCaptured:
    "{{amountCents}} of its other payment isn't captured: capture it on the order's page, or refund the order there.",
  pending: "Its other payment is still pending, and could settle after the refund: cancel the order instead.",
  short: "Only {{amountCents}} of its payments is left to refund: the remainder was refunded before.",
  openEdit: "An edit of the order is open: confirm or cancel it.",
  openReturn: "A return of the order is open: confirm or cancel it.",
  openExchange: "An exchange of the order is open: confirm or cancel it.",
  openClaim: "A claim of the order is open: confirm or cancel it.",
  openTransfer:
    "The order is about to be transferred to another customer: wait until they accept it, or cancel the transfer.",
  openChange: "Another change of the order is open: confirm or cancel it.",
  undecided:
    "A refund by the other payment method was begun, and nobody knows whether it was made: decide that first, under Tasks that fail.",
  unbooked:
    "A refund of its payment was begun, and Medusa never booked it: look at the payment method, and refund it on its own page.",
  unsure:
    "If the payment method's response was lost, the money may have been refunded: check the method before you try again.",
  orderChanged: "The order has changed since the plan was made. Look at it.",
  planChanged: "The plan has changed since it was confirmed. Look at it again.",
  owedChanged: "The amount that is owed has changed, or it is refunded already. Look at it again.",
  captureChanged: "{{amountCents}} of the order isn't captured yet, and would be captured first. Look at it again.",
  notCaptured: "{{amountCents}} of {{method}} couldn't be captured: {{fault}}.",
  cardNotCaptured: "{{amountCents}} of the card …{{card}} couldn't be captured: {{fault}}.",
  checkMethod: "Check the payment method. Then try again, or cancel the order.",
  stopped: "The refund stopped: {{fault}}.",
  made: "{{amountCents}} of it is definitely refunded.",
  nothing: "Nothing was refunded.",
  noJob: "This task is done already, or no longer necessary.",
  noDecision: "This needs no decision any more. Reload the page.",
  nothingDone: "Nothing was done.",
  unlinked: "A crash probably left the order without a link to its cart. Check that nobody paid it, then cancel it.",
  noTotal: "Medusa has no record of the order's total when it was placed.",
  fulfilled: "The order is fulfilled.",
  edited: "The order was edited.",
  captured: "A payment was captured.",
  refunded: "A payment was refunded.",
  completed: "The order is completed.",
  cancelsStopped:
    "More orders look unpaid at once than the shop cancels by itself: look for another cause first. Then try each of them " +
    "again, or raise the option maxCancelsPerRun.",
  medusaRefused: "Medusa doesn't cancel it: {{fault}}.",
  memoryLocks:
    "{{count}} Medusa processes share this database, but Medusa's lock is in the memory of each: two of them can sell the same " +
    "seat, or ask a bank twice. Configure locking-postgres or locking-redis, or run one process.",
  differentLocks: "The Medusa processes have different locks ({{locks}}): give all of them the same one.",
  fewConnections:
    "A Medusa process has {{connections}} database connections. With locking-postgres it needs at least {{least}}, or it " +
    "stands still: raise pool.max in databaseDriverOptions.",
  oneAddress:
    "The gift card calls of different carts all come from one network address, probably that of a proxy or of the " +
    "storefront's server. Set the option addressHeader to the header in which it sends the shopper's address: until then, " +
    "wrong PINs are not limited per shopper.",
} as const;

export type ReasonCode = keyof typeof SENTENCES;

/** Why something isn't done, or what to do. */
export interface Reason {
  readonly code: ReasonCode;
  /** Whole cents if the name ends with `Cents`. */
  readonly values?: Readonly<Record<string, string | number>>;
}

export const isCents = (name: string): boolean => name.endsWith("Cents");

const write = ({ code, values = {} }: Reason): string =>
  SENTENCES[code].replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name] ?? "";
    return isCents(name) ? (Number(value) / 100).toFixed(2) : String(value);
  });

export const sentencesOf = (reasons: readonly Reason[]): string => reasons.map(write).join(" ");
