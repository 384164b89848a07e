import { createHash } from "node:crypto";
import type { TestCard, TestService } from "../../support/service.js";
import type { Member } from "./member.js";
import type { Sale, Sales } from "./sales.js";

interface Row {
  readonly token: string;
  readonly cents: number;
  readonly canceled: boolean;
}

const hash = (token: string) => createHash("sha256").update(token).digest("hex");

/**
 * Compares the answers that callers got with the ledger, each card's balance and `check`.
 *
 * @returns every difference; none if the books are exact
 */
export async function compareBooks({
  service,
  primary,
  sales,
  cards,
  issuedCents,
}: {
  readonly service: TestService;
  readonly primary: Member;
  readonly sales: Sales;
  readonly cards: readonly TestCard[];
  readonly issuedCents: number;
}): Promise<string[]> {
  const { rows } = await primary.query(
    `select encode(d.token_hash, 'hex') as token, d.refund_cents::int as cents, r.id is not null as canceled
       from ledger d left join ledger r on r.reverses = d.id where d.kind = 'devalue'`,
  );
  const differences = compareRows(new Map((rows as Row[]).map((row) => [row.token, row])), sales.answered);
  for (const card of cards) {
    const expected = issuedCents - sumOf(sales.answered.filter((sale) => sale.card === card));
    const found = await sales.balanceOf(card);
    if (found !== expected) differences.push(`a card holds ${found} cents, not ${expected}`);
  }
  const check = (await service.command("check")) as { ok: boolean; faults: unknown[] };
  if (!check.ok) differences.push(`check: ${JSON.stringify(check.faults)}`);
  return differences;
}

function compareRows(ledger: Map<string, Row>, answered: readonly Sale[]): string[] {
  const differences: string[] = [];
  for (const sale of answered) {
    const token = hash(sale.token);
    const row = ledger.get(token);
    ledger.delete(token);
    if (!row) differences.push("an answered devalue is lost");
    else if (row.cents !== sale.cents)
      differences.push(`a devalue took ${row.cents} cents, not ${sale.cents} as answered`);
    else if (row.canceled !== sale.canceled)
      differences.push(sale.canceled ? "an answered cancel is lost" : "a cancel was never answered");
  }
  if (ledger.size > 0) differences.push(`${ledger.size} devalues were never answered`);
  return differences;
}

const sumOf = (sales: readonly Sale[]) => sales.reduce((sum, { cents, canceled }) => sum + (canceled ? 0 : cents), 0);
