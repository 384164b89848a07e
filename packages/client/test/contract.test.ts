import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  type Endpoint,
  type EndpointName,
  endpoints,
  errorDefinition,
  readErrorCode,
  Secret,
} from "../src/contract/index.js";

const text = (max: number) =>
  fc.string({ minLength: 1, maxLength: max }).filter((s) => s === s.trim() && !s.includes("\0"));
const number = fc.integer({ min: 1, max: 2_147_483_647 });
const date = fc
  .date({ min: new Date("2000-01-01"), max: new Date("2099-12-31"), noInvalidDate: true })
  .map((d) => d.toISOString().slice(0, 10));
const key = text(60);
const card = { cardnumber: text(64), pin: text(64), apikey: key, company_id: number };
const event = fc.record(
  {
    eventprovider_id: number.map(String),
    event_name: text(255),
    event_organiser: text(255),
    event_start_date: date,
    event_start_time: fc.constant("20:30:00"),
    ticket_link: fc.webUrl(),
    city: fc.option(text(255), { nil: undefined }),
    event_end_date: fc.oneof(date, fc.constant("")),
    activated: fc.constantFrom(0, 1),
    banner_url: fc.oneof(fc.webUrl(), fc.constant("")),
  },
  {
    requiredKeys: [
      "eventprovider_id",
      "event_name",
      "event_organiser",
      "event_start_date",
      "event_start_time",
      "ticket_link",
    ],
  },
);

/** A generator of encoded requests for each operation. */
const requests: Record<EndpointName, fc.Arbitrary<unknown>> = {
  authenticate: fc.constant({}),
  listEvents: fc.record({ apikey: key }),
  createEventConcept: fc.record({
    apikey: key,
    representative: text(150),
    register: text(150),
    eventprovider_id: number,
  }),
  listEventConcepts: fc.record({ apikey: key }),
  listProviders: fc.constant({}),
  createEvents: fc.record({ apikey: key, events: fc.array(event, { minLength: 1, maxLength: 5 }) }),
  balance: fc.record(card),
  devalue: fc.record({ ...card, amount: fc.integer({ min: 1, max: 100_000_000 }) }),
  cancelDevalue: fc.record({ apikey: key, company_id: number, cancel_token: text(255) }),
};

const rows = Object.entries(endpoints) as [EndpointName, Endpoint][];
const stripUndefined = (value: unknown) => JSON.parse(JSON.stringify(value));

describe.each(rows)("%s", (name, row) => {
  it("encodes a decoded request to the same request", () => {
    fc.assert(
      fc.property(requests[name], (wire) => {
        expect(z.encode(row.request, z.decode(row.request, wire as never))).toEqual(stripUndefined(wire));
      }),
      { numRuns: 50 },
    );
  });

  it("wraps every secret of a decoded request", () => {
    const wire = fc.sample(requests[name], 1)[0] as Record<string, unknown>;
    const read = z.decode(row.request, wire as never) as Record<string, unknown>;
    for (const field of ["apiKey", "cardNumber", "pin", "cancelToken"]) {
      if (read[field] !== undefined) expect(read[field]).toBeInstanceOf(Secret);
    }
  });

  it("lists errors that differ in what a response contains, or whose first one the client may assume", () => {
    for (const code of row.errors) {
      const { status, cardStatus, resultCode } = errorDefinition(code);
      const found = readErrorCode(row.errors, status, { card_status: cardStatus, result_code: resultCode });
      expect(errorDefinition(found as typeof code).status).toBe(status);
      if (cardStatus !== undefined || resultCode !== undefined) expect(found).toBe(code);
    }
  });
});

describe("fields", () => {
  const devalue = { apikey: "k", company_id: 1, cardnumber: "0012", pin: "0007", amount: 7498 };

  it("decode numbers from integers and decimal strings", () => {
    const read = z.decode(endpoints.devalue.request, { ...devalue, company_id: "1", amount: "7498" });
    expect(read).toMatchObject({ companyId: 1, amountCents: 7498 });
  });

  it.each([0, -1, 1.5, 100_000_001, "", " 5", "5.0", "1e3", "0x10", true, null, [5], "9".repeat(400)])(
    "refuse %j as an amount",
    (amount) => {
      expect(z.safeDecode(endpoints.devalue.request, { ...devalue, amount } as never).success).toBe(false);
    },
  );

  it.each([12, "", null, undefined, "1".repeat(65)])("refuse %j as a card number", (cardnumber) => {
    expect(z.safeDecode(endpoints.devalue.request, { ...devalue, cardnumber } as never).success).toBe(false);
  });

  it("keep leading zeros", () => {
    const read = z.decode(endpoints.devalue.request, devalue);
    expect([read.cardNumber.reveal(), read.pin.reveal()]).toEqual(["0012", "0007"]);
  });

  it("report every fault with the API's path", () => {
    const read = z.safeDecode(endpoints.createEvents.request, {
      apikey: "k",
      events: [{ eventprovider_id: "x" }],
    } as never);
    const paths = read.error?.issues.map((issue) => issue.path.join("."));
    expect(paths).toContain("events.0.eventprovider_id");
    expect(paths).toContain("events.0.event_name");
  });
});

describe("readErrorCode", () => {
  const { balance, devalue } = endpoints;

  it("assumes a wrong card number or PIN if a devalue's 400 has no details, as the interface defines", () => {
    expect(readErrorCode(devalue.errors, 400, {})).toBe("invalid_card");
  });

  it.each([
    ["Blocked", "card_blocked"],
    ["blocked", "card_blocked"],
    ["Expired", "card_expired"],
    ["No balance", "card_no_balance"],
    ["Suspended", "card_not_active"],
    [null, "invalid_card"],
  ])("derives from card_status %s the code %s", (card_status, code) => {
    expect(readErrorCode(devalue.errors, 400, { card_status })).toBe(code);
  });

  it("derives the code from a balance's result_code, and assumes a wrong card number or PIN if it is unknown", () => {
    expect(readErrorCode(balance.errors, 400, { result_code: 5 })).toBe("invalid_card");
    expect(readErrorCode(balance.errors, 400, { result_code: "5" })).toBe("invalid_card");
    expect(readErrorCode(balance.errors, 400, { result_code: 77 })).toBe("invalid_card");
    expect(readErrorCode(balance.errors, 429, { result_code: 9 })).toBe("card_locked");
    expect(readErrorCode(balance.errors, 429, {})).toBe("rate_limited");
  });

  it("returns undefined for a status that the operation doesn't list", () => {
    expect(readErrorCode(devalue.errors, 418, {})).toBeUndefined();
  });
});
