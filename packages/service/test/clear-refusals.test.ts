import pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import type { TestCard, TestCompany } from "../../../test/support/service.js";
import { serviceForFile } from "./service-for-file.js";
import { call, credentials, onCard } from "./wire.js";

const service = serviceForFile();
let company: TestCompany;
let card: TestCard;
let providerId: number;

beforeAll(async () => {
  company = await service.createCompany();
  card = await service.issueCard({ balanceCents: 5000 });
  providerId = (await service.createProvider()).id;
});

const concept = (register: string) =>
  call(
    service.url,
    "createEventConcept",
    {},
    {
      encoding: "form",
      raw: `apikey=${company.apiKey}&representative=J&register=${register}&eventprovider_id=${providerId}`,
    },
  );

describe("a text parameter", () => {
  test.each(["Caf%E9", "%C3", "%80abc", "%ED%A0%80"])(
    "is refused by name if a form sends %s, which is not UTF-8",
    async (register) => {
      const { status, body } = await concept(register);
      expect([status, body.errors]).toEqual([422, [{ path: "register", message: "must be UTF-8 text" }]]);
    },
  );

  test.each([
    ["Caf%C3%A9+%26+bar", "Café & bar"],
    ["50%", "50%"],
    ["%zz%EF%BF%BD", "%zz\ufffd"],
    ["%F0%9F%8E%81", "🎁"],
  ])("sent as %s is stored as %s", async (register, stored) => {
    expect((await concept(register)).body).toMatchObject({ register: stored });
  });

  test("is refused by name if JSON sends half a surrogate pair", async () => {
    const wire = { apikey: company.apiKey, representative: "J", eventprovider_id: providerId };
    const half = await call(service.url, "createEventConcept", { ...wire, register: "a\ud800b" });
    expect([half.status, half.body.errors]).toEqual([422, [{ path: "register", message: "must be UTF-8 text" }]]);
    const whole = await call(service.url, "createEventConcept", { ...wire, register: "🎁" });
    expect([whole.status, whole.body.register]).toEqual([200, "🎁"]);
  });
});

describe("a 422 names the invalid fields", () => {
  const WRONG = { error: "Required fields are missing or invalid." };

  test.each(["form", "json"] as const)("of devalue and balance, in addition to `required` (%s)", async (encoding) => {
    const wire = { ...onCard(company, card), pin: "", company_id: "seven" };
    const devalue = await call(service.url, "devalue", { ...wire, amount: 0 }, { encoding });
    expect([devalue.status, devalue.body]).toEqual([
      422,
      {
        success: false,
        ...WRONG,
        required: ["cardnumber", "pin", "amount", "apikey", "company_id"],
        errors: [
          { path: "company_id", message: "must be a whole number" },
          { path: "pin", message: "must not be empty" },
          { path: "amount", message: "must be from 1 to 100000000 cents" },
        ],
      },
    ]);
    const balance = await call(service.url, "balance", wire, { encoding });
    expect(balance.body.errors.map(({ path }: { path: string }) => path)).toEqual(["company_id", "pin"]);
  });

  test("but lists a missing field only in `required`", async () => {
    const { body } = await call(service.url, "devalue", { ...credentials(company), amount: "1.50" });
    expect(body.errors).toEqual([{ path: "amount", message: "must be a whole number" }]);
    expect(body.required).toContain("pin");
  });
});

test("a form of more than 1,000 fields is refused; below that, unknown fields are ignored", async () => {
  const form = new URLSearchParams(onCard(company, card) as never).toString();
  const balance = (fields: number) =>
    call(service.url, "balance", {}, { encoding: "form", raw: `${form}${"&a=%FF".repeat(fields - 4)}` });
  expect((await balance(1000)).status).toBe(200);
  const { status, body } = await balance(1001);
  expect([status, body.error]).toEqual([400, "The request body cannot be read."]);
});

test("a line break after a card number, PIN or API key is reported, and does not count as a wrong guess", async () => {
  const message = "must not end with a line break";
  const wire = onCard(company, card);
  for (let guess = 0; guess < 12; guess++) {
    const { status, body } = await call(service.url, "balance", { ...wire, pin: `${card.pin}\n` });
    expect([status, body.errors]).toEqual([422, [{ path: "pin", message }]]);
  }
  for (const [field, ending] of [
    ["cardnumber", "\r\n"],
    ["apikey", "\n"],
  ] as const) {
    const withLineBreak = { ...wire, [field]: `${wire[field]}${ending}`, amount: 1 };
    const { status, body } = await call(service.url, "devalue", withLineBreak);
    expect([status, body.errors]).toEqual([422, [{ path: field, message }]]);
  }
  expect((await call(service.url, "balance", wire)).status).toBe(200);
  const db = new pg.Client({ connectionString: service.databaseUrl });
  await db.connect();
  expect((await db.query("select from failed_attempts")).rowCount).toBe(0);
  await db.end();
});

test("a multipart form is refused with an explanation of how to send a form, also from PHP", async () => {
  const form = new FormData();
  for (const [name, value] of Object.entries(onCard(company, card))) form.set(name, String(value));
  const answer = await fetch(`${service.url}/api/endpoint/v1/balance`, { method: "POST", body: form });
  const { error } = (await answer.json()) as { error: string };
  expect([answer.status, error]).toEqual([415, expect.stringContaining("http_build_query($fields)")]);
});
