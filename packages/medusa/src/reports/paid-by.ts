import type { MedusaContainer } from "@medusajs/framework/types";
import { contextOf } from "../context/context.js";
import { readOrderPayment } from "../medusa-tables/order-payment.js";
import { readBooks } from "../refunds/order-books.js";

/** One gift card's payment for an order, in whole cents. */
export interface PaidByCard {
  lastFour: string;
  amountCents: number;
  /** The amount refunded to the card since the order was placed, or still owed to it. */
  refundedCents: number;
}

/** Another method's payment for an order, in whole cents. */
export interface PaidByOther {
  /** Medusa's id of the payment provider, such as `pp_stripe_stripe`. */
  providerId: string;
  amountCents: number;
  /** The amount refunded since the order was placed. */
  refundedCents: number;
}

/**
 * How an order was paid, in whole cents. A gift card is a means of payment: it changes neither the order's total nor
 * its tax.
 *
 * When the order is placed, the amounts add up to its total. The amounts minus the refunds are what the shop holds.
 */
export interface PaidBy {
  orderId: string;
  currency: "EUR";
  /** The order's current total in Medusa, which edits and returns change. */
  totalCents: number;
  /** The amount that the customer still has to pay, without what is authorized already. */
  dueCents: number;
  /** In the order in which they were charged. */
  cards: PaidByCard[];
  /** In the order in which they were authorized. */
  others: PaidByOther[];
}

/**
 * Reads how an order was paid, for a page, a mail or an invoice. `cards` are payments of this plugin; `others` are
 * all other payments. A payment is listed once it is authorized. Canceled payments, payments that were refunded
 * before the order was placed, and promises to pay later are not listed.
 *
 * Each payment is in whole cents, rounded half up. If Medusa's total has a fraction of a cent, only one payment has
 * it too, so the sum is right.
 *
 * It doesn't check who reads it: show it only to the order's own customer.
 * @param container the container of Medusa, a request, a subscriber or a job
 * @param orderId Medusa's id of the order
 * @returns null if there is no such order, or if it isn't in euro: cards pay in euro only
 */
export async function readPaidBy(container: MedusaContainer, orderId: string): Promise<PaidBy | null> {
  const order = await readOrderPayment(contextOf(container).sql, orderId);
  if (order?.currency !== "eur") return null;
  const { paid, currentTotalCents, totalCents: placedCents } = order;
  const totalCents = currentTotalCents ?? placedCents ?? 0;
  const heldCents = paid.reduce((sum, { amountCents, refundedCents }) => sum + amountCents - refundedCents, 0);
  return {
    orderId,
    currency: "EUR",
    totalCents,
    dueCents: heldCents < totalCents ? (await readBooks(container, orderId)).dueCents : 0,
    cards: paid.flatMap(({ lastFour, amountCents, refundedCents }) =>
      lastFour === null ? [] : [{ lastFour, amountCents, refundedCents }],
    ),
    others: paid.flatMap(({ providerId, lastFour, amountCents, refundedCents }) =>
      lastFour === null ? [{ providerId, amountCents, refundedCents }] : [],
    ),
  };
}

/** The labels of each language. `{lastFour}` is a placeholder. */
const labels = {
  en: {
    locale: "en-IE",
    paidBy: "Paid by",
    payment: "Payment",
    amount: "Amount",
    card: "Gift card ending in {lastFour}",
    other: "Other payment",
    refunded: "Refunded",
    stillToPay: "Still to pay",
  },
  nl: {
    locale: "nl-NL",
    paidBy: "Betaald met",
    payment: "Betaling",
    amount: "Bedrag",
    card: "Cadeaukaart eindigend op {lastFour}",
    other: "Andere betaling",
    refunded: "Terugbetaald",
    stillToPay: "Nog te betalen",
  },
  de: {
    locale: "de-DE",
    paidBy: "Bezahlt mit",
    payment: "Zahlung",
    amount: "Betrag",
    card: "Geschenkkarte mit den Endziffern {lastFour}",
    other: "Andere Zahlung",
    refunded: "Erstattet",
    stillToPay: "Noch zu zahlen",
  },
  fr: {
    locale: "fr-FR",
    paidBy: "Payé avec",
    payment: "Paiement",
    amount: "Montant",
    card: "Carte cadeau se terminant par {lastFour}",
    other: "Autre paiement",
    refunded: "Remboursé",
    stillToPay: "Reste à payer",
  },
};

/** How `renderPaidBy` renders. */
export interface PaidByOptions {
  /** The language of the labels and amounts: `en`, `nl`, `de` or `fr`. */
  language: keyof typeof labels;
  /**
   * Names another method's payment. Without it, or if it returns undefined, the name is "Other payment".
   * @param providerId Medusa's id of the payment provider, such as `pp_stripe_stripe`
   */
  nameOf?: (providerId: string) => string | undefined;
}

/** How an order was paid, ready for a mail or an invoice. */
export interface RenderedPaidBy {
  /** A table, with its styles in its elements. All values are escaped. */
  html: string;
  /** A heading, and a line for each row. */
  text: string;
}

/**
 * Renders how an order was paid, as HTML and as text: a row for each card and each other payment, for refunds, and for
 * what is still to be paid. A card is named by its last four digits.
 * @param paidBy the result of `readPaidBy`
 */
export function renderPaidBy(paidBy: PaidBy, { language, nameOf }: PaidByOptions): RenderedPaidBy {
  const { currency, dueCents, cards, others } = paidBy;
  const texts = labels[language];
  const format = new Intl.NumberFormat(texts.locale, { style: "currency", currency });
  const rowOf = (label: string, cents: number) => ({ label, amount: format.format(cents / 100) });
  const rowsOf = (label: string, { amountCents, refundedCents }: { amountCents: number; refundedCents: number }) => [
    rowOf(label, amountCents),
    ...(refundedCents > 0 ? [rowOf(`${label}, ${texts.refunded}`, -refundedCents)] : []),
  ];
  const otherName = cards.length > 0 ? texts.other : texts.payment;
  const rows = [
    ...cards.flatMap((card) => rowsOf(texts.card.replace("{lastFour}", card.lastFour), card)),
    ...others.flatMap((other) => rowsOf(nameOf?.(other.providerId) ?? otherName, other)),
    ...(dueCents > 0 ? [rowOf(texts.stillToPay, dueCents)] : []),
  ];
  return {
    html: tableHtml(texts, rows),
    text: [texts.paidBy, ...rows.map(({ label, amount }) => `${oneLine(label)}: ${amount}`)].join("\n"),
  };
}

const CELL = "padding:4px 0;border-bottom:1px solid #ddd;text-align";

/** Writes a table with the styles in its elements, as mail programs require. Screen readers read out its headings. */
function tableHtml(texts: (typeof labels)["en"], rows: readonly { label: string; amount: string }[]): string {
  const heading = (text: string, side: string) => `<th scope="col" style="${CELL}:${side}">${text}</th>`;
  const body = rows.map(
    ({ label, amount }) =>
      `<tr><th scope="row" style="${CELL}:left;font-weight:normal">${escapeHtml(label)}</th>` +
      `<td style="${CELL}:right;white-space:nowrap;padding-left:24px">${escapeHtml(amount)}</td></tr>`,
  );
  return [
    '<table style="border-collapse:collapse;width:100%;margin-bottom:24px">',
    `<caption style="text-align:left;font-weight:bold;padding:4px 0">${texts.paidBy}</caption>`,
    `<thead><tr>${heading(texts.payment, "left")}${heading(texts.amount, "right")}</tr></thead>`,
    `<tbody>${body.join("\n")}</tbody>`,
    "</table>",
  ].join("\n");
}

/** Escapes text for HTML, in elements and in quoted attributes. */
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (found) => `&#${found.charCodeAt(0)};`);

/** A name may contain line breaks, which would look like rows. */
const oneLine = (text: string) => text.replace(/\s+/g, " ");
