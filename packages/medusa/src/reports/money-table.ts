/** One row of a mail or an invoice: what it is for, and an amount, formatted. */
export interface MoneyRow {
  readonly label: string;
  readonly amount: string;
}

/** A table of amounts with its headings. */
export interface MoneyTable {
  readonly caption: string;
  readonly headings: readonly [label: string, amount: string];
  readonly rows: readonly MoneyRow[];
}

const CELL = "padding:4px 0;border-bottom:1px solid #ddd;text-align";

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes text for HTML, in elements and in quoted attributes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (found) => entities[found] ?? "");

/** Writes a table with the styles in its elements, as mail programs require. Screen readers read out its headings. */
export function tableHtml({ caption, headings, rows }: MoneyTable): string {
  const [label, amount] = headings.map(escapeHtml);
  const body = rows.map(
    (row) =>
      `<tr><th scope="row" style="${CELL}:left;font-weight:normal">${escapeHtml(row.label)}</th>` +
      `<td style="${CELL}:right;white-space:nowrap;padding-left:24px">${escapeHtml(row.amount)}</td></tr>`,
  );
  return [
    '<table style="border-collapse:collapse;width:100%;margin-bottom:24px">',
    `<caption style="text-align:left;font-weight:bold;padding:4px 0">${escapeHtml(caption)}</caption>`,
    `<thead><tr><th scope="col" style="${CELL}:left">${label}</th><th scope="col" style="${CELL}:right">${amount}</th></tr></thead>`,
    `<tbody>${body.join("\n")}</tbody>`,
    "</table>",
  ].join("\n");
}

/** Writes a table as lines of plain text, each with its label and its amount. */
export const tableText = ({ caption, rows }: MoneyTable): string =>
  [caption, ...rows.map(({ label, amount }) => `${oneLine(label)}: ${amount}`)].join("\n");

/** A product's title may contain line breaks, which would look like rows. */
const oneLine = (text: string) => text.replace(/\s+/g, " ");
