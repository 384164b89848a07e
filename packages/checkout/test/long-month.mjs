// Reconciles a month whose charges and payments are in one database, and prints what came of it.
import { createReadStream } from "node:fs";
import { createPostgresStore } from "@giftcard-pay/checkout";
import { readReconciliation } from "@giftcard-pay/checkout/plugin";
import pg from "pg";

const [databaseUrl, company, from = "", to = "", file = ""] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
const PAGE = 500;

/** @param {import("@giftcard-pay/checkout/operator").PaymentQuery} query */
async function* payments({ from, to, orderIds }) {
  const isPeriod = from < to;
  const wanted = isPeriod ? "made_at >= $2 and made_at < $3" : "order_id = any($2)";
  const text = `select order_id, cents from sale where order_id > $1 and ${wanted} order by order_id limit ${PAGE}`;
  for (let after = ""; ; ) {
    const { rows } = await pool.query(text, isPeriod ? [after, from, to] : [after, orderIds]);
    for (const { order_id, cents } of rows) yield { orderId: order_id, amountCents: cents };
    if (rows.length < PAGE) return;
    after = rows.at(-1).order_id;
  }
}

const progress = { charges: 0, payments: 0 };
const { journal } = createPostgresStore({ pool });
const source = { journal, environment: /** @type {const} */ ("sandbox"), companyId: Number(company) };
const result = await readReconciliation(source, {
  ...{ from, to, payments, report: createReadStream(file, "utf8") },
  onProgress: (read, what) => (progress[what] = read),
});
process.stdout.write(JSON.stringify({ ...result, progress }));
await pool.end();
