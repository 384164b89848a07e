import { beforeAll, describe, expect, test } from "vitest";
import type { TestCard, TestCompany } from "../../../test/support/service.js";
import { databaseForFile, sharedServiceForFile } from "./service-for-file.js";
import { call, credentials, eventInput, onCard } from "./wire.js";

const service = sharedServiceForFile();
const db = databaseForFile(service);
let company: TestCompany;
let keys = 0;

beforeAll(async () => {
  company = await service.createCompany();
});

const withKey = (key: string) => ({ headers: { "Idempotency-Key": key } });
const newKey = () => `key-${++keys}`;
const balanceOf = async (card: TestCard) => (await call(service.url, "balance", onCard(company, card))).body.balance;
const devalue = (card: TestCard, amount: number, key: string, as = company) =>
  call(service.url, "devalue", { ...onCard(as, card), amount }, withKey(key));
const resolveByKey = (key: string, as = company) => call(service.url, "cancelDevalue", credentials(as), withKey(key));
/** Makes all keys 24 hours older, so that their stored answers expire. */
const expireAnswers = () => db.query("update idempotency_keys set created_at = created_at - interval '24 hours'");

describe("a devalue with a key", () => {
  test("is replayed byte for byte and takes nothing, whatever the card's current state", async () => {
    const card = await service.issueCard({ balanceCents: 7500 });
    const key = newKey();
    const first = await devalue(card, 7498, key);
    expect(first.headers.get("idempotency-key")).toBe(key);
    expect(first.headers.get("idempotency-replayed")).toBeNull();
    await service.command("card", "block", card.cardNumber);
    const second = await devalue(card, 7498, key);
    expect([second.status, second.text]).toEqual([200, first.text]);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(second.headers.get("idempotency-key")).toBe(key);
    expect(await balanceOf(card)).toBe(2500);
  });

  test("is recognized for any content type and any API key of the company", async () => {
    const card = await service.issueCard({ balanceCents: 7500 });
    const key = newKey();
    const wire = { ...onCard(company, card), amount: 100 };
    const first = await call(service.url, "devalue", wire, { ...withKey(key), encoding: "json" });
    const second = await call(service.url, "devalue", wire, { ...withKey(key), encoding: "form" });
    expect(second.text).toBe(first.text);
    expect(await balanceOf(card)).toBe(7400);
  });

  test("gets 422 with other parameters, and takes nothing", async () => {
    const [card, another] = [
      await service.issueCard({ balanceCents: 900 }),
      await service.issueCard({ balanceCents: 900 }),
    ];
    const key = newKey();
    await devalue(card, 100, key);
    for (const answer of [await devalue(card, 101, key), await devalue(another, 100, key)]) {
      expect([answer.status, answer.body.success, answer.body.required]).toEqual([422, false, undefined]);
      expect(answer.headers.get("idempotency-key")).toBe(key);
    }
    expect([await balanceOf(card), await balanceOf(another)]).toEqual([800, 900]);
  });

  test("is independent of another company's key", async () => {
    const other = await service.createCompany();
    const card = await service.issueCard({ balanceCents: 900 });
    const key = newKey();
    await devalue(card, 100, key);
    const answer = await devalue(card, 100, key, other);
    expect([answer.status, answer.headers.get("idempotency-replayed")]).toEqual([200, null]);
    expect(await balanceOf(card)).toBe(700);
  });

  test("can be repeated with the same key after a refusal, and is processed anew", async () => {
    const card = await service.issueCard({ balanceCents: 900 });
    const key = newKey();
    await service.command("card", "block", card.cardNumber);
    const refused = await devalue(card, 100, key);
    expect([refused.status, refused.headers.get("idempotency-key")]).toEqual([400, key]);
    await service.command("card", "unblock", card.cardNumber);
    expect((await devalue(card, 250, key)).body.amount_deducted).toBe(250);
  });

  test("gets 422 after 24 hours instead of a new deduction, and can still be resolved", async () => {
    const card = await service.issueCard({ balanceCents: 900 });
    const key = newKey();
    await devalue(card, 100, key);
    await expireAnswers();
    expect((await devalue(card, 100, key)).status).toBe(422);
    expect(await balanceOf(card)).toBe(800);
    expect((await resolveByKey(key)).body).toEqual({
      success: true,
      amount_refunded: 100,
      card_new_balance: 900,
    });
  });

  test.each(["", " ", "a b", "é", "x".repeat(256)])("gets 422 and no echo if the key is %j", async (key) => {
    const card = await service.issueCard({ balanceCents: 900 });
    const bytes = Buffer.from(key, "utf8").toString("latin1");
    const answer = await devalue(card, 100, bytes);
    expect(answer.status).toBe(422);
    expect(answer.headers.get("idempotency-key")).toBeNull();
    expect(await balanceOf(card)).toBe(900);
  });

  test("differs from one without a key, whose answer echoes none", async () => {
    const card = await service.issueCard({ balanceCents: 900 });
    const answer = await call(service.url, "devalue", { ...onCard(company, card), amount: 1 });
    expect(answer.headers.get("idempotency-key")).toBeNull();
  });
});

describe("resolving a devalue by its key", () => {
  test("reverses a devalue once", async () => {
    const card = await service.issueCard({ balanceCents: 7500 });
    const key = newKey();
    const { body } = await devalue(card, 7498, key);
    const ended = await resolveByKey(key);
    expect([ended.status, ended.headers.get("idempotency-key")]).toEqual([200, key]);
    expect(ended.body).toEqual({ success: true, amount_refunded: 5000, card_new_balance: 7500 });
    expect((await resolveByKey(key)).status).toBe(409);
    const byToken = await call(service.url, "cancelDevalue", {
      ...credentials(company),
      cancel_token: body.cancel_token,
    });
    expect(byToken.status).toBe(409);
    expect(await balanceOf(card)).toBe(7500);
  });

  test("gets 409 for a devalue that was reversed by its token", async () => {
    const card = await service.issueCard({ balanceCents: 100 });
    const key = newKey();
    const { body } = await devalue(card, 100, key);
    await call(service.url, "cancelDevalue", { ...credentials(company), cancel_token: body.cancel_token });
    const ended = await resolveByKey(key);
    expect([ended.status, ended.headers.get("idempotency-key")]).toEqual([409, key]);
    expect(await balanceOf(card)).toBe(100);
  });

  test("closes an unused key for good: a later devalue takes nothing", async () => {
    const card = await service.issueCard({ balanceCents: 100 });
    const key = newKey();
    const ended = await resolveByKey(key);
    expect([ended.status, ended.headers.get("idempotency-key"), ended.body.success]).toEqual([404, key, false]);
    expect((await devalue(card, 100, key)).status).toBe(409);
    await expireAnswers();
    expect((await devalue(card, 100, key)).status).toBe(409);
    expect((await resolveByKey(key)).status).toBe(404);
    expect(await balanceOf(card)).toBe(100);
  });

  test("as another company closes only that company's key", async () => {
    const other = await service.createCompany();
    const card = await service.issueCard({ balanceCents: 100 });
    const key = newKey();
    await devalue(card, 60, key);
    expect((await resolveByKey(key, other)).status).toBe(404);
    expect(await balanceOf(card)).toBe(40);
  });
});

describe("newevent with a key", () => {
  test("creates events once and replays its answer byte for byte; with other events or after a day, the key gets 422", async () => {
    const provider = await service.createProvider();
    const wire = { apikey: company.apiKey, events: [eventInput(provider.id), eventInput(provider.id)] };
    const key = newKey();
    const first = await call(service.url, "createEvents", wire, withKey(key));
    const second = await call(service.url, "createEvents", wire, withKey(key));
    expect([second.status, second.text, second.headers.get("idempotency-replayed")]).toEqual([200, first.text, "true"]);
    const changed = { ...wire, events: [eventInput(provider.id)] };
    expect((await call(service.url, "createEvents", changed, withKey(key))).status).toBe(422);
    await expireAnswers();
    expect((await call(service.url, "createEvents", wire, withKey(key))).status).toBe(422);
    const { body } = await call(service.url, "listEvents", { apikey: company.apiKey });
    expect(body).toHaveLength(2);
  });

  test("can be repeated with the same key after a refusal", async () => {
    const provider = await service.createProvider();
    const key = newKey();
    const faulty = { apikey: company.apiKey, events: [eventInput(99_999)] };
    expect((await call(service.url, "createEvents", faulty, withKey(key))).status).toBe(422);
    const corrected = { apikey: company.apiKey, events: [eventInput(provider.id)] };
    expect((await call(service.url, "createEvents", corrected, withKey(key))).status).toBe(200);
  });
});
