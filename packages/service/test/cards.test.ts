import { beforeAll, describe, expect, test } from "vitest";
import type { TestCompany } from "../../../test/support/service.js";
import { databaseForFile, sharedServiceForFile } from "./service-for-file.js";
import { basic, call, credentials, onCard } from "./wire.js";

const service = sharedServiceForFile();
const db = databaseForFile(service);
let company: TestCompany;

beforeAll(async () => {
  company = await service.createCompany();
});

const today = async (offsetDays: number) => {
  const { rows } = await db.query("select ((now() at time zone 'Europe/Amsterdam')::date + $1::int)::text as day", [
    offsetDays,
  ]);
  return rows[0].day as string;
};

describe("devalue", () => {
  test.each([
    { balanceCents: 7500, amount: 7498, deducted: 5000, remaining: 2498, by: "the limit" },
    { balanceCents: 1234, amount: 4000, deducted: 1234, remaining: 2766, by: "the balance" },
    { balanceCents: 7500, amount: 4999, deducted: 4999, remaining: 0, by: "the amount" },
    { balanceCents: 1, amount: 100_000_000, deducted: 1, remaining: 99_999_999, by: "a balance of one cent" },
    { balanceCents: 5000, amount: 5000, deducted: 5000, remaining: 0, by: "all three equally" },
  ])("deducts $deducted of $amount, limited by $by", async ({ balanceCents, amount, deducted, remaining }) => {
    const card = await service.issueCard({ balanceCents });
    const { body } = await call(service.url, "devalue", { ...onCard(company, card), amount });
    expect(body).toEqual({
      success: true,
      amount_deducted: deducted,
      remaining_to_pay: remaining,
      cancel_token: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const after = await call(service.url, "balance", onCard(company, card));
    expect(after.body).toMatchObject({
      balance: balanceCents - deducted,
      currency: "EUR",
      expiry_date: card.expiryDate,
    });
    expect(after.body.card_status).toBe(balanceCents === deducted ? "No balance" : "Active");
  });

  test.each([0, -1, 1.5, "1.5", "", "12 ", "1e2", null, true, 100_000_001, "9".repeat(30), [5], { cents: 5 }])(
    "refuses an amount of %j, and takes nothing",
    async (amount) => {
      const card = await service.issueCard({ balanceCents: 500 });
      const answer = await call(service.url, "devalue", { ...onCard(company, card), amount }, { encoding: "json" });
      expect(answer.status).toBe(422);
      expect(answer.body.required).toEqual(["cardnumber", "pin", "amount", "apikey", "company_id"]);
      expect((await call(service.url, "balance", onCard(company, card))).body.balance).toBe(500);
    },
  );

  test("accepts integers as decimal strings in JSON, as in a form", async () => {
    const card = await service.issueCard({ balanceCents: 500 });
    const wire = { ...onCard(company, card), company_id: String(company.companyId), amount: "200" };
    expect((await call(service.url, "devalue", wire, { encoding: "json" })).body.amount_deducted).toBe(200);
  });

  test.each(["cardnumber", "pin"])(
    "refuses a %s that is a number in JSON, which would lose leading zeros",
    async (field) => {
      const card = await service.issueCard({ balanceCents: 500 });
      const wire = { ...onCard(company, card), amount: 1, [field]: 123456 };
      expect((await call(service.url, "devalue", wire, { encoding: "json" })).status).toBe(422);
    },
  );

  test("gives a wrong PIN, an unknown number and a malformed number the same answer", async () => {
    const card = await service.issueCard({ balanceCents: 500 });
    const pairs = [
      { cardnumber: card.cardNumber, pin: card.pin === "000000" ? "000001" : "000000" },
      { cardnumber: "9528000000000000000", pin: card.pin },
      { cardnumber: "zéro\u0000", pin: "'; drop table cards; --" },
    ];
    for (const pair of pairs) {
      const answer = await call(
        service.url,
        "devalue",
        { ...credentials(company), ...pair, amount: 1 },
        { encoding: "json" },
      );
      expect([answer.status, answer.body]).toEqual([
        400,
        { success: false, error: "The card number or PIN is not valid." },
      ]);
    }
  });
});

describe("the card's status", () => {
  test("is Active on the expiry date, and Expired on the next day", async () => {
    const valid = await service.issueCard({ balanceCents: 500, expires: await today(0) });
    const expired = await service.issueCard({ balanceCents: 500, expires: await today(-1) });
    expect((await call(service.url, "balance", onCard(company, valid))).body.card_status).toBe("Active");
    expect((await call(service.url, "balance", onCard(company, expired))).body.card_status).toBe("Expired");
    expect((await call(service.url, "devalue", { ...onCard(company, valid), amount: 1 })).status).toBe(200);
  });

  test("is Blocked rather than Expired, and Expired rather than No balance", async () => {
    const card = await service.issueCard({ balanceCents: 0, expires: "2020-01-01" });
    const status = async () => (await call(service.url, "balance", onCard(company, card))).body.card_status;
    expect(await status()).toBe("Expired");
    await service.command("card", "block", card.cardNumber);
    expect(await status()).toBe("Blocked");
  });
});

describe("canceldevalue", () => {
  test("refunds exactly the deducted amount once, even if the card is blocked by then", async () => {
    const card = await service.issueCard({ balanceCents: 7500 });
    const { body } = await call(service.url, "devalue", { ...onCard(company, card), amount: 7498 });
    await service.command("card", "block", card.cardNumber);
    const wire = { ...credentials(company), cancel_token: body.cancel_token };
    const first = await call(service.url, "cancelDevalue", wire);
    expect(first.body).toEqual({ success: true, amount_refunded: 5000, card_new_balance: 7500 });
    expect((await call(service.url, "cancelDevalue", wire)).status).toBe(409);
    expect((await call(service.url, "balance", onCard(company, card))).body.balance).toBe(7500);
  });

  test("accepts a token only from the company that devalued", async () => {
    const other = await service.createCompany();
    const card = await service.issueCard({ balanceCents: 500 });
    const { body } = await call(service.url, "devalue", { ...onCard(company, card), amount: 500 });
    const answer = await call(service.url, "cancelDevalue", {
      ...credentials(other),
      cancel_token: body.cancel_token,
    });
    expect(answer.status).toBe(404);
    expect((await call(service.url, "balance", onCard(company, card))).body.balance).toBe(0);
  });

  test("answers 422 if it gets neither a token nor a key", async () => {
    const answer = await call(service.url, "cancelDevalue", credentials(company));
    expect([answer.status, answer.body.success]).toEqual([422, false]);
    expect(answer.headers.get("idempotency-key")).toBeNull();
  });
});

describe("authenticate", () => {
  test("returns a new key of 60 letters and digits each time, and all of them work", async () => {
    const keys = new Set<string>();
    for (let round = 0; round < 2; round++) {
      const { body } = await call(service.url, "authenticate", {}, { headers: basic(company.email, company.password) });
      expect(body.apikey).toMatch(/^[A-Za-z0-9]{60}$/);
      expect((await call(service.url, "listEvents", { apikey: body.apikey })).status).toBe(200);
      keys.add(body.apikey);
    }
    expect(keys.size).toBe(2);
  });

  test.each([
    {},
    { Authorization: "Bearer abc" },
    { Authorization: "Basic !!!" },
    { Authorization: `Basic ${Buffer.from("no colon").toString("base64")}` },
    { Authorization: `Basic ${Buffer.from([0xff, 0x3a, 0xff]).toString("base64")}` },
    { Authorization: `Basic ${Buffer.from("a\0b:c").toString("base64")}` },
  ])("answers %j with 401 and the login scheme", async (headers) => {
    const answer = await call(service.url, "authenticate", {}, { headers: headers as Record<string, string> });
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toBe('Basic charset="UTF-8"');
  });

  test("decodes the credentials as UTF-8, and splits them at the first colon", async () => {
    const email = "zoë@example.nl";
    const password = "één:twee:drie";
    await service.command("company", "create", "--name", "Zoë", "--email", email, "--password", password);
    expect((await call(service.url, "authenticate", {}, { headers: basic(email, password) })).status).toBe(200);
    expect((await call(service.url, "authenticate", {}, { headers: basic(email, "één") })).status).toBe(401);
  });
});

describe("a request body", () => {
  test("far above the limit is refused, and always gets an answer", async () => {
    for (let round = 0; round < 10; round++) {
      const answer = await call(service.url, "devalue", {}, { raw: new Uint8Array(8 * 1024 * 1024) });
      expect([answer.status, answer.body.success]).toEqual([413, false]);
    }
  });

  test.each([
    ["[]", 422],
    ["null", 422],
    ['"text"', 422],
    ["", 400],
    ['{"apikey":', 400],
    [new Uint8Array([0x22, 0xff, 0x22]), 400],
    ['{"__proto__":{"amount":1}}', 422],
  ])("of JSON %j gets %i", async (raw, status) => {
    const answer = await call(service.url, "devalue", {}, { encoding: "json", raw });
    expect([answer.status, answer.body.success]).toEqual([status, false]);
  });

  test("without a content type, in UTF-16 or with compression gets 415, and a missing one gets 422", async () => {
    const untyped = await call(
      service.url,
      "devalue",
      {},
      { raw: new Uint8Array([1]), headers: { "Content-Type": "" } },
    );
    expect(untyped.status).toBe(415);
    const compressed = await call(service.url, "devalue", { amount: 1 }, { headers: { "Content-Encoding": "gzip" } });
    expect(compressed.status).toBe(415);
    for (const charset of ["utf-16", '"UTF-16LE"', "utf-32"]) {
      const headers = { "Content-Type": `application/json; charset=${charset}` };
      expect((await call(service.url, "devalue", { amount: 1 }, { encoding: "json", headers })).status).toBe(415);
    }
    // Some callers name a charset whose text is the same in UTF-8, as long as it is ASCII.
    for (const charset of ["utf-8", "ISO-8859-1"]) {
      const headers = { "Content-Type": `application/json; charset=${charset}` };
      expect((await call(service.url, "devalue", { amount: 1 }, { encoding: "json", headers })).status).toBe(422);
    }
    const response = await fetch(`${service.url}/api/endpoint/v1/devalue`, { method: "POST" });
    expect(response.status).toBe(422);
  });
});
