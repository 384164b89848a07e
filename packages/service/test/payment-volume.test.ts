import { expect, test } from "vitest";
import { runCommand, type TestCard } from "../../../test/support/service.js";
import { databaseForFile, serviceForFile } from "./service-for-file.js";
import { call, credentials, onCard } from "./wire.js";

const service = serviceForFile();
const db = databaseForFile(service);

/** Moves rows of the ledger to a time, without the triggers that keep it append-only. */
async function moveTo(time: string, condition: string) {
  await db.query("set session_replication_role = replica");
  await db.query(`update ledger set created_at = $1 where ${condition}`, [time]);
  await db.query("set session_replication_role = default");
}
const volume = (until: string) => service.command("volume", "--until", until);

test("the volume is that of twelve months by the clock in Amsterdam, with what was reversed by the last day", async () => {
  const [company, card] = [await service.createCompany(), await service.issueCard({ balanceCents: 20_000 })];
  const pay = async (amount: number, card: TestCard): Promise<string> =>
    (await call(service.url, "devalue", { ...onCard(company, card), amount })).body.cancel_token;
  const cancel_token = await pay(100, card);
  await pay(20, card);
  await pay(3, card);
  await call(service.url, "cancelDevalue", { ...credentials(company), cancel_token });
  // The last hour of 30 June, and the first of 1 July, a year later.
  await moveTo("2024-06-30T22:00:00Z", "requested_cents = 100");
  await moveTo("2024-06-30T21:59:59Z", "requested_cents = 20");
  await moveTo("2025-06-30T21:59:59Z", "requested_cents = 3");
  await moveTo("2025-07-01T10:00:00Z", "kind = 'cancel'");
  const threshold = { threshold: 100_000_000, exceeded: false, net_exceeded: false };
  const year = { from: "2024-07-01", until: "2025-06-30", ...threshold };
  expect(await volume("2025-06-30")).toEqual({ ...year, payments: 2, gross: 103, reversed: 0, net: 103 });
  expect(await volume("2025-06-29")).toMatchObject({ from: "2024-06-30", payments: 2, gross: 120, reversed: 0 });
  // Its devalue is older than twelve months, so the reversal does not lower this period's value.
  expect(await volume("2025-07-01")).toMatchObject({ payments: 1, gross: 3, reversed: 0, net: 3 });
  await moveTo("2025-06-30T21:59:59Z", "kind = 'cancel'");
  expect(await volume("2025-06-30")).toEqual({ ...year, payments: 2, gross: 103, reversed: 100, net: 3 });
  expect(await volume("2024-02-29")).toMatchObject({ from: "2023-03-01", until: "2024-02-29", payments: 0, gross: 0 });
  const { exitCode } = await runCommand(["volume", "--until", "2999-01-01"], env());
  expect(exitCode).toBe(2);
});

const env = () => ({ GIFTCARD_DATABASE_URL: service.databaseUrl });

test("the threshold is exceeded by a cent more than a million euro, gross, even if the net value is below it", async () => {
  const { rows } = await db.query("select company_id as company, card_id as card from ledger where kind = 'devalue'");
  const { company, card } = rows[0];
  const insert = (count: number, amount: number) =>
    db.query(
      `insert into ledger (card_id, kind, amount_cents, company_id, requested_cents, deduction_id, token_nonce, token_hash,
           created_at)
         select $1, 'devalue', -$3::bigint, $2, $3, gen_random_uuid(), 'n', sha256(gen_random_uuid()::text::bytea),
           '2022-03-01T12:00:00Z' from generate_series(1, $4)`,
      [card, company, amount, count],
    );
  await db.query("set session_replication_role = replica");
  await insert(20_000, 5000);
  expect(await volume("2022-12-31")).toMatchObject({ gross: 100_000_000, exceeded: false, net_exceeded: false });
  await insert(1, 1);
  expect(await volume("2022-12-31")).toMatchObject({ gross: 100_000_001, exceeded: true, net_exceeded: true });
  await db.query(
    `insert into ledger (card_id, kind, amount_cents, company_id, reverses, created_at)
       select card_id, 'cancel', refund_cents, company_id, id, created_at from ledger
         where kind = 'devalue' and amount_cents = -1 and created_at < '2023-01-01'`,
  );
  await db.query("set session_replication_role = default");
  expect(await volume("2022-12-31")).toMatchObject({ reversed: 1, exceeded: true, net_exceeded: false });
  const text = await runCommand(["volume", "--until", "2022-12-31"], env());
  expect(text.stdout).toMatch(/20001 payments from 2022-01-01 to 2022-12-31\ngross +1000000\.01\nreversed +0\.01\n/);
  expect(text.stdout).toContain("The threshold is exceeded, but not by the net value.");
  const csv = await runCommand(["volume", "--until", "2022-12-31", "--csv"], env());
  expect(csv.stdout).toBe(
    "from,until,payments,gross,reversed,net,threshold,exceeded,net_exceeded\r\n" +
      '"2022-01-01","2022-12-31",20001,100000001,1,100000000,100000000,"true","false"\n',
  );
});
