import { formatCents, Secret } from "@giftcard-pay/client/contract";
import { readPages } from "../database/database.js";
import { exitCodes, OperatorError } from "../operator-error.js";
import { checkFilter } from "../store/filters.js";
import {
  findReference,
  findToken,
  type Transaction,
  type TransactionFilter,
  transactionsStatement,
} from "../store/transactions.js";
import { type CommonOptions, type Context, command, withContext } from "./context.js";
import { addDayOptions, checkDays, type DayOptions } from "./day-options.js";
import { identifier } from "./output.js";
import { formatOf, printRows } from "./rows.js";
import { readLine } from "./stdin.js";

interface TransactionOptions extends CommonOptions, DayOptions {
  readonly company?: number;
  readonly card?: number;
  readonly reference?: string;
  readonly token?: string;
  readonly csv: boolean;
}

/** `transactions` */
export const transactionsCommand = () =>
  addDayOptions(
    command(
      "transactions",
      "List single movements of money, oldest first, also by a merchant's reference or cancel token",
    ),
    { isRequired: false },
  )
    .option("--company <id>", "only this company", identifier)
    .option("--card <id>", "only this card, by its id", identifier)
    .option("--reference <key>", "the devalue with this Idempotency-Key, and its reversal")
    .option("--token <token>", "the devalue with this cancel token, and its reversal; `-` reads it from standard input")
    .option("--csv", "print comma-separated values, amounts in cents", false)
    .addHelpText("after", '\nSeveral options are combined with "and". The output cannot be used to cancel anything.')
    .action(async (options: TransactionOptions) => {
      const { company, card, reference, token, from, to, csv, json } = options;
      const format = formatOf({ csv, json });
      if ([company, card, reference, token, from, to].every((one) => one === undefined))
        throw new OperatorError(
          "Give at least one of --company, --card, --reference, --token, --from and --to.",
          exitCodes.usage,
        );
      checkDays(options);
      const cancelToken = token === "-" ? await readLine("the cancel token") : token;
      await withContext(options, async (context) => {
        await checkFilter(context.pool, { companyId: company, cardId: card });
        const rows = await findRows(context, reference, cancelToken);
        const filter: TransactionFilter = { companyId: company, cardId: card, from, to, rows };
        await printRows<Transaction>((onPage) => readPages(context.pool, transactionsStatement(filter), onPage), {
          format,
          wire,
          line,
          none: "no movements",
          columns: COLUMNS,
        });
      });
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

const COLUMNS = [
  "id",
  "at",
  "kind",
  "amount",
  "company_id",
  "company",
  "card",
  "last_four",
  "requested",
  "reverses",
  "reversed_by",
  "reversed_at",
  "audit",
  "other_card",
];

const wire = (row: Transaction) => ({
  id: row.id,
  at: row.at.toISOString(),
  kind: row.kind,
  amount: row.amountCents,
  company_id: row.companyId,
  company: row.company,
  card: row.cardId,
  last_four: row.lastFour,
  requested: row.requestedCents,
  reverses: row.reverses,
  reversed_by: row.reversedBy,
  reversed_at: row.reversedAt?.toISOString() ?? null,
  audit: row.auditId,
  other_card: row.otherCardId,
});

const line = (row: Transaction) =>
  [
    row.at.toISOString(),
    row.kind.padEnd(7),
    `${row.amountCents < 0 ? "" : "+"}${formatCents(row.amountCents)}`.padStart(12),
    `card ${row.cardId} (…${row.lastFour})`,
    row.companyId === null ? "" : `company ${row.companyId} ${row.company}`,
    `row ${row.id}`,
    row.reversedBy === null ? "" : `reversed by row ${row.reversedBy} at ${row.reversedAt?.toISOString()}`,
    row.reverses === null ? "" : `reverses row ${row.reverses}`,
    row.otherCardId === null ? "" : `${row.amountCents < 0 ? "to" : "from"} card ${row.otherCardId}`,
    row.auditId === null ? "" : `audit ${row.auditId}`,
  ]
    .filter(Boolean)
    .join("  ");
