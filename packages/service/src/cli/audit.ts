import { readPages } from "../database.js";
import { type AuditEntry, auditStatement } from "../store/audit.js";
import { type CommonOptions, command, withContext } from "./context.js";
import { day, identifier } from "./output.js";
import { printRows } from "./rows.js";

interface AuditOptions extends CommonOptions {
  readonly card?: number;
  readonly company?: number;
  readonly from?: string;
  readonly to?: string;
}

/** `audit` */
export const auditCommand = () =>
  command("audit", "Who changed what, when and why, oldest first")
    .option("--card <id>", "of this card, of its batch, and of the cards that it replaced", identifier)
    .option("--company <id>", "of this company alone", identifier)
    .option("--from <yyyy-mm-dd>", "the first day, by the clock in Amsterdam", day)
    .option("--to <yyyy-mm-dd>", "the last day, which counts in full", day)
    .addHelpText("after", "\nNobody can change or delete an entry. None holds a card number, a PIN or a key.")
    .action(({ card: cardId, company: companyId, from, to, ...options }: AuditOptions) =>
      withContext(options, ({ pool }) =>
        printRows<AuditEntry>(
          (onPage) => readPages(pool, auditStatement({ cardId, companyId, from, to }), onPage),
          { format: options.json ? "json" : "text", wire, line, none: "no entries" },
        ),
      ),
    );

const wire = (entry: AuditEntry) => ({
  id: entry.id,
  at: entry.at,
  operator: entry.operator,
  os_user: entry.osUser,
  action: entry.action,
  reason: entry.reason,
  card: entry.cardId,
  last_four: entry.lastFour,
  batch: entry.batchId,
  company_id: entry.companyId,
  details: entry.details,
});

const line = (entry: AuditEntry) =>
  [
    entry.at.toISOString(),
    entry.operator === entry.osUser ? entry.operator : `${entry.operator} (${entry.osUser})`,
    entry.action,
    [
      entry.cardId !== null && `card ${entry.cardId} (…${entry.lastFour})`,
      entry.batchId !== null && `batch ${entry.batchId}`,
      entry.companyId !== null && `company ${entry.companyId}`,
    ]
      .filter(Boolean)
      .join(", "),
    Object.entries(entry.details)
      .map(([name, value]) => `${name} ${value}`)
      .join(", "),
    entry.reason ?? "",
  ]
    .join("\t")
    .trimEnd();
