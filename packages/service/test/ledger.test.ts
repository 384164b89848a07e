import pg from "pg";
import { beforeAll, expect, test } from "vitest";
import type { TestCard } from "../../../test/support/service.js";
import { databaseForFile, serviceForFile } from "./service-for-file.js";
import { call, onCard } from "./wire.js";

const service = serviceForFile();
const db = databaseForFile(service);
let card: TestCard;

beforeAll(async () => {
  const company = await service.createCompany();
  card = await service.issueCard({ balanceCents: 7500 });
  await call(service.url, "devalue", { ...onCard(company, card), amount: 7498 });
});

const money = async () =>
  (
    await db.query(
      "select (select sum(balance_cents) from cards) as cards, (select sum(amount_cents) from ledger) as ledger",
    )
  ).rows[0];

test.each([
  "update ledger set amount_cents = amount_cents + 1 where kind = 'issue'",
  "update ledger set created_at = now()",
  "delete from ledger",
  "truncate ledger cascade",
  "update cards set balance_cents = balance_cents + 1",
  "insert into cards (number_hash, pin_hash, last_four, expiry_date, balance_cents) values ('a', 'b', '1234', '2099-01-01', 100)",
  "delete from cards",
  // A negative initial balance, a devalue above the balance, a devalue above the limit, and a devalue without a company.
  "insert into ledger (card_id, kind, amount_cents) select id, 'issue', -1 from cards",
  `insert into ledger (card_id, kind, amount_cents, company_id, requested_cents, deduction_id, token_nonce, token_hash)
     select id, 'devalue', -2501, 1, 2501, gen_random_uuid(), 'n', 't' from cards`,
  `insert into ledger (card_id, kind, amount_cents, company_id, requested_cents, deduction_id, token_nonce, token_hash)
     select id, 'devalue', -5001, 1, 5001, gen_random_uuid(), 'n', 't' from cards`,
  "insert into ledger (card_id, kind, amount_cents) select id, 'devalue', -1 from cards",
  // A cancel of another amount than was deducted, and a cancel of a row that is not a deduction.
  "insert into ledger (card_id, kind, amount_cents, company_id, reverses) select card_id, 'cancel', 4999, 1, id from ledger where kind = 'devalue'",
  "insert into ledger (card_id, kind, amount_cents, company_id, reverses) select card_id, 'cancel', 7500, 1, id from ledger where kind = 'issue'",
  // An adjustment without an audit entry, a second initial balance, and moves of other cents than left another card.
  "insert into ledger (card_id, kind, amount_cents) select id, 'adjust', 1 from cards",
  "insert into ledger (card_id, kind, amount_cents) select id, 'issue', 1 from cards",
  "insert into ledger (card_id, kind, amount_cents, moved_from, moved_from_card) select card_id, 'move', 4999, id, card_id from ledger where kind = 'devalue'",
  "insert into ledger (card_id, kind, amount_cents) select id, 'move', 1 from cards",
  "update cards set inactive_cents = 1",
  "update audit_log set reason = 'another'",
  "delete from audit_log",
  "truncate audit_log cascade",
])("the database itself refuses: %s", async (statement) => {
  const before = await money();
  await expect(db.query(statement)).rejects.toThrow();
  expect(await money()).toEqual(before);
  expect(before.cards).toBe(before.ledger);
});

test("the database itself refuses a second cancel of one deduction, even while the first is not yet committed", async () => {
  const cancel = `insert into ledger (card_id, kind, amount_cents, company_id, reverses)
    select card_id, 'cancel', 5000, 1, id from ledger where kind = 'devalue'`;
  const other = new pg.Client({ connectionString: service.databaseUrl });
  await other.connect();
  const { rows } = await other.query<{ pid: number }>("select pg_backend_pid() as pid");
  const isWaiting = async () =>
    (await db.query("select wait_event_type from pg_stat_activity where pid = $1", [rows[0]?.pid])).rows[0]
      .wait_event_type === "Lock";
  await db.query("begin");
  await db.query(cancel);
  const second = expect(other.query(cancel)).rejects.toThrow(/ledger_reversed_once/);
  await expect.poll(isWaiting).toBe(true);
  await db.query("commit");
  await second;
  await expect(db.query(cancel)).rejects.toThrow(/ledger_reversed_once/);
  await other.end();
  expect(await money()).toEqual({ cards: "7500", ledger: "7500" });
});
