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
    command("transactions", "Single movements of money, oldest first, found by what a merchant has in hand"),
    { isRequired: false },
  )
    .option("--company <id>", "of this company", identifier)
    .option("--card <id>", "of this card, by its id", identifier)
    .option("--reference <key>", "the devalue that carried this Idempotency-Key, and what reversed it")
    .option(
      "--token <token>",
      "the devalue that gave this cancel token, and what reversed it; `-` reads it from standard input",
    )
    .option("--csv", "print comma-separated values, amounts in cents", false)
    .addHelpText(
      "after",
      "\nSeveral together: what fits all of them. Nobody can cancel anything by what this shows.",
    )
    .action(async (options: TransactionOptions) => {
      const { company, card, reference, token, from, to, csv, json } = options;
      const format = formatOf({ csv, json });
      if ([company, card, reference, token, from, to].every((one) => one === undefined))
        throw new OperatorError(
          "Say which: --company, --card, --reference, --token, --from or --to.",
          exitCodes.usage,
        );
      checkDays(options);
      const cancelToken = token === "-" ? await readLine("the cancel token") : token;
      await withContext(options, async (context) => {
        await checkFilter(context.pool, { companyId: company, cardId: card });
        const devalues = await findDevalues(context, reference, cancelToken);
        const filter: TransactionFilter = { companyId: company, cardId: card, from, to, devalues };
        await printRows<Transaction>(
          (onPage) => readPages(context.pool, transactionsStatement(filter), onPage),
          {
            format,
            wire,
            line,
            none: "no movements",
            columns: COLUMNS,
          },
        );
      });
    });

/** The devalues that a reference and a token name; undefined where neither was given. */
async function findDevalues(
  { pool, out, keyring }: Context,
  reference: string | undefined,
  token: string | undefined,
): Promise<number[] | undefined> {
  const found: number[][] = [];
  if (reference !== undefined) {
    const uses = await findReference(pool, await keyring(), reference);
    if (uses.length === 0) out.warn("no devalue carried this reference, and nobody ended it");
    for (const { devalue, companyId, at } of uses) {
      const ended = `company ${companyId} ended this reference at ${at.toISOString()}`;
      if (devalue === null) out.warn(`${ended}, before a devalue came: nothing was taken`);
    }
    found.push(uses.flatMap(({ devalue }) => (devalue === null ? [] : [devalue])));
  }
  if (token !== undefined) {
    const devalue = await findToken(pool, new Secret(token));
    if (devalue === undefined) out.warn("no devalue gave this token");
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
