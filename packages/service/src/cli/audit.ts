import { type Cents, formatCents } from "@giftcard-pay/client/contract";
import { readPages } from "../database/database.js";
import { type AuditEntry, auditStatement } from "../store/audit.js";
import { checkFilter } from "../store/filters.js";
import { type CommonOptions, command, withContext } from "./context.js";
import { addDayOptions, checkDays, type DayOptions } from "./day-options.js";
import { identifier } from "./output.js";
import { formatOf, printRows } from "./rows.js";

interface AuditOptions extends CommonOptions, DayOptions {
  readonly card?: number;
  readonly company?: number;
  readonly csv: boolean;
}

/** `audit` */
export const auditCommand = () =>
  addDayOptions(command("audit", "List the changes by command, oldest first: who, what, when and why"), {
    isRequired: false,
  })
    .option("--card <id>", "changes of this card, its batch, and the cards that it replaced", identifier)
    .option("--company <id>", "changes of this company", identifier)
    .option("--csv", "print comma-separated values, amounts in cents", false)
    .addHelpText("after", "\nEntries cannot be changed or deleted. They hold no card number, PIN or key.")
    .action(({ card: cardId, company: companyId, from, to, csv, ...options }: AuditOptions) => {
      const format = formatOf({ csv, json: options.json });
      checkDays({ from, to });
      return withContext(options, async ({ pool }) => {
        await checkFilter(pool, { cardId, companyId });
        await printRows<AuditEntry>(
          (onPage) => readPages(pool, auditStatement({ cardId, companyId, from, to }), onPage),
          { format, wire, line, none: "no entries", columns: COLUMNS },
        );
      });
    });

const COLUMNS = [
  "id",
  "at",
  "operator",
  "os_user",
  "action",
  "reason",
  "card",
  "last_four",
  "batch",
  "company_id",
  "details",
];

const wire = (entry: AuditEntry) => ({
  id: entry.id,
  at: entry.at.toISOString(),
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

/** The details that are amounts. */
const AMOUNTS = ["balance", "by"];
const euros = (cents: Cents) => `${formatCents(cents)} EUR`;

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
      .map(([name, value]) => `${name} ${AMOUNTS.includes(name) ? euros(value as Cents) : value}`)
      .join(", "),
    entry.reason ?? "",
  ]
    .join("\t")
    .trimEnd();
