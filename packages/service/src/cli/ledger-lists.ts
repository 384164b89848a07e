import { type Cents, formatCents, Secret } from "@giftcard-pay/client/contract";
import { exitCodes, OperatorError } from "../operator-error.js";
import { type AuditEntry, auditStatement } from "../store/audit.js";
import { checkFilter } from "../store/filters.js";
import {
  findReference,
  findToken,
  type Reversal,
  reversalsStatement,
  type Transaction,
  transactionsStatement,
} from "../store/transactions.js";
import { signed } from "./card-show.js";
import { command } from "./command.js";
import { type CommonOptions, type Context, withContext } from "./context.js";
import { addDayOptions, checkDays, type DayOptions } from "./day-options.js";
import { identifier } from "./output.js";
import { formatOf, printRows, type RowList } from "./rows.js";
import { readLine } from "./stdin.js";

interface ListOptions extends CommonOptions, DayOptions {
  readonly company?: number;
  readonly card?: number;
  readonly csv: boolean;
}

const listCommand = (name: string, description: string) =>
  addDayOptions(command(name, description), { isRequired: false })
    .option("--company <id>", "only this company", identifier)
    .option("--csv", "print comma-separated values, amounts in cents", false);

function list<Row extends object>(
  options: ListOptions,
  listOf: (context: Context) => Promise<Omit<RowList<Row>, "format">> | Omit<RowList<Row>, "format">,
): Promise<void> {
  const format = formatOf(options);
  checkDays(options);
  return withContext(options, async (context) => {
    await checkFilter(context.pool, { companyId: options.company, cardId: options.card });
    await printRows<Row>(context.pool, { format, ...(await listOf(context)) });
  });
}

export const auditCommand = () =>
  listCommand("audit", "List the changes by command, oldest first: who, what, when and why")
    .option("--card <id>", "changes of this card, its batch, and the cards that it replaced", identifier)
    .addHelpText("after", "\nEntries cannot be changed or deleted. They hold no card number, PIN or key.")
    .action((options: ListOptions) =>
      list<AuditEntry>(options, () => ({ statement: auditStatement(options), line: auditLine, none: "no entries" })),
    );

const AMOUNTS = ["balance", "by"];
const euros = (cents: Cents) => `${formatCents(cents)} EUR`;

const auditLine = ({
  at,
  operator,
  os_user,
  action,
  reason,
  card,
  last_four,
  batch,
  company_id,
  details,
}: AuditEntry) =>
  [
    at.toISOString(),
    operator === os_user ? operator : `${operator} (${os_user})`,
    action,
    [
      card !== null && `card ${card} (…${last_four})`,
      batch !== null && `batch ${batch}`,
      company_id !== null && `company ${company_id}`,
    ]
      .filter(Boolean)
      .join(", "),
    Object.entries(details)
      .map(([name, value]) => `${name} ${AMOUNTS.includes(name) ? euros(value as Cents) : value}`)
      .join(", "),
    reason ?? "",
  ]
    .join("\t")
    .trimEnd();

export const reversalsCommand = () =>
  listCommand(
    "reversals",
    "List reversals onto cards that can't be spent: blocked or expired now, or when the money came back",
  )
    .addHelpText(
      "after",
      "\nA reversal succeeds for every status of the card, so the shop does not notice. The earlier status comes from the audit log.\n" +
        "`transactions` lists reversals onto every card.",
    )
    .action((options: ListOptions) =>
      list<Reversal>(options, () => ({
        statement: reversalsStatement(options),
        line: reversalLine,
        none: "no reversals onto blocked or expired cards",
      })),
    );

const reversalLine = (row: Reversal) =>
  [
    row.at.toISOString(),
    formatCents(row.amount).padStart(12),
    `card ${row.card} (…${row.last_four})`,
    `company ${row.company_id} ${row.company}`,
    `then ${row.status_then}`,
    `now ${row.card_status}${row.reissued_as === null ? "" : `, as card ${row.reissued_as}`}, holds ${formatCents(row.balance)}`,
  ].join("  ");

interface TransactionOptions extends ListOptions {
  readonly reference?: string;
  readonly token?: string;
}

export const transactionsCommand = () =>
  listCommand(
    "transactions",
    "List single movements of money, oldest first, also by a merchant's reference or cancel token",
  )
    .option("--card <id>", "only this card, by its id", identifier)
    .option("--reference <key>", "the devalue with this Idempotency-Key, and its reversal")
    .option("--token <token>", "the devalue with this cancel token, and its reversal; `-` reads it from standard input")
    .addHelpText("after", '\nSeveral options are combined with "and". The output cannot be used to cancel anything.')
    .action(async (options: TransactionOptions) => {
      const { company, card, reference, token, from, to } = options;
      if ([company, card, reference, token, from, to].every((one) => one === undefined))
        throw new OperatorError(
          "Give at least one of --company, --card, --reference, --token, --from and --to.",
          exitCodes.usage,
        );
      const cancelToken = token === "-" ? await readLine("the cancel token") : token;
      await list<Transaction>(options, async (context) => ({
        statement: transactionsStatement({ ...options, rows: await findRows(context, reference, cancelToken) }),
        line: transactionLine,
        none: "no movements",
      }));
    });

/** Finds the rows of a reference and a token; undefined if neither is given. */
async function findRows(
  { pool, out, keyring }: Context,
  reference: string | undefined,
  token: string | undefined,
): Promise<number[] | undefined> {
  const found: number[][] = [];
  if (reference !== undefined) {
    const uses = await findReference(pool, await keyring(), reference);
    if (uses.length === 0) out.warn("this reference is unknown: no devalue carried it, and it was not resolved");
    for (const { row, companyId, at } of uses) {
      if (row === null)
        out.warn(
          `company ${companyId} resolved this reference at ${at.toISOString()}, before its devalue came: nothing was taken`,
        );
    }
    found.push(uses.flatMap(({ row }) => (row === null ? [] : [row])));
  }
  if (token !== undefined) {
    const devalue = await findToken(pool, new Secret(token));
    if (devalue === undefined) out.warn("no devalue has this token");
    found.push(devalue === undefined ? [] : [devalue]);
  }
  return found.length === 0 ? undefined : found.reduce((all, some) => all.filter((id) => some.includes(id)));
}

const transactionLine = (row: Transaction) =>
  [
    row.at.toISOString(),
    row.kind.padEnd(7),
    signed(row.amount).padStart(12),
    `card ${row.card} (…${row.last_four})`,
    row.company_id === null ? "" : `company ${row.company_id} ${row.company}`,
    `row ${row.id}`,
    row.reversed_by === null ? "" : `reversed by row ${row.reversed_by} at ${row.reversed_at?.toISOString()}`,
    row.reverses === null ? "" : `reverses row ${row.reverses}`,
    row.other_card === null ? "" : `${row.amount < 0 ? "to" : "from"} card ${row.other_card}`,
    row.audit === null ? "" : `audit ${row.audit}`,
  ]
    .filter(Boolean)
    .join("  ");
