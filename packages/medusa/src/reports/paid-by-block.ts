import type { MailLanguage } from "../mail-languages.js";
import { fill, formatMoney, type MailTexts, mailTexts } from "./mail-texts.js";
import { type MoneyRow, type MoneyTable, tableHtml, tableText } from "./money-table.js";
import type { PaidBy } from "./paid-by-record.js";

/** How `renderPaidBy` renders. */
export interface PaidByOptions {
  /** The language of the labels and amounts: `en`, `nl`, `de` or `fr`. */
  language: MailLanguage;
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
export function renderPaidBy(paidBy: PaidBy, options: PaidByOptions): RenderedPaidBy {
  const table = paidByTable(paidBy, options);
  return { html: tableHtml(table), text: tableText(table) };
}

/** @param paidBy in any currency; its amounts are hundredths */
export function paidByTable(
  paidBy: Omit<PaidBy, "orderId" | "currency"> & { currency: string },
  { language, nameOf }: PaidByOptions,
): MoneyTable {
  const { currency, totalCents, cards, others } = paidBy;
  const texts = mailTexts[language];
  const money = (cents: number) => formatMoney(cents, currency, texts);
  const paidCents = [...cards, ...others].reduce((sum, { amountCents }) => sum + amountCents, 0);
  const rows = [
    ...cards.flatMap((card) => rowsOf(fill(texts.card, { lastFour: card.lastFour }), card, money, texts)),
    ...others.flatMap((other) => {
      const name = nameOf?.(other.providerId) ?? (cards.length > 0 ? texts.other : texts.payment);
      return rowsOf(name, other, money, texts);
    }),
    // Refunds don't count: nobody has to pay a goodwill refund again.
    ...(paidCents < totalCents ? [{ label: texts.stillToPay, amount: money(totalCents - paidCents) }] : []),
  ];
  return { caption: texts.paidBy, headings: [texts.payment, texts.amount], rows };
}

function rowsOf(
  label: string,
  { amountCents, refundedCents }: { amountCents: number; refundedCents: number },
  money: (cents: number) => string,
  { refunded }: MailTexts,
): MoneyRow[] {
  const paid = { label, amount: money(amountCents) };
  return refundedCents > 0 ? [paid, { label: `${label}, ${refunded}`, amount: money(-refundedCents) }] : [paid];
}
