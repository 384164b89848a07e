// A benchmark database: companies with their API keys, and cards with their history. Starts the service on it.
import { randomInt } from "node:crypto";
import path from "node:path";
import { startNode } from "../lib/process.mjs";

const { cents, Secret } = await import("@giftcard-pay/client/contract");
const { defaultLimits, migrate, openKeyring, openPool } = await import("@giftcard-pay/service");
const { createApiKey } = await import("../../packages/service/dist/store/api-keys.js");
const { createCompany } = await import("../../packages/service/dist/store/accounts.js");
const { issueCards } = await import("../../packages/service/dist/store/card-issue.js");
const { hashOf } = await import("../../packages/service/dist/secrets/keyring.js");
const { alone } = await import("../../packages/service/dist/store/card-calls.js");
const { createDevalue } = await import("../../packages/service/dist/store/devalue.js");

const PROGRAM = path.resolve(import.meta.dirname, "../../packages/service/bin/giftcard-service.js");
const CARDS_AT_ONCE = 10_000;
const ROWS_AT_ONCE = 200_000;
const TELL_CARDS = 100_000;
const TELL_ROWS = 1_000_000;
const BALANCE_CENTS = 100_000_000;
const AMOUNT_CENTS = cents(1);
/** Rate limits are enabled and counted, but too high to be reached. */
const LIMITS = ["--calls-per-minute", "100000000"];
const ACT = { operator: "bench", osUser: "bench", reason: undefined };

/** The number of cards to charge, spread evenly over all. A million would fill this process's memory. */
const KNOWN_CARDS = 100_000;

let keysUsed = 0;

/**
 * The contents of a benchmark database. Each ledger row, except the first of each card, is a devalue with an
 * Idempotency-Key.
 * @typedef {{ cards: number, ledgerRows: number, companies: number, keysEach: number }} Size
 */

/**
 * Creates a database of this size.
 * @param {Size & { serverUrl: string, name: string, folder: string, connections: number, say: (text: string) => void }} options
 */
export async function makeDatabase({ serverUrl, name, folder, connections, say, ...size }) {
  const server = openPool(serverUrl, () => {}, 1);
  await server.query(`create database ${name}`);
  await server.end();
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const pool = openPool(url.href, () => {}, connections);
  await migrate(pool);
  const secretsFile = path.join(folder, `${name}.json`);
  const keys = await openKeyring(secretsFile, pool);
  const callers = await makeCallers(pool, size);
  const issued = await issue(pool, keys, size.cards, say);
  await addHistory(pool, size, say);
  /** @template T @param {T[]} all */
  const any = (all) => /** @type {T} */ (all[randomInt(all.length)]);
  const anyCard = () => any(issued);

  /** @param {() => (typeof issued)[number]} card */
  const bodyOf = (card) => {
    const { cardNumber, pin } = card();
    const { apiKey, companyId } = any(callers);
    const who = `apikey=${apiKey.reveal()}&company_id=${companyId}`;
    return `${who}&cardnumber=${cardNumber.reveal()}&pin=${pin.reveal()}`;
  };
  /** @param {() => (typeof issued)[number]} card */
  const devalueOf = (card) => () => ({
    operation: "devalue",
    body: `${bodyOf(card)}&amount=${AMOUNT_CENTS}`,
    key: `bench-${keysUsed++}`,
  });
  const devalue = createDevalue(alone(pool, "devalue"), keys, defaultLimits.card);
  return {
    url: url.href,
    size,
    /** The next devalue: of a random card, or always of the same card. */
    next: devalueOf(anyCard),
    nextOfOneCard: devalueOf(() => /** @type {(typeof issued)[number]} */ (issued[0])),
    nextBalance: () => ({ operation: "balance", body: bodyOf(anyCard) }),
    /** Makes the same devalue directly with the database driver. */
    async straight() {
      const { apiKey, companyId } = any(callers);
      const order = {
        companyId,
        apiKeyHash: hashOf(apiKey),
        ...anyCard(),
        amountCents: AMOUNT_CENTS,
        idempotencyKey: `bench-${keysUsed++}`,
      };
      const { outcome } = await devalue(order);
      if (outcome !== "done") throw new Error(`The statement returned ${outcome}.`);
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
          // As docs/service-scaling.md advises. Otherwise V8 enlarges its heap at a busy moment, and that looks like a leak.
          NODE_OPTIONS: "--max-semi-space-size=16",
        },
        ready: /"url":"([^"]+)","metrics_url":"([^"]+)"/,
      });
      const [, serviceUrl = "", metricsUrl = ""] = service.match;
      return { ...service, url: serviceUrl, metricsUrl };
    },
    /** Adds events to the first company. @param {number} count @returns {Promise<string>} its API key */
    async addEvents(count) {
      const [{ companyId, apiKey }] = /** @type {[(typeof callers)[number]]} */ (callers);
      const { rows } = await pool.query("insert into providers (name) values ('Bench') returning id");
      await pool.query(
        `insert into events (company_id, provider_id, name, organiser, start_date, start_time, ticket_link, introduction_text)
           select $1, $2, 'Concert ' || n, 'Zaal BV', '2099-06-01', '20:30', 'https://tickets.example.nl/' || n,
             repeat('An evening of music. ', 10) from generate_series(1, $3::int) n`,
        [companyId, rows[0].id, count],
      );
      return apiKey.reveal();
    },
    async countDevalues() {
      const { rows } = await pool.query("select count(*) as count from ledger where kind = 'devalue'");
      return Number(rows[0].count);
    },
    /** Runs a checkpoint, so that no round pays for the writes of an earlier one. */
    settle: async () => void (await pool.query("checkpoint")),
    close: () => pool.end(),
  };
}

/** @param {import("pg").Pool} pool @param {Size} size */
async function makeCallers(pool, { companies, keysEach }) {
  const callers = [];
  for (let made = 1; made <= companies; made++) {
    const account = { name: "Bench", email: `bench-${made}@example.nl`, password: new Secret("bench") };
    const { companyId, apiKey } = await createCompany(pool, account, ACT);
    callers.push({ companyId, apiKey });
    for (let more = 1; more < keysEach; more++)
      callers.push({ companyId, apiKey: (await createApiKey(pool, { companyId }, ACT)).apiKey });
  }
  return callers;
}

/** @param {import("pg").Pool} pool @param {Awaited<ReturnType<typeof openKeyring>>} keys @param {number} cards @param {(text: string) => void} say */
async function issue(pool, keys, cards, say) {
  const every = Math.ceil(cards / KNOWN_CARDS);
  /** @type {Awaited<ReturnType<typeof issueCards>>} */
  const known = [];
  const order = { balanceCents: cents(BALANCE_CENTS), expiryDate: "2099-12-31" };
  for (let issued = 0; issued < cards; issued += CARDS_AT_ONCE) {
    const count = Math.min(CARDS_AT_ONCE, cards - issued);
    const made = await issueCards(pool, keys, { ...order, count }, ACT);
    for (const [index, card] of made.entries()) if (index % every === 0) known.push(card);
    const all = issued + count;
    if (all % TELL_CARDS === 0) say(`  ${all} cards`);
  }
  return known;
}

/**
 * Adds old devalues, spread evenly over the cards and companies, each with its Idempotency-Key. Disables the triggers
 * meanwhile, then sets the balances from the ledger.
 * @param {import("pg").Pool} pool
 * @param {Size} size
 * @param {(text: string) => void} say
 */
async function addHistory(pool, { cards, ledgerRows, companies }, say) {
  const rows = ledgerRows - cards;
  const db = await pool.connect();
  try {
    await db.query("set statement_timeout = 0");
    await db.query("set session_replication_role = replica");
    for (let begun = 0; begun < rows; begun += ROWS_AT_ONCE) {
      const end = Math.min(begun + ROWS_AT_ONCE, rows);
      await db.query(
        `with added as (
           insert into ledger
               (card_id, kind, amount_cents, company_id, requested_cents, deduction_id, token_nonce, token_hash)
             select 1 + n % $1, 'devalue', -1, 1 + n % $2, 1, gen_random_uuid(), decode(md5(n::text), 'hex'),
               sha256(convert_to('token ' || n, 'UTF8')) from generate_series($3::int, $4::int) n
             returning id, company_id)
         insert into idempotency_keys (company_id, operation, key_hash, parameters_hash, ledger_id)
           select company_id, 'devalue', sha256(convert_to('key ' || id, 'UTF8')),
             sha256(convert_to('parameters ' || id, 'UTF8')), id from added`,
        [cards, companies, begun, end - 1],
      );
      if (end % TELL_ROWS === 0 || end === rows) say(`  ${end} old devalues`);
    }
    if (rows > 0) {
      say("  balances and statistics");
      await db.query(`update cards set balance_cents = s.cents
        from (select card_id, sum(amount_cents) as cents from ledger group by card_id) s where s.card_id = id`);
    }
    await db.query("vacuum analyze cards, ledger, api_keys");
    // If the table is vacuumed while empty, PostgreSQL scans it sequentially until its statistics are updated.
    if (rows > 0) await db.query("vacuum analyze idempotency_keys");
  } finally {
    db.release(true);
  }
}
