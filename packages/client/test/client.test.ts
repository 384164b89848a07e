import { describe, expect, it } from "vitest";
import { cents, type GiftcardClient, RefusedError } from "../src/index.js";
import { clientOf, failureOf, foreignService, secrets } from "./support/foreign-service.js";

const V1 = "/api/endpoint/v1/";
const stamps = { created_at: "2026-01-01T00:00:00.000000Z", updated_at: "2026-01-01T00:00:00.000000Z" };
const concept = { representative: "A. Organiser", register: "Concept", providerId: 3 };
const event = {
  providerId: 3,
  name: "Night",
  organiser: "Club",
  startDate: "2030-01-01",
  startTime: "20:00:00",
  ticketLink: "https://tickets.example/1",
};
const card = { cardNumber: secrets.cardNumber, pin: secrets.pin };

async function exchange<T>(json: unknown, call: (client: GiftcardClient) => Promise<T>) {
  const service = await foreignService(() => ({ json }));
  const result = await call(clientOf(service));
  const [request] = service.received;
  if (!request) throw new Error("The service received no request.");
  return { request, result };
}

describe("encodes each request and decodes its response:", () => {
  it("authenticate uses HTTP Basic in UTF-8, without a body", async () => {
    const { request, result } = await exchange({ apikey: "k".repeat(60) }, (client) =>
      client.authenticate({ email: secrets.email, password: secrets.password }),
    );
    expect(request).toMatchObject({ method: "POST", path: `${V1}authenticate/`, body: "" });
    const basic = request.headers.authorization?.replace("Basic ", "") ?? "";
    expect(Buffer.from(basic, "base64").toString()).toBe(`${secrets.email}:${secrets.password}`);
    expect(result.apiKey.reveal()).toBe("k".repeat(60));
  });

  it("listProviders is a GET without an API key", async () => {
    const { request, result } = await exchange([{ id: "4", name: "Tickets", more: 1 }], (client) =>
      client.listProviders(),
    );
    expect(request).toMatchObject({ method: "GET", path: `${V1}get_providers`, body: "" });
    expect(request.headers.authorization).toBeUndefined();
    expect(result).toEqual([{ id: 4, name: "Tickets" }]);
  });

  it("listEvents sends the key as JSON, and decodes null as an empty text", async () => {
    const row = {
      id: 1,
      company_id: 7,
      bannerpath: null,
      poster: "",
      title: "Night",
      description: null,
      organiser: "Club",
    };
    const times = { date: "2030-01-01", time: "20:00:00", end_date: null, end_time: null };
    const rest = { location: "Town", ticket_link: "https://tickets.example/1", ...stamps };
    const { request, result } = await exchange([{ ...row, ...times, ...rest }], (client) => client.listEvents());
    expect(request.path).toBe(`${V1}getallevents`);
    expect(request.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(request.body)).toEqual({ apikey: secrets.apiKey });
    expect(result[0]).toMatchObject({ id: 1, companyId: 7, bannerUrl: "", description: "", endDate: null });
  });

  it("listEventConcepts decodes a provider's number from a string", async () => {
    const row = { id: 1, representative: "A", register: "B", ticketprovider_id: "3", ...stamps };
    const { request, result } = await exchange([row], (client) => client.listEventConcepts());
    expect(request.path).toBe(`${V1}geteventconcepts`);
    expect(result[0]).toMatchObject({ id: 1, providerId: 3 });
  });

  it("createEventConcept sends JSON", async () => {
    const answer = {
      eventconcept_id: 9,
      register: "Concept",
      representative: "A. Organiser",
      eventprovider_id: "3",
    };
    const { request, result } = await exchange(answer, (client) => client.createEventConcept(concept));
    expect(request.path).toBe(`${V1}neweventconcept`);
    expect(JSON.parse(request.body)).toEqual({
      apikey: secrets.apiKey,
      representative: "A. Organiser",
      register: "Concept",
      eventprovider_id: 3,
    });
    expect(result).toEqual({ id: 9, ...concept });
  });

  it("createEvents sends the API's field names, and the reference as Idempotency-Key", async () => {
    const { request, result } = await exchange([{ message: "ok", id: 5, title: "Night" }], (client) =>
      client.createEvents([event], { reference: "import-1" }),
    );
    expect(request.path).toBe(`${V1}newevent`);
    expect(request.headers["idempotency-key"]).toBe("import-1");
    expect(JSON.parse(request.body).events).toEqual([
      {
        eventprovider_id: "3",
        event_name: "Night",
        event_organiser: "Club",
        event_start_date: "2030-01-01",
        event_start_time: "20:00:00",
        ticket_link: "https://tickets.example/1",
      },
    ]);
    expect(result).toEqual([{ message: "ok", id: 5, title: "Night" }]);
  });

  it("balance sends a form, and decodes integers from strings and a response without success", async () => {
    const answer = { balance: "7500", currency: "EUR", card_status: "Active", expiry_date: null };
    const { request, result } = await exchange(answer, (client) => client.balance(card));
    expect(request.path).toBe(`${V1}balance`);
    expect(request.headers["content-type"]).toBe("application/x-www-form-urlencoded");
    expect(Object.fromEntries(new URLSearchParams(request.body))).toEqual({
      apikey: secrets.apiKey,
      company_id: "7",
      cardnumber: secrets.cardNumber,
      pin: secrets.pin,
    });
    expect(result).toEqual({ balanceCents: 7500, currency: "EUR", cardStatus: "Active", expiryDate: "" });
  });

  it("devalue sends a form with the amount in cents", async () => {
    const answer = {
      success: true,
      amount_deducted: 5000,
      remaining_to_pay: 2498,
      cancel_token: secrets.cancelToken,
    };
    const { request, result } = await exchange(answer, (client) =>
      client.devalue({ ...card, amountCents: cents(7498), reference: "order-1" }),
    );
    expect(request.path).toBe(`${V1}devalue`);
    expect(request.headers["idempotency-key"]).toBe("order-1");
    expect(new URLSearchParams(request.body).get("amount")).toBe("7498");
    expect(result).toMatchObject({
      deductedCents: 5000,
      remainderCents: 2498,
      keyHonoured: false,
      replayed: false,
    });
    expect(result.cancelToken.reveal()).toBe(secrets.cancelToken);
  });

  it("devalue without a reference sends no Idempotency-Key", async () => {
    const answer = { success: true, amount_deducted: 10, remaining_to_pay: 0, cancel_token: "t" };
    const { request } = await exchange(answer, (client) => client.devalue({ ...card, amountCents: cents(10) }));
    expect(request.headers["idempotency-key"]).toBeUndefined();
  });

  it("cancelDevalue sends the token, without an Idempotency-Key", async () => {
    const answer = { success: true, amount_refunded: 5000, card_new_balance: 7500 };
    const { request, result } = await exchange(answer, (client) =>
      client.cancelDevalue({ cancelToken: secrets.cancelToken }),
    );
    expect(request.path).toBe(`${V1}canceldevalue`);
    expect(new URLSearchParams(request.body).get("cancel_token")).toBe(secrets.cancelToken);
    expect(request.headers["idempotency-key"]).toBeUndefined();
    expect(result).toEqual({ refundedCents: 5000, balanceCents: 7500 });
  });
});

describe("refuses invalid arguments before sending anything:", () => {
  type Faulty = [string, string, (client: GiftcardClient) => Promise<unknown>];
  const faulty: Faulty[] = [
    ["an amount of 0", "amount", (c) => c.devalue({ ...card, amountCents: 0 as never })],
    ["an amount with a fraction", "amount", (c) => c.devalue({ ...card, amountCents: 74.98 as never })],
    ["an amount as text", "amount", (c) => c.devalue({ ...card, amountCents: "10" as never })],
    ["a card number as a number", "cardnumber", (c) => c.balance({ ...card, cardNumber: 12 as never })],
    ["an empty PIN", "pin", (c) => c.balance({ ...card, pin: "" })],
    ["no PIN", "pin", (c) => c.balance({ cardNumber: "1" } as never)],
    ["an empty token", "cancel_token", (c) => c.cancelDevalue({ cancelToken: "" })],
    ["no token", "cancel_token", (c) => c.cancelDevalue({} as never)],
    ["an empty reference", "reference", (c) => c.devalue({ ...card, amountCents: cents(1), reference: "" })],
    ["a reference that breaks the header", "reference", (c) => c.resolveDevalue("a\r\nb: c")],
    ["resolving without a reference", "reference", (c) => c.resolveDevalue(undefined as never)],
    ["no events", "events", (c) => c.createEvents([])],
    ["an event without a name", "events.0.event_name", (c) => c.createEvents([{ ...event, name: "" }])],
    ["a timeout of 0", "timeoutMs", (c) => c.balance(card, { timeoutMs: 0 })],
  ];

  it.each(faulty)("%s", async (_, path, call) => {
    const service = await foreignService(() => ({ json: {} }));
    const error = await failureOf(call(clientOf(service)));
    expect(error).toBeInstanceOf(RefusedError);
    expect(error).toMatchObject({ code: "invalid_request", status: undefined, retryable: false });
    expect((error as RefusedError).faults.map((fault) => fault.path)).toContain(path);
    expect(service.received).toEqual([]);
  });

  it("a call that needs a company or an API key that the client doesn't have", async () => {
    const service = await foreignService(() => ({ json: {} }));
    const withoutCompany = await failureOf(clientOf(service, { companyId: undefined }).balance(card));
    expect(withoutCompany).toMatchObject({ code: "invalid_request", faults: [{ path: "company_id" }] });
    const withoutKey = await failureOf(clientOf(service, { apiKey: undefined }).balance(card));
    expect(withoutKey).toMatchObject({ code: "invalid_request", faults: [{ path: "apikey" }] });
    expect(service.received).toEqual([]);
  });
});
