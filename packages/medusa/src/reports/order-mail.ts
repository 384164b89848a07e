import type { BigNumberInput, CreateNotificationDTO, MedusaContainer } from "@medusajs/framework/types";
import { ContainerRegistrationKeys, MathBN } from "@medusajs/framework/utils";
import { toCents } from "../amount.js";
import { shareCents } from "../cart/order-lines.js";
import { contextOf } from "../context/context.js";
import { readOrderPayment } from "../medusa-tables/order-payment.js";
import type { Settings } from "../options.js";
import { fill, formatMoney, languageOf, type MailTexts, mailTexts } from "./mail-texts.js";
import { escapeHtml, type MoneyTable, tableHtml, tableText } from "./money-table.js";
import { paidByTable } from "./paid-by-block.js";
import { splitPaid } from "./paid-by-record.js";

type MailSettings = NonNullable<Settings["orderMail"]>;

interface MailOrder {
  id: string;
  display_id: number;
  email: string | null;
  locale?: string | null;
  customer_id: string | null;
  tax_total: BigNumberInput;
  shipping_address: { country_code: string | null } | null;
  billing_address: { country_code: string | null } | null;
  items: MailItem[];
  shipping_methods: { id: string; name: string; total: BigNumberInput }[];
}

interface MailItem {
  id: string;
  title: string;
  product_title: string | null;
  variant_title: string | null;
  quantity: BigNumberInput;
  total: BigNumberInput;
}

// Medusa 2.18 computes quantities and totals only with all fields of items and shipping methods.
const FIELDS = [
  ...["items.*", "shipping_methods.*"],
  ...["id", "display_id", "email", "locale", "customer_id", "total", "tax_total"],
  ...["shipping_address.country_code", "billing_address.country_code"],
  ...["id", "title", "product_title", "variant_title", "quantity", "total"].map((field) => `items.${field}`),
  ...["id", "name", "total"].map((field) => `shipping_methods.${field}`),
];

const STYLE = "font-family:Arial,Helvetica,sans-serif;font-size:16px;line-height:1.5;color:#1a1a1a;max-width:560px";

/**
 * Writes the order confirmation: what was bought, the total, and how it was paid. It contains the last four digits of
 * each card, and no address.
 * @returns null if the order is canceled, has no email address, or doesn't exist (any more)
 */
export async function writeOrderMail(
  container: MedusaContainer,
  orderId: string,
  { language: fallback, template }: MailSettings,
): Promise<CreateNotificationDTO | null> {
  const payment = await readOrderPayment(contextOf(container).sql, orderId);
  const order = await readOrder(container, orderId);
  if (!payment || payment.isCanceled || !order?.email) return null;
  const countries = [order.shipping_address?.country_code, order.billing_address?.country_code];
  const language = languageOf({ locale: order.locale ?? null, countries }, fallback);
  const texts = mailTexts[language];
  const { currency, paid } = payment;
  const totalCents = payment.totalCents ?? 0;
  const number = String(order.display_id);
  const paidBy = paidByTable({ currency, totalCents, ...splitPaid(paid) }, { language });
  const tables = [boughtTable(order, { totalCents, currency, texts }), paidBy];
  const subject = fill(texts.subject, { number });
  const text = [texts.thanks, ...tables.map(tableText)].join("\n\n");
  return {
    to: order.email,
    channel: "email",
    template: template ?? "order-placed",
    // Providers prefer the content to a template.
    ...(template === undefined && { content: { subject, text, html: documentOf(language, subject, texts, tables) } }),
    data: {
      orderId,
      displayId: order.display_id,
      language,
      subject,
      text,
      total: formatMoney(totalCents, currency, texts),
      paidByText: tableText(paidBy),
      paidByHtml: tableHtml(paidBy),
    },
    trigger_type: "order.placed",
    resource_id: orderId,
    resource_type: "order",
    receiver_id: order.customer_id,
  };
}

async function readOrder(container: MedusaContainer, orderId: string): Promise<MailOrder | undefined> {
  const { data } = await container
    .resolve(ContainerRegistrationKeys.QUERY)
    .graph({ entity: "order", fields: FIELDS, filters: { id: orderId } });
  return data[0] as unknown as MailOrder | undefined;
}

/** The lines in whole cents, which add up to the total, credits included. */
function boughtTable(
  order: MailOrder,
  { totalCents, currency, texts }: { totalCents: number; currency: string; texts: MailTexts },
): MoneyTable {
  const money = (cents: number) => formatMoney(cents, currency, texts);
  const methods = order.shipping_methods.map(({ id, total }) => ({ id, total, quantity: 1 }));
  const lines = [...order.items, ...methods];
  const linesCents = toCents(MathBN.sum(0, ...lines.map(({ total }) => total)));
  const centsById = new Map(shareCents(lines, linesCents).map((line) => [line.id, line.totalCents]));
  const rowOf = (label: string, id: string) => ({ label, amount: money(centsById.get(id) ?? 0) });
  const creditCents = totalCents - linesCents;
  const taxCents = toCents(order.tax_total);
  return {
    caption: fill(texts.order, { number: String(order.display_id) }),
    headings: [texts.item, texts.amount],
    rows: [
      ...order.items.map((item) => rowOf(labelOf(item), item.id)),
      ...order.shipping_methods.map(({ id, name }) => rowOf(name, id)),
      ...(creditCents === 0 ? [] : [{ label: texts.credit, amount: money(creditCents) }]),
      { label: texts.total, amount: money(totalCents) },
      ...(taxCents > 0 ? [{ label: texts.tax, amount: money(taxCents) }] : []),
    ],
  };
}

function labelOf({ quantity, title, product_title: product, variant_title: variant }: MailItem): string {
  const name = product ?? title;
  return `${quantity} × ${name}${variant && variant !== name ? `, ${variant}` : ""}`;
}

const documentOf = (language: string, subject: string, { thanks }: MailTexts, tables: readonly MoneyTable[]): string =>
  [
    `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head>`,
    `<body style="${STYLE}"><h1 style="font-size:22px">${escapeHtml(thanks)}</h1>`,
    ...tables.map(tableHtml),
    "</body></html>",
  ].join("\n");
