// Compares the answers to the soak's callers with the ledger.
import { createHash } from "node:crypto";
import { isUnknown } from "./storm.mjs";

const { checkLedger } = await import("../../../packages/service/dist/store/ledger-check.js");

/** @typedef {import("./storm.mjs").Call} Call */
/**
 * @typedef {object} Row a devalue in the ledger
 * @property {number} id
 * @property {string} card the hash of its number
 * @property {number} cents
 * @property {number} asked
 * @property {string} token its hash
 * @property {string | null} key its hash
 * @property {boolean} reversed
 */

const hash = (/** @type {string} */ text) => createHash("sha256").update(text).digest("hex");

/**
 * @param {{ pool: import("pg").Pool, keys: import("@giftcard-pay/service").Keyring, calls: Call[] }} what
 * @returns {Promise<string[]>} every difference; none when the books are exact
 */
export async function compareBooks({ pool, keys, calls }) {
  const { faults } = await checkLedger(pool);
  const differences = faults.map((fault) => `the books: ${JSON.stringify(fault)}`);
  const { rows } = await pool.query(
    `select d.id, encode(c.number_hash, 'hex') as card, d.refund_cents as cents, d.requested_cents as asked,
       encode(d.token_hash, 'hex') as token, encode(k.key_hash, 'hex') as key, r.id is not null as reversed
     from ledger d join cards c on c.id = d.card_id left join idempotency_keys k on k.ledger_id = d.id
       left join ledger r on r.reverses = d.id
     where d.kind = 'devalue'`,
  );
  const ledger = /** @type {Row[]} */ (rows);
  const byToken = new Map(ledger.map((row) => [row.token, row]));
  const byKey = new Map(ledger.filter((row) => row.key !== null).map((row) => [/** @type {string} */ (row.key), row]));
  const keyHash = (/** @type {Call} */ call) => keys.idempotencyKey(/** @type {string} */ (call.key)).toString("hex");
  const cardHash = (/** @type {Call} */ call) => keys.cardNumbers(secretOf(call)).at(-1)?.toString("hex");

  /** @type {Map<string, number>} */
  const firstAnswers = new Map();
  /** @type {Map<string, number>} */
  const reversals = new Map();
  const count = (/** @type {Map<string, number>} */ map, /** @type {string} */ key) =>
    map.set(key, (map.get(key) ?? 0) + 1);
  for (const call of calls) {
    const wrong = (/** @type {string} */ why) => differences.push(`${call.kind} ${call.status}: ${why}`);
    if (call.kind === "devalue" && call.status === 200) {
      const row = byToken.get(hash(String(call.body.cancel_token)));
      if (!row) wrong("its token is not in the ledger");
      else if (row.cents !== call.body.amount_deducted || row.asked !== call.order?.amountCents) wrong("other amounts");
      else if (row.card !== cardHash(call)) wrong("another card");
      else if ((row.key ?? undefined) !== (call.key && keyHash(call))) wrong("another key");
      else if (!call.replayed) count(firstAnswers, row.token);
    }
    if (call.kind === "cancel" && (call.status === 200 || call.status === 409)) {
      const row = byToken.get(hash(String(call.token)));
      if (!row?.reversed) wrong("nothing was reversed");
      else if (call.status === 200 && row.cents !== call.body.amount_refunded) wrong("another amount was refunded");
      else if (call.status === 200) count(reversals, row.token);
    }
    if (call.kind === "cancel" && call.status === 404) wrong("a token that was given is not known");
    if (call.kind === "end" && !isUnknown(call)) {
      const row = byKey.get(keyHash(call));
      if ((call.status === 200 || call.status === 409) && !row?.reversed) wrong("nothing was reversed");
      if (call.status === 200 && row && row.cents !== call.body.amount_refunded) wrong("another amount was refunded");
      if (call.status === 200 && row) count(reversals, row.token);
      if (call.status === 404 && row) wrong("it was done after all");
    }
  }
  for (const [, times] of [...firstAnswers].filter(([, n]) => n > 1))
    differences.push(`a token was given ${times} times`);
  for (const [, times] of [...reversals].filter(([, n]) => n > 1))
    differences.push(`a reversal was answered ${times} times`);
  return [...differences, ...unexplained(ledger, calls, keyHash, cardHash)];
}

/**
 * Returns the deductions without an explanation. A deduction is explained if it was answered, if it has a key by which it
 * can be resolved, or if it matches a call without a key that got no answer. The plain interface allows no more.
 * @param {Row[]} ledger @param {Call[]} calls
 * @param {(call: Call) => string} keyHash @param {(call: Call) => string | undefined} cardHash
 */
function unexplained(ledger, calls, keyHash, cardHash) {
  const answered = new Set();
  const sentKeys = new Set();
  const lost = new Map();
  for (const call of calls.filter(({ kind }) => kind === "devalue")) {
    if (call.key !== undefined) sentKeys.add(keyHash(call));
    else if (isUnknown(call)) {
      const like = `${cardHash(call)} ${call.order?.amountCents}`;
      lost.set(like, (lost.get(like) ?? 0) + 1);
    }
    if (call.status === 200) answered.add(hash(String(call.body.cancel_token)));
  }
  const differences = [];
  for (const row of ledger) {
    if (answered.has(row.token) || (row.key !== null && sentKeys.has(row.key))) continue;
    const like = `${row.card} ${row.asked}`;
    const left = lost.get(like) ?? 0;
    if (left === 0) differences.push(`ledger row ${row.id}: nobody was told, and no key ends it`);
    lost.set(like, left - 1);
  }
  return differences;
}

const { Secret } = await import("@giftcard-pay/client/contract");
const secretOf = (/** @type {Call} */ call) => new Secret(call.order?.card.cardNumber ?? "");
