import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type FaultProxy, startFaultProxy } from "../../../test/support/fault-proxy.js";
import type { TestCard, TestCompany, TestService } from "../../../test/support/service.js";
import { attachService } from "../../../test/support/shared-service.js";
import { cents, createClient, type GiftcardClient } from "../src/index.js";
import { failureOf } from "./support/foreign-service.js";

let service: TestService;
let proxy: FaultProxy;
let company: TestCompany;
let client: GiftcardClient;
let card: TestCard;

beforeAll(async () => {
  service = await attachService();
  proxy = await startFaultProxy(service.url);
  company = await service.createCompany();
  const { email, password, companyId } = company;
  const { apiKey } = await createClient({ baseUrl: proxy.url }).authenticate({ email, password });
  client = createClient({ baseUrl: proxy.url, apiKey, companyId, timeoutMs: 3000 });
});

afterAll(async () => {
  await proxy?.stop();
  await service?.stop();
});

beforeEach(async () => {
  proxy.clear();
  card = await service.issueCard({ balanceCents: 7500 });
});

const balanceCents = async () => (await client.balance(card)).balanceCents;

it("refuses responses of a service of the other environment", async () => {
  const { apiKey, companyId } = company;
  const wrong = createClient({ environment: "live", baseUrl: service.url, apiKey, companyId });
  const failures = await Promise.all([
    failureOf(wrong.balance(card)),
    failureOf(wrong.listProviders()),
    failureOf(wrong.resolveDevalue("never-sent")),
  ]);
  for (const failure of failures) expect(failure).toMatchObject({ code: "wrong_environment", retryable: false });
  const right = createClient({ environment: "sandbox", baseUrl: service.url, apiKey, companyId });
  expect(await right.balance(card)).toMatchObject({ balanceCents: 7500 });
});

describe("a card on the real service", () => {
  it("pays 50.00 of 74.98, and is refunded once", async () => {
    const done = await client.devalue({ ...card, amountCents: cents(7498), reference: "order-1" });
    expect(done).toMatchObject({
      deductedCents: 5000,
      remainderCents: 2498,
      keyHonoured: true,
      replayed: false,
    });
    expect(await client.balance(card)).toEqual({
      balanceCents: 2500,
      currency: "EUR",
      cardStatus: "Active",
      expiryDate: card.expiryDate,
    });
    const { cancelToken } = done;
    expect(await client.cancelDevalue({ cancelToken })).toEqual({ refundedCents: 5000, balanceCents: 7500 });
    expect(await failureOf(client.cancelDevalue({ cancelToken }))).toMatchObject({
      code: "token_used",
      status: 409,
    });
  });

  it("is charged once for two calls with the same reference", async () => {
    const deduction = { ...card, amountCents: cents(1000), reference: "again" };
    const first = await client.devalue(deduction);
    const second = await client.devalue(deduction);
    expect(second).toMatchObject({ replayed: true, deductedCents: 1000 });
    expect(second.cancelToken.reveal()).toBe(first.cancelToken.reveal());
    expect(await balanceCents()).toBe(6500);
  });

  it("is refused with the code of the cause", async () => {
    const order = { ...card, amountCents: cents(1000) };
    expect(await failureOf(client.devalue({ ...order, pin: "x" }))).toMatchObject({ code: "invalid_card" });
    expect(await failureOf(client.balance({ ...card, pin: "x" }))).toMatchObject({ code: "invalid_card" });
    expect(await failureOf(client.cancelDevalue({ cancelToken: "0".repeat(64) }))).toMatchObject({
      code: "token_invalid",
    });
    await service.command("card", "block", card.cardNumber);
    expect(await failureOf(client.devalue(order))).toMatchObject({
      code: "card_blocked",
      cardStatus: "Blocked",
    });
    const expired = await service.issueCard({ balanceCents: 100, expires: "2020-01-01" });
    expect(await failureOf(client.devalue({ ...order, ...expired }))).toMatchObject({ code: "card_expired" });
  });

  it("is refused with another company's number and with a wrong API key", async () => {
    const options = { baseUrl: service.url, apiKey: company.apiKey, companyId: company.companyId };
    const other = createClient({ ...options, companyId: company.companyId + 1 });
    expect(await failureOf(other.balance(card))).toMatchObject({
      name: "RefusedError",
      code: "unauthorized",
    });
    const stranger = createClient({ ...options, apiKey: "x" });
    expect(await failureOf(stranger.devalue({ ...card, amountCents: cents(1) }))).toMatchObject({
      code: "unauthorized",
    });
  });
});

describe("resolveDevalue on the real service", () => {
  it("reverses a devalue whose response was lost", async () => {
    proxy.set("devalue", "cut-after", 1);
    const lost = client.devalue({ ...card, amountCents: cents(5000), reference: "lost" });
    expect(await failureOf(lost)).toMatchObject({ name: "UnreachableError", code: "connection_lost" });
    expect(await balanceCents()).toBe(2500);
    expect(await client.resolveDevalue("lost")).toEqual({
      outcome: "reversed",
      refundedCents: 5000,
      balanceCents: 7500,
    });
    expect(await client.resolveDevalue("lost")).toEqual({ outcome: "already_reversed" });
    expect(await balanceCents()).toBe(7500);
  });

  it("closes the reference of a devalue that never arrived, so that it is refused if it arrives later", async () => {
    proxy.set("devalue", "cut-before", 1);
    const deduction = { ...card, amountCents: cents(5000), reference: "never" };
    expect(await failureOf(client.devalue(deduction))).toMatchObject({ name: "UnreachableError" });
    expect(await client.resolveDevalue("never")).toEqual({ outcome: "not_done" });
    expect(await failureOf(client.devalue(deduction))).toMatchObject({
      name: "RefusedError",
      code: "key_closed",
    });
    expect(await balanceCents()).toBe(7500);
  });

  it.each(["error", "garbage", "hold"] as const)("resolves a devalue after the fault %s", async (fault) => {
    proxy.set("devalue", fault, 1);
    const reference = `met-${fault}`;
    const error = await failureOf(client.devalue({ ...card, amountCents: cents(5000), reference }, { timeoutMs: 500 }));
    expect(error).toMatchObject({ name: fault === "garbage" ? "ProtocolError" : "UnreachableError" });
    const { outcome } = await client.resolveDevalue(reference);
    expect(outcome).toBe(fault === "garbage" ? "reversed" : "not_done");
    await proxy.release();
    expect(await balanceCents()).toBe(7500);
  });
});

describe("events on the real service", () => {
  it("are created all or none, and listed", async () => {
    const provider = await service.createProvider();
    expect(await client.listProviders()).toContainEqual(provider);
    const concept = { representative: "A. Organiser", register: "Nights", providerId: provider.id };
    const { id } = await client.createEventConcept(concept);
    expect(await client.listEventConcepts()).toMatchObject([{ id, ...concept }]);

    const event = {
      providerId: provider.id,
      name: "Summer Night",
      organiser: "Club",
      startDate: "2099-06-01",
      startTime: "20:00:00",
      ticketLink: "https://tickets.example/1",
      city: "Town",
    };
    const faulty = client.createEvents([event, { ...event, startDate: "2020-01-01" }]);
    const error = await failureOf(faulty);
    expect(error).toMatchObject({ name: "RefusedError", code: "invalid_request", status: 422 });
    expect((error as { faults: { path: string }[] }).faults[0]?.path).toBe("events.1.event_start_date");
    expect(await client.listEvents()).toEqual([]);

    const [created] = await client.createEvents([event], { reference: "import" });
    const [repeated] = await client.createEvents([event], { reference: "import" });
    expect(repeated).toEqual(created);
    expect(await client.listEvents()).toMatchObject([
      {
        id: created?.id,
        companyId: company.companyId,
        title: "Summer Night",
        location: "Town",
        endDate: null,
      },
    ]);
  });
});
