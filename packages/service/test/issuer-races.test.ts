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
import { changeCards } from "../dist/store/bulk-change.js";
import { activating, adjusting, blocking, type CardChange, changeCard } from "../dist/store/card-changes.js";
import { type IssuedCard, issueCards } from "../dist/store/card-issue.js";
import { type ReissuedCard, reissuing } from "../dist/store/card-reissue.js";
import { checkLedger } from "../dist/store/ledger-check.js";
import { call, credentials, onCard } from "./wire.js";

// An operator changes a card while its holder pays. The tests call the commands' functions directly, next to a running
// service.
const ROUNDS = 25;
const act = { operator: "races", osUser: "races", reason: "a race" };

for (const isolation of ["read committed", "serializable"])
  describe(`at ${isolation}`, { tags: isolation === "serializable" ? ["long"] : [] }, () => {
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
    const change = (card: TestCard, change: CardChange) => changeCard(pool, keys, reference(card), change, act);
    const adjust = (card: TestCard, by: number) => succeeds(change(card, adjusting(by as Cents)));
    const reissueCard = async (card: TestCard): Promise<TestCard> => {
      let made: readonly ReissuedCard[] = [];
      const sink = {
        begin: async () => void (made = []),
        take: async (cards: readonly ReissuedCard[]) => void (made = cards),
        end: async () => {},
      };
      await change(card, reissuing(keys, undefined, sink));
      return testCard(made[0] as ReissuedCard);
    };
    /** Changes the cards of a batch. Returns false if any card's state forbids it. */
    const changeBatch = async (batchId: number, bulkChange: CardChange) => {
      const how = { isDryRun: false, skipsFailed: false, onProgress: () => {} };
      return (await changeCards(pool, keys, { selection: { batchId }, change: bulkChange, ...how }, act)).isDone;
    };
    const newestBatch = async (): Promise<number> =>
      (await pool.query("select max(id)::int as id from card_batches")).rows[0].id;

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
        const reissue = reissueCard(card);
        const answers = await Promise.all(Array.from({ length: 12 }, () => devalue(card, 100)));
        const made = await reissue;
        expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 400)).toEqual([]);
        const taken = answers.filter(({ status }) => status === 200).length * 100;
        expect([await balance(card), await balance(made)]).toEqual([0, 2000 - taken]);
      }
    });

    test("concurrent reissues of a card create one replacement", async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const card = await issue(500);
        const reissue = () => reissueCard(card);
        const done = await Promise.allSettled([reissue(), reissue(), reissue()]);
        const made = done.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
        expect(made).toHaveLength(1);
        expect(await balance(made[0] as TestCard)).toBe(500);
      }
    });

    test("a cancel that races with a reissue leaves the money on the new card, whichever comes first", async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const card = await issue(3000);
        const { cancel_token } = (await devalue(card, 1200)).body;
        const reissue = () => reissueCard(card);
        const works = [reissue, () => cancel(cancel_token), () => cancel(cancel_token)];
        const started = (round % 2 ? works : works.reverse()).map((work) => work());
        const done = await Promise.all(started);
        const statuses = done.flatMap((one) => ("status" in one ? [one.status] : []));
        expect(statuses.sort()).toEqual([200, 409]);
        const [made] = done.flatMap((one) => ("pin" in one ? [one] : []));
        expect([await balance(card), await balance(made as TestCard)]).toEqual([0, 3000]);
      }
    });

    test("concurrent activations credit a card once, and a concurrent devalue takes nothing before that", async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const card = await issue(700, true);
        const activate = () => succeeds(change(card, activating));
        const [first, paid, second, third] = await Promise.all([
          activate(),
          devalue(card, 700),
          activate(),
          activate(),
        ]);
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
      const batchId = await newestBatch();
      const batch = () => changeBatch(batchId, activating);
      const singles = cards.slice(0, 20).map((card) => succeeds(change(card, activating)));
      expect([await Promise.all([batch(), batch()]), await Promise.all(singles)].flat()).toContain(true);
      const { rows: sums } = await pool.query<{ cents: number }>(
        "select sum(balance_cents)::int as cents from cards where batch_id = $1",
        [batchId],
      );
      expect(sums[0]?.cents).toBe(200 * 100);
    });

    test("bulk changes of the same cards, devalues and cancels do not deadlock, and take no money twice", async () => {
      const order = { count: 150, balanceCents: 1000 as Cents, expiryDate: "2099-12-31" };
      const cards = (await issueCards(pool, keys, order, act)).map(testCard);
      const batchId = await newestBatch();
      const tokens = await Promise.all(cards.slice(0, 20).map((card) => devalue(card, 100)));
      const [first, second, ...paid] = await Promise.all([
        changeBatch(batchId, adjusting(-10 as Cents)),
        changeBatch(batchId, adjusting(-20 as Cents)),
        ...cards.slice(0, 60).map((card) => devalue(card, 50)),
        ...tokens.map(({ body }) => cancel(body.cancel_token)),
      ]);
      expect([first, second]).toEqual([true, true]);
      expect(new Set(paid.map((answer) => (typeof answer === "object" ? answer.status : answer)))).toEqual(
        new Set([200]),
      );
      expect(await changeBatch(batchId, blocking(true))).toBe(true);
      const { rows } = await pool.query("select sum(balance_cents)::int as cents from cards where batch_id = $1", [
        batchId,
      ]);
      expect(rows[0].cents).toBe(150 * 970 - 60 * 50);
    });

    test("a chain of concurrent reissues, cancels and adjustments leaves every cent on the last card", async () => {
      const first = await issue(5000);
      const tokens: string[] = [];
      for (let index = 0; index < 6; index++) tokens.push((await devalue(first, 100)).body.cancel_token);
      const second = await reissueCard(first);
      const [last] = await Promise.all([reissueCard(second), ...tokens.map(cancel), adjust(second, 50)]);
      expect([await balance(first), await balance(second)]).toEqual([0, 0]);
      expect([5000, 5050]).toContain(await balance(last));
    });
  });
