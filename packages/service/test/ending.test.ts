import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type FaultProxy, startFaultProxy } from "../../../test/support/fault-proxy.js";
import {
  startGiftcardService,
  type TestCard,
  type TestCompany,
  type TestService,
} from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { call, credentials, onCard, type WireAnswer } from "./wire.js";

// A devalue's caller gives up, and resolves the devalue by its key. The ledger must stay exact in every case.

const TWENTY = 20;
let service: TestService;
let proxy: FaultProxy;
let company: TestCompany;
let db: pg.Client;
let card: TestCard;
let keys = 0;
let firstRow: string;

beforeAll(async () => {
  service = await startGiftcardService({
    databaseUrl: await testDatabase(),
    args: ["--calls-per-minute", "0"],
  });
  proxy = await startFaultProxy(service.url);
  company = await service.createCompany();
  db = new pg.Client({ connectionString: service.databaseUrl });
  await db.connect();
});

afterAll(async () => {
  await db.end();
  await proxy.stop();
  await service.stop();
});

beforeEach(nextCard);

/** Issues a new card and chooses a new key. Remembers the last ledger row before the card. */
async function nextCard(): Promise<void> {
  card = await service.issueCard({ balanceCents: 8000 });
  keys += 1;
  firstRow = (await db.query("select max(id) as id from ledger")).rows[0].id;
}

const headers = () => ({ "Idempotency-Key": `ending-${keys}` });
const devalue = () => call(proxy.url, "devalue", { ...onCard(company, card), amount: 700 }, { headers: headers() });
/** Devalues, and gives up after 300 ms. Returns the result that the caller sees. */
const devalueAndGiveUp = () =>
  Promise.race([
    devalue().then(
      () => "answered",
      () => "connection lost",
    ),
    new Promise<string>((resolve) => setTimeout(() => resolve("timed out"), 300)),
  ]);
const resolveTwentyTimes = () =>
  Promise.all(
    Array.from({ length: TWENTY }, () =>
      call(service.url, "cancelDevalue", credentials(company), { headers: headers() }),
    ),
  );
const statuses = (answers: WireAnswer[]) =>
  Object.fromEntries(
    [...Map.groupBy(answers, (answer) => answer.status)].map(([status, those]) => [status, those.length]),
  );
const movements = async () => {
  const { rows } = await db.query(
    `select l.kind || ' ' || l.amount_cents as movement from ledger l join cards c on c.id = l.card_id
       where c.last_four = $1 and l.id >= $2 order by l.id`,
    [card.cardNumber.slice(-4), firstRow],
  );
  return rows.map(({ movement }) => movement);
};

test("a devalue that is delayed beyond its timeout is resolved, and takes nothing when it arrives", async () => {
  proxy.set("devalue", "hold", 1);
  expect(await devalueAndGiveUp()).toBe("timed out");
  const ended = await resolveTwentyTimes();
  expect(statuses(ended)).toEqual({ 404: TWENTY });
  for (const answer of ended) expect(answer.headers.get("idempotency-key")).toBe(headers()["Idempotency-Key"]);
  await proxy.release();
  expect((await devalue()).status).toBe(409);
  expect(await movements()).toEqual(["issue 8000"]);
});

test("a devalue whose answer is lost is reversed once by twenty concurrent resolutions", async () => {
  proxy.set("devalue", "cut-after", 1);
  expect(await devalueAndGiveUp()).toBe("connection lost");
  expect(statuses(await resolveTwentyTimes())).toEqual({ 200: 1, 409: TWENTY - 1 });
  expect(await movements()).toEqual(["issue 8000", "devalue -700", "cancel 700"]);
  // The stored answer is still replayed, but its token is used.
  const replay = await devalue();
  expect([replay.status, replay.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
  const token = { ...credentials(company), cancel_token: replay.body.cancel_token };
  expect((await call(service.url, "cancelDevalue", token)).status).toBe(409);
});

test("twenty concurrent resolutions change nothing after a cancel by token", async () => {
  const { body } = await devalue();
  await call(service.url, "cancelDevalue", { ...credentials(company), cancel_token: body.cancel_token });
  expect(statuses(await resolveTwentyTimes())).toEqual({ 409: TWENTY });
  expect(await movements()).toEqual(["issue 8000", "devalue -700", "cancel 700"]);
});

test("a resolution that races with the devalue either reverses it once or prevents it", async () => {
  for (let round = 0; round < 10; round++) {
    if (round > 0) await nextCard();
    proxy.set("devalue", "hold", 1);
    const late = devalue();
    while (proxy.seen.at(-1)?.idempotencyKey !== headers()["Idempotency-Key"]) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const [first, second] = round % 2 ? [resolveTwentyTimes, proxy.release] : [proxy.release, resolveTwentyTimes];
    const results = [first(), second()];
    const ended = (await results[round % 2 ? 0 : 1]) as WireAnswer[];
    await Promise.all(results);
    const devalued = await late;
    const outcome = `${devalued.status} ${JSON.stringify(statuses(ended))}`;
    if (devalued.status === 409) {
      expect(statuses(ended)).toEqual({ 404: TWENTY });
      expect(await movements()).toEqual(["issue 8000"]);
    } else {
      expect(outcome).toBe(`200 ${JSON.stringify({ 200: 1, 409: TWENTY - 1 })}`);
      expect(await movements()).toEqual(["issue 8000", "devalue -700", "cancel 700"]);
    }
  }
});
