import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type { Cents } from "@giftcard-pay/client/contract";
import { Secret } from "@giftcard-pay/client/contract";
import { type Keyring, OperatorError, openKeyring, openPool } from "@giftcard-pay/service";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  startGiftcardService,
  type TestCard,
  type TestCompany,
  type TestService,
} from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { activateBatch, activateCard } from "../dist/store/card-activate.js";
import { adjustCard } from "../dist/store/card-changes.js";
import { type IssuedCard, issueCards } from "../dist/store/card-issue.js";
import { reissueCard } from "../dist/store/card-reissue.js";
import { checkLedger } from "../dist/store/ledger-check.js";
import { call, credentials, onCard } from "./wire.js";

// An operator changes a card while its holder pays. The tests call the commands' functions directly, next to a running
// service.
const ROUNDS = 25;
const act = { operator: "races", osUser: "races", reason: "a race" };

describe.each(["read committed", "serializable"])("at %s", (isolation) => {
  let folder: string;
  let service: TestService;
  let company: TestCompany;
  let pool: pg.Pool;
  let keys: Keyring;

  beforeAll(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-issuer-races-"));
    const databaseUrl = await testDatabase();
    const db = new pg.Client({ connectionString: databaseUrl });
    await db.connect();
    const name = new URL(databaseUrl).pathname.slice(1);
    await db.query(`alter database ${name} set default_transaction_isolation = '${isolation}'`);
    await db.end();
    const secretsFile = path.join(folder, "secrets.json");
    service = await startGiftcardService({ databaseUrl, secretsFile, args: ["--calls-per-minute", "0"] });
    company = await service.createCompany();
    // Enough connections that no concurrent operation waits for one.
    pool = openPool(databaseUrl, () => {}, 24);
    keys = await openKeyring(secretsFile, pool);
  });

  afterAll(async () => {
    expect((await checkLedger(pool)).faults).toEqual([]);
    await pool.end();
    await service.stop();
    fs.rmSync(folder, { recursive: true });
  });

  const testCard = ({ cardNumber, pin, expiryDate }: IssuedCard): TestCard => ({
    cardNumber: cardNumber.reveal(),
    pin: pin.reveal(),
    expiryDate,
  });
  const issue = async (balanceCents: number, isInactive = false) => {
    const order = { count: 1, balanceCents: balanceCents as Cents, expiryDate: "2099-12-31", isInactive };
    return testCard((await issueCards(pool, keys, order, act))[0] as IssuedCard);
  };
  const reference = (card: TestCard) => ({ cardNumber: new Secret(card.cardNumber) });
  const devalue = (card: TestCard, amount: number) =>
    call(service.url, "devalue", { ...onCard(company, card), amount });
  const cancel = (cancel_token: string) =>
    call(service.url, "cancelDevalue", { ...credentials(company), cancel_token });
  const balance = async (card: TestCard): Promise<number> =>
    (await call(service.url, "balance", onCard(company, card))).body.balance;
  /** Returns false if the card's state does not allow the operation. */
  const succeeds = (work: Promise<unknown>) =>
    work.then(
      () => true,
      (error) => {
        if (error instanceof OperatorError && error.exitCode === 4) return false;
        throw error;
      },
    );
  const adjust = (card: TestCard, by: number) => succeeds(adjustCard(pool, keys, reference(card), by as Cents, act));

  test("a devalue and an adjustment of the same cents never overdraw the card, and never both succeed in full", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const card = await issue(1000);
      const pay = round % 2 ? devalue(card, 800) : undefined;
      const [adjusted, devalued] = await Promise.all([adjust(card, -800), pay ?? devalue(card, 800)]);
      const taken = devalued.body.amount_deducted;
      // The second one finds 200 cents: a devalue takes them, and an adjustment is refused.
      expect(["true 200", "false 800"]).toContain(`${adjusted} ${taken}`);
      expect(await balance(card)).toBe(1000 - taken - (adjusted ? 800 : 0));
    }
  });

  test("concurrent adjustments are made until the balance is too small for another one", async () => {
    const card = await issue(1000);
    const done = await Promise.all(Array.from({ length: 20 }, () => adjust(card, -90)));
    expect(done.filter(Boolean)).toHaveLength(11);
    expect(await balance(card)).toBe(10);
  });

  test("a reissue during concurrent devalues moves exactly the money that they leave", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const card = await issue(2000);
      const reissue = reissueCard(pool, keys, reference(card), undefined, act);
      const answers = await Promise.all(Array.from({ length: 12 }, () => devalue(card, 100)));
      const made = testCard((await reissue).made);
      expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 400)).toEqual([]);
      const taken = answers.filter(({ status }) => status === 200).length * 100;
      expect([await balance(card), await balance(made)]).toEqual([0, 2000 - taken]);
    }
  });

  test("concurrent reissues of a card create one replacement", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const card = await issue(500);
      const reissue = () => reissueCard(pool, keys, reference(card), undefined, act);
      const done = await Promise.allSettled([reissue(), reissue(), reissue()]);
      const made = done.flatMap((one) => (one.status === "fulfilled" ? [one.value.made] : []));
      expect(made).toHaveLength(1);
      expect(await balance(testCard(made[0] as IssuedCard))).toBe(500);
    }
  });

  test("a cancel that races with a reissue leaves the money on the new card, whichever comes first", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const card = await issue(3000);
      const { cancel_token } = (await devalue(card, 1200)).body;
      const reissue = () => reissueCard(pool, keys, reference(card), undefined, act);
      const works = [reissue, () => cancel(cancel_token), () => cancel(cancel_token)];
      const started = (round % 2 ? works : works.reverse()).map((work) => work());
      const done = await Promise.all(started);
      const statuses = done.flatMap((one) => ("status" in one ? [one.status] : []));
      expect(statuses.sort()).toEqual([200, 409]);
      const [made] = done.flatMap((one) => ("made" in one ? [one.made] : []));
      expect([await balance(card), await balance(testCard(made as IssuedCard))]).toEqual([0, 3000]);
    }
  });

  test("concurrent activations credit a card once, and a concurrent devalue takes nothing before that", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const card = await issue(700, true);
      const activate = () => succeeds(activateCard(pool, keys, reference(card), act));
      const [first, paid, second, third] = await Promise.all([activate(), devalue(card, 700), activate(), activate()]);
      expect([first, second, third].filter(Boolean)).toHaveLength(1);
      const taken = paid.body.amount_deducted ?? 0;
      expect([0, 700]).toContain(taken);
      if (taken === 0) expect([paid.status, paid.body.card_status]).toEqual([400, "Blocked"]);
      expect(await balance(card)).toBe(700 - taken);
    }
  });

  test("each card gets its money once if its batch is activated twice and the card itself is activated too, all concurrently", async () => {
    const order = { count: 200, balanceCents: 100 as Cents, expiryDate: "2099-12-31", isInactive: true };
    const cards = (await issueCards(pool, keys, order, act)).map(testCard);
    const { rows } = await pool.query<{ id: number }>("select max(id)::int as id from card_batches");
    const batch = () => succeeds(activateBatch(pool, rows[0]?.id as number, act, () => {}));
    const singles = cards.slice(0, 20).map((card) => succeeds(activateCard(pool, keys, reference(card), act)));
    expect([await Promise.all([batch(), batch()]), await Promise.all(singles)].flat()).toContain(true);
    const { rows: sums } = await pool.query<{ cents: number }>(
      "select sum(balance_cents)::int as cents from cards where batch_id = $1",
      [rows[0]?.id],
    );
    expect(sums[0]?.cents).toBe(200 * 100);
  });

  test("a chain of concurrent reissues, cancels and adjustments leaves every cent on the last card", async () => {
    const first = await issue(5000);
    const tokens: string[] = [];
    for (let index = 0; index < 6; index++) tokens.push((await devalue(first, 100)).body.cancel_token);
    const second = testCard((await reissueCard(pool, keys, reference(first), undefined, act)).made);
    const [third] = await Promise.all([
      reissueCard(pool, keys, reference(second), undefined, act),
      ...tokens.map(cancel),
      adjust(second, 50),
    ]);
    const last = testCard(third.made);
    expect([await balance(first), await balance(second)]).toEqual([0, 0]);
    expect([5000, 5050]).toContain(await balance(last));
  });
});
