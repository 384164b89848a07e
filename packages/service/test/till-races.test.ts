import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { type Cents, Secret } from "@giftcard-pay/client/contract";
import { type Keyring, OperatorError, openKeyring, openPool } from "@giftcard-pay/service";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGiftcardService, type TestCompany, type TestService } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { changeCards } from "../dist/store/bulk-change.js";
import { activating } from "../dist/store/card-activate.js";
import { adjusting, blocking, type CardChange, changeCard, extending } from "../dist/store/card-changes.js";
import { writingOff } from "../dist/store/card-expiry.js";
import { issueCards } from "../dist/store/card-issue.js";
import { reissuing } from "../dist/store/card-reissue.js";
import { checkLedger } from "../dist/store/ledger-check.js";
import { callTill, createTill, type TestTill } from "./till-calls.js";
import { call, credentials, onCard } from "./wire.js";

// A till loads a card while its holder pays, and while an operator changes it.
const ROUNDS = 20;
const act = { operator: "races", osUser: "races", reason: "a race" };
const PAST = "2020-01-01";

interface RaceCard {
  readonly id: number;
  readonly cardNumber: string;
  readonly pin: string;
  readonly expiryDate: string;
}

describe.each(["read committed", "serializable"])("at %s", (isolation) => {
  let folder: string;
  let service: TestService;
  let company: TestCompany;
  let till: TestTill;
  let pool: pg.Pool;
  let keys: Keyring;

  beforeAll(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-till-races-"));
    const databaseUrl = await testDatabase();
    const db = new pg.Client({ connectionString: databaseUrl });
    await db.connect();
    const name = new URL(databaseUrl).pathname.slice(1);
    await db.query(`alter database ${name} set default_transaction_isolation = '${isolation}'`);
    await db.end();
    const secretsFile = path.join(folder, "secrets.json");
    service = await startGiftcardService({ databaseUrl, secretsFile, args: ["--calls-per-minute", "0"] });
    company = await service.createCompany();
    till = await createTill(service, company, "--per-day", "100000000");
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

  const issue = async (balanceCents: number, { isInactive = false, count = 1, expiryDate = "2099-12-31" } = {}) =>
    (await issueCards(pool, keys, { count, balanceCents: balanceCents as Cents, expiryDate, isInactive }, act)).map(
      ({ id, cardNumber, pin }): RaceCard => ({ id, cardNumber: cardNumber.reveal(), pin: pin.reveal(), expiryDate }),
    );
  const issueOne = async (...order: Parameters<typeof issue>) => (await issue(...order))[0] as RaceCard;
  const topUp = (card: RaceCard, amount: number) =>
    callTill(service.url, "top-up", { apikey: till.apikey, cardnumber: card.cardNumber, amount });
  const activate = (card: RaceCard) =>
    callTill(service.url, "activate", { apikey: till.apikey, cardnumber: card.cardNumber });
  const devalue = (card: RaceCard, amount: number) =>
    call(service.url, "devalue", { ...onCard(company, card), amount });
  const cancel = (cancel_token: string) =>
    call(service.url, "cancelDevalue", { ...credentials(company), cancel_token });
  const balance = async (id: number): Promise<number> =>
    (await pool.query("select balance_cents as cents from cards where id = $1", [id])).rows[0].cents;
  const change = (card: RaceCard, change: CardChange) =>
    changeCard(pool, keys, { cardNumber: new Secret(card.cardNumber) }, change, act).then(
      (changed) => changed,
      (error) => {
        if (error instanceof OperatorError && error.exitCode === 4) return undefined;
        throw error;
      },
    );
  const how = { isDryRun: false, skipsFailed: false, onProgress: () => {} };
  const countDone = (answers: { status: number }[]) => answers.filter(({ status }) => status === 200).length;

  test("top-ups, devalues and cancels of one card add up", async () => {
    const card = await issueOne(5000);
    const tokens = [];
    for (let index = 0; index < 5; index++) tokens.push((await devalue(card, 200)).body.cancel_token);
    const [loads, paid, canceled] = await Promise.all([
      Promise.all(Array.from({ length: 30 }, () => topUp(card, 70))),
      Promise.all(Array.from({ length: 20 }, () => devalue(card, 30))),
      Promise.all([...tokens, ...tokens].map(cancel)),
    ]);
    expect([countDone(loads), countDone(paid), countDone(canceled)]).toEqual([30, 20, 5]);
    expect(await balance(card.id)).toBe(5000 + 30 * 70 - 20 * 30);
  });

  test("activations by tills and by an operator credit a card once", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const card = await issueOne(700, { isInactive: true });
      const works = [() => activate(card), () => change(card, activating), () => activate(card)];
      const done = await Promise.all((round % 2 ? works : works.reverse()).map((work) => work()));
      const credited = done.filter((one) => one !== undefined && (!("status" in one) || one.status === 200));
      expect([credited.length, await balance(card.id)]).toEqual([1, 700]);
    }
  });

  test("each card of a batch is credited once if tills and an operator activate all of them", async () => {
    const cards = await issue(100, { isInactive: true, count: 60 });
    const { rows } = await pool.query("select batch_id as id from cards where id = $1", [cards[0]?.id]);
    await Promise.all([
      changeCards(pool, keys, { selection: { batchId: rows[0].id }, change: activating, ...how }, act),
      ...cards.map(activate),
    ]);
    const sums = await pool.query(
      "select sum(balance_cents) as cents, min(balance_cents) as least from cards where batch_id = $1",
      [rows[0].id],
    );
    expect(sums.rows[0]).toEqual({ cents: expect.anything(), least: 100 });
    expect(Number(sums.rows[0].cents)).toBe(6000);
  });

  test("a top-up of a card that is blocked meanwhile is done or refused, never half", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const card = await issueOne(500);
      const [first, , second] = await Promise.all([topUp(card, 300), change(card, blocking(true)), topUp(card, 300)]);
      expect([200, 400]).toContain(first.status);
      expect(await balance(card.id)).toBe(500 + 300 * countDone([first, second]));
      expect((await topUp(card, 300)).status).toBe(400);
    }
  });

  test("a reissue moves the money of every top-up that was answered", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const card = await issueOne(1000);
      const sink = { begin: async () => {}, take: async () => {}, end: async () => {} };
      const works: (() => Promise<unknown>)[] = Array.from({ length: 6 }, () => () => topUp(card, 50));
      works.splice(round % 7, 0, () => change(card, reissuing(keys, undefined, sink)));
      const done = await Promise.all(works.map((work) => work()));
      const loads = countDone(done.filter((one): one is { status: number } => Object(one).status !== undefined));
      const { rows } = await pool.query("select reissued_as as id from cards where id = $1", [card.id]);
      expect([await balance(card.id), await balance(rows[0].id)]).toEqual([0, 1000 + 50 * loads]);
    }
  });

  test("a write-off never takes the money of a top-up, also if the card is extended meanwhile", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const card = await issueOne(500, { expiryDate: PAST });
      const works = [
        () => change(card, extending("2099-12-31")),
        () => topUp(card, 300),
        () =>
          changeCards(
            pool,
            keys,
            { selection: { expiredBefore: "2020-02-01" }, change: writingOff("2020-02-01"), ...how },
            act,
          ),
        () => topUp(card, 300),
      ];
      const done = await Promise.all((round % 2 ? works : works.reverse()).map((work) => work()));
      const loads = countDone(
        done.filter((one): one is Awaited<ReturnType<typeof topUp>> => Object(one).status !== undefined),
      );
      const { rows } = await pool.query(
        "select count(*)::int as n from ledger where card_id = $1 and kind = 'expire'",
        [card.id],
      );
      expect(await balance(card.id)).toBe((rows[0].n ? 0 : 500) + 300 * loads);
    }
  });

  test("bulk adjustments and top-ups of the same cards do not deadlock", async () => {
    const cards = await issue(1000, { count: 40 });
    const { rows } = await pool.query("select batch_id as id from cards where id = $1", [cards[0]?.id]);
    const adjust = () =>
      changeCards(pool, keys, { selection: { batchId: rows[0].id }, change: adjusting(-10 as Cents), ...how }, act);
    const [first, second, ...loads] = await Promise.all([adjust(), adjust(), ...cards.map((card) => topUp(card, 25))]);
    expect([first.isDone, second.isDone, countDone(loads)]).toEqual([true, true, 40]);
    const sums = await pool.query("select sum(balance_cents)::int as cents from cards where batch_id = $1", [
      rows[0].id,
    ]);
    expect(sums.rows[0].cents).toBe(40 * 1005);
  });
});
