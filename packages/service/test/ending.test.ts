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

// If a devalue's caller gives up and resolves it by its key, the ledger stays exact whatever happened.

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

/** Issues a new card, and notes the last ledger row before it. */
async function nextCard(): Promise<void> {
  card = await service.issueCard({ balanceCents: 8000 });
  keys += 1;
  firstRow = (await db.query("select max(id) as id from ledger")).rows[0].id;
}

const headers = () => ({ "Idempotency-Key": `ending-${keys}` });
const devalue = () => call(proxy.url, "devalue", { ...onCard(company, card), amount: 700 }, { headers: headers() });
/** The time limit of the devalue's caller. */
const devalueAndGiveUp = () =>
  Promise.race([
    devalue().then(
      () => "answered",
      () => "connection lost",
    ),
    new Promise<string>((resolve) => setTimeout(() => resolve("timed out"), 300)),
  ]);
const endTwenty = () =>
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
  const ended = await endTwenty();
  expect(statuses(ended)).toEqual({ 404: TWENTY });
  for (const answer of ended) expect(answer.headers.get("idempotency-key")).toBe(headers()["Idempotency-Key"]);
  await proxy.release();
  expect((await devalue()).status).toBe(409);
  expect(await movements()).toEqual(["issue 8000"]);
});

test("a devalue whose answer is lost is reversed once by twenty concurrent resolutions", async () => {
  proxy.set("devalue", "cut-after", 1);
  expect(await devalueAndGiveUp()).toBe("connection lost");
  expect(statuses(await endTwenty())).toEqual({ 200: 1, 409: TWENTY - 1 });
  expect(await movements()).toEqual(["issue 8000", "devalue -700", "cancel 700"]);
  // The stored answer is still replayed, with a used token.
  const replay = await devalue();
  expect([replay.status, replay.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
  const token = { ...credentials(company), cancel_token: replay.body.cancel_token };
  expect((await call(service.url, "cancelDevalue", token)).status).toBe(409);
});

test("twenty concurrent resolutions change nothing after a cancel by token", async () => {
  const { body } = await devalue();
  await call(service.url, "cancelDevalue", { ...credentials(company), cancel_token: body.cancel_token });
  expect(statuses(await endTwenty())).toEqual({ 409: TWENTY });
  expect(await movements()).toEqual(["issue 8000", "devalue -700", "cancel 700"]);
});

test("a resolution that races with the devalue reverses it once, or prevents it", async () => {
  for (let round = 0; round < 10; round++) {
    if (round > 0) await nextCard();
    proxy.set("devalue", "hold", 1);
    const late = devalue();
    while (proxy.seen.at(-1)?.idempotencyKey !== headers()["Idempotency-Key"]) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const [first, second] = round % 2 ? [endTwenty, proxy.release] : [proxy.release, endTwenty];
    const results = [first(), second()];
    const ended = (await results[round % 2 ? 0 : 1]) as WireAnswer[];
    await Promise.all(results);
    const devalued = await late;
    const way = `${devalued.status} ${JSON.stringify(statuses(ended))}`;
    if (devalued.status === 409) {
      expect(statuses(ended)).toEqual({ 404: TWENTY });
      expect(await movements()).toEqual(["issue 8000"]);
    } else {
      expect(way).toBe(`200 ${JSON.stringify({ 200: 1, 409: TWENTY - 1 })}`);
      expect(await movements()).toEqual(["issue 8000", "devalue -700", "cancel 700"]);
    }
  }
});
