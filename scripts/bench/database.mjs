// A database of the bench: its service, one company, and cards that are spread over all that it holds.
import { randomInt } from "node:crypto";
import path from "node:path";
import { startNode } from "../process.mjs";

const { cents, Secret } = await import("@giftcard-pay/client/contract");
const { defaultLimits, migrate, openKeyring, openPool } = await import("@giftcard-pay/service");
const { createCompany } = await import("../../packages/service/dist/store/accounts.js");
const { issueCards } = await import("../../packages/service/dist/store/card-issue.js");
const { createDevalue, devalueAlone } = await import("../../packages/service/dist/store/devalue.js");

const PROGRAM = path.resolve(import.meta.dirname, "../../packages/service/bin/giftcard-service.js");
const CARDS_AT_ONCE = 10_000;
const ROWS_AT_ONCE = 200_000;
const BALANCE_CENTS = 100_000_000;
const AMOUNT_CENTS = cents(1);
/** Limits are on and counted, and far above what can be reached. */
const LIMITS = ["--calls-per-minute", "100000000"];
const ACT = { operator: "bench", osUser: "bench", reason: undefined };

let keysUsed = 0;

/**
 * Makes a database with so many cards and ledger rows.
 * @param {{ serverUrl: string, name: string, folder: string, cards: number, ledgerRows: number, connections: number }} size
 */
export async function makeDatabase({ serverUrl, name, folder, cards, ledgerRows, connections }) {
  const server = openPool(serverUrl, () => {}, 1);
  await server.query(`create database ${name}`);
  await server.end();
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const pool = openPool(url.href, () => {}, connections);
  await migrate(pool);
  const secretsFile = path.join(folder, `${name}.json`);
  const keys = await openKeyring(secretsFile, pool);
  const account = { name: "Bench", email: "bench@example.nl", password: new Secret("bench") };
  const { companyId, apiKey } = await createCompany(pool, account, ACT);
  /** @type {Awaited<ReturnType<typeof issueCards>>} */
  const issued = [];
  const order = { balanceCents: cents(BALANCE_CENTS), expiryDate: "2099-12-31" };
  while (issued.length < cards) {
    const count = Math.min(CARDS_AT_ONCE, cards - issued.length);
    for (const card of await issueCards(pool, keys, { ...order, count }, ACT)) issued.push(card);
  }
  await addHistory(pool, { companyId, rows: ledgerRows - cards, cards });
  const anyCard = () => /** @type {(typeof issued)[number]} */ (issued[randomInt(issued.length)]);

  /** @param {() => (typeof issued)[number]} card */
  const bodies = (card) => () => {
    const { cardNumber, pin } = card();
    const who = `apikey=${apiKey.reveal()}&company_id=${companyId}`;
    const body = `${who}&cardnumber=${cardNumber.reveal()}&pin=${pin.reveal()}&amount=${AMOUNT_CENTS}`;
    return { body, key: `bench-${keysUsed++}` };
  };
  const devalue = createDevalue(devalueAlone(pool), keys, defaultLimits.card);
  return {
    /** A devalue of any card, and of one alone. */
    next: bodies(anyCard),
    nextOfOneCard: bodies(() => /** @type {(typeof issued)[number]} */ (issued[0])),
    /** The same devalue straight by the driver. */
    async straight() {
      const order = {
        companyId,
        ...anyCard(),
        amountCents: AMOUNT_CENTS,
        idempotencyKey: `bench-${keysUsed++}`,
      };
      const { outcome } = await devalue(order);
      if (outcome !== "done") throw new Error(`The statement answered ${outcome}.`);
    },
    /** @param {string[]} args */
    async startService(...args) {
      const service = await startNode({
        name: "The service",
        args: [
          PROGRAM,
          "serve",
          "--port",
          "0",
          "--metrics-port",
          "0",
          "--json",
          "--log-level",
          "warn",
          ...LIMITS,
          ...args,
        ],
        cwd: folder,
        env: {
          GIFTCARD_DATABASE_URL: url.href,
          GIFTCARD_SECRETS_FILE: secretsFile,
          // As docs/operating.md advises: else one step of V8's heap, which comes at some busy moment, looks like a leak.
          NODE_OPTIONS: "--max-semi-space-size=16",
        },
        ready: /"url":"([^"]+)","metrics_url":"([^"]+)"/,
      });
      const [, serviceUrl = "", metricsUrl = ""] = service.match;
      return { ...service, url: serviceUrl, metricsUrl };
    },
    /** Writes everything down, so that no round pays for what an earlier one left. */
    settle: async () => void (await pool.query("checkpoint")),
    close: () => pool.end(),
  };
}

/**
 * Adds devalues of long ago, evenly over the cards. The triggers are off meanwhile; the balances are set to what the
 * ledger then says.
 * @param {import("pg").Pool} pool
 * @param {{ companyId: number, rows: number, cards: number }} history
 */
async function addHistory(pool, { companyId, rows, cards }) {
  const db = await pool.connect();
  try {
    await db.query("set statement_timeout = 0");
    await db.query("set session_replication_role = replica");
    for (let begun = 0; begun < rows; begun += ROWS_AT_ONCE) {
      await db.query(
        `insert into ledger (card_id, kind, amount_cents, company_id, requested_cents, deduction_id, token_nonce, token_hash)
           select 1 + n % $1, 'devalue', -1, $2, 1, gen_random_uuid(), decode(md5(n::text), 'hex'),
             sha256(convert_to(n::text, 'UTF8')) from generate_series($3::int, $4::int) n`,
        [cards, companyId, begun, Math.min(begun + ROWS_AT_ONCE, rows) - 1],
      );
    }
    if (rows > 0) {
      await db.query(`update cards set balance_cents = s.cents
        from (select card_id, sum(amount_cents) as cents from ledger group by card_id) s where s.card_id = id`);
    }
    await db.query("vacuum analyze cards, ledger");
  } finally {
    db.release(true);
  }
}
