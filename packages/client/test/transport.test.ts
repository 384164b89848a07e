import { describe, expect, it } from "vitest";
import type { RequestInfo } from "../src/index.js";
import { clientOf, failureOf, foreignService, secrets } from "./support/foreign-service.js";

const providers = [{ id: 1, name: "Tickets" }];
const card = { cardNumber: secrets.cardNumber, pin: secrets.pin };

describe("a read is retried", () => {
  it.each([500, 502, 503, 504, 408, 429])("after a %d", async (status) => {
    const service = await foreignService((_, count) =>
      count < 3 ? { status, json: { error: "No." } } : { json: providers },
    );
    expect(await clientOf(service).listProviders()).toEqual(providers);
    expect(service.received).toHaveLength(3);
  });

  it("after a lost connection, and no more than three times", async () => {
    const service = await foreignService(() => (response) => response.destroy());
    const error = await failureOf(clientOf(service).balance(card));
    expect(error).toMatchObject({ name: "UnreachableError", code: "connection_lost", retryable: true });
    expect(service.received).toHaveLength(3);
  });

  it.each([0, 4])("up to maxRetries times: %d", async (maxRetries) => {
    const service = await foreignService(() => (response) => response.destroy());
    await failureOf(clientOf(service, { maxRetries }).balance(card));
    expect(service.received).toHaveLength(1 + maxRetries);
  });

  it.each([400, 401, 403, 404, 409, 422])("not after a %d", async (status) => {
    const service = await foreignService(() => ({ status, json: { error: "No." } }));
    expect(await failureOf(clientOf(service).balance(card))).toMatchObject({ name: "RefusedError", status });
    expect(service.received).toHaveLength(1);
  });

  it("not before the wait of Retry-After", async () => {
    const service = await foreignService((_, count) =>
      count === 1 ? { status: 429, json: { error: "No." }, headers: { "Retry-After": "1" } } : { json: providers },
    );
    const startedAt = performance.now();
    await clientOf(service).listProviders();
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(1000);
  });

  it("never if Retry-After exceeds the call's timeout", async () => {
    const date = new Date(Date.now() + 400_000).toUTCString();
    const service = await foreignService(() => ({ status: 503, text: "", headers: { "Retry-After": date } }));
    const error = await failureOf(clientOf(service, { timeoutMs: 300_000 }).listProviders());
    expect(error).toMatchObject({ code: "overloaded", retryable: true });
    expect((error as { retryAfterSeconds: number }).retryAfterSeconds).toBeGreaterThan(350);
    expect(service.received).toHaveLength(1);
  });

  it.each([
    ["864000", 86_400],
    ["86400", 86_400],
    [new Date(Date.now() + 10 * 86_400_000).toUTCString(), 86_400],
    [new Date(Date.now() - 60_000).toUTCString(), 0],
    ["soon", undefined],
  ])("with a Retry-After of a day at most: %s", async (header, retryAfterSeconds) => {
    const service = await foreignService(() => ({
      status: 429,
      json: {},
      headers: { "Retry-After": header },
    }));
    const error = await failureOf(clientOf(service, { maxRetries: 0 }).listProviders());
    expect(error).toMatchObject({ status: 429 });
    expect((error as { retryAfterSeconds?: number }).retryAfterSeconds).toBe(retryAfterSeconds);
  });
});

describe("a write is not retried", () => {
  it.each<[string, (client: ReturnType<typeof clientOf>) => Promise<unknown>]>([
    ["authenticate", (client) => client.authenticate({ email: secrets.email, password: secrets.password })],
    [
      "createEventConcept",
      (client) => client.createEventConcept({ representative: "A", register: "B", providerId: 1 }),
    ],
    [
      "createEvents",
      (client) =>
        client.createEvents(
          [
            {
              providerId: 1,
              name: "N",
              organiser: "O",
              startDate: "2030-01-01",
              startTime: "20:00:00",
              ticketLink: "https://t.example",
            },
          ],
          { reference: "r" },
        ),
    ],
  ])("%s", async (_, call) => {
    const service = await foreignService(() => ({ status: 503, json: {} }));
    const client = clientOf(service);
    expect(await failureOf(call(client))).toMatchObject({ name: "UnreachableError", code: "overloaded" });
    expect(service.received).toHaveLength(1);
  });
});

describe("a call ends", () => {
  it("on its timeout, which includes retries", async () => {
    const service = await foreignService(() => () => {});
    const error = await failureOf(clientOf(service, { timeoutMs: 600_000 }).listProviders({ timeoutMs: 300 }));
    expect(error).toMatchObject({ code: "timeout", retryable: true });
    expect(service.received).toHaveLength(1);
  });

  it("when its caller aborts it: before it, while it waits for a response, and between two attempts", async () => {
    const service = await foreignService((_, count) => (count === 1 ? () => {} : { status: 503, json: {} }));
    const client = clientOf(service);
    expect(await failureOf(client.listProviders({ signal: AbortSignal.abort() }))).toMatchObject({
      code: "aborted",
    });
    expect(service.received).toHaveLength(0);
    for (const afterMs of [60, 60]) {
      const error = await failureOf(client.listProviders({ signal: AbortSignal.timeout(afterMs) }));
      expect(error).toMatchObject({ name: "UnreachableError", code: "aborted", retryable: true });
    }
  });

  it("also if a fetch of the caller's ignores the signal", async () => {
    const client = clientOf({ url: "http://127.0.0.1:1" }, { fetch: () => new Promise(() => {}), timeoutMs: 100 });
    expect(await failureOf(client.listProviders())).toMatchObject({ code: "timeout" });
  });

  it("without leaving a listener on a long-lived signal", async () => {
    const service = await foreignService(() => ({ json: providers }));
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...args);
    };
    await clientOf(service).listProviders({ signal });
    expect(listeners).toBe(0);
  });
});

it("sends no cookies and follows no redirect, also in runtimes that keep cookies", async () => {
  const sent: unknown[] = [];
  const fetch = async (_: unknown, init?: RequestInit) => {
    sent.push({ credentials: init?.credentials, redirect: init?.redirect });
    return Response.json([]);
  };
  const client = clientOf({ url: "http://127.0.0.1:1" }, { fetch });
  await client.listProviders();
  await client.listEvents();
  expect(sent).toEqual([1, 2].map(() => ({ credentials: "omit", redirect: "manual" })));
});

describe("an unreadable response is not a success:", () => {
  it.each<[string, string | Buffer]>([
    ["nothing", ""],
    ["a page", "<!doctype html>"],
    ["incomplete JSON", '[{"id":1'],
    ["invalid UTF-8", Buffer.from([0x5b, 0x22, 0xff, 0xfe, 0x22, 0x5d])],
    ["more than the limit of a list", `["${"x".repeat(65 * 1024 * 1024)}"]`],
  ])("%s", async (_, body) => {
    const service = await foreignService(() => (response) => response.end(body));
    const error = await failureOf(clientOf(service).listProviders());
    expect(error).toMatchObject({ name: "ProtocolError", code: "unreadable_answer", status: 200 });
  });

  it("a response about a card of more than 256 KiB", async () => {
    const json = JSON.stringify({ balance: 7500, currency: "EUR", card_status: "Active" });
    const service = await foreignService((_, count) => ({ text: json.padEnd(256 * 1024 + count - 1) }));
    expect(await clientOf(service).balance(card)).toMatchObject({ balanceCents: 7500 });
    expect(await failureOf(clientOf(service).balance(card))).toMatchObject({
      name: "ProtocolError",
      code: "unreadable_answer",
      status: 200,
    });
  });

  it("a JSON value of another shape", async () => {
    const service = await foreignService(() => ({ json: { providers } }));
    expect(await failureOf(clientOf(service).listProviders())).toMatchObject({ code: "unexpected_answer" });
  });

  it("an invalid balance", async () => {
    const service = await foreignService(() => ({
      json: { balance: "75.00", currency: "EUR", card_status: "Active" },
    }));
    expect(await failureOf(clientOf(service).balance(card))).toMatchObject({ code: "unexpected_answer" });
  });
});

describe("onRequest", () => {
  it("is called for every attempt, with fields that can contain no secret", async () => {
    const heard: RequestInfo[] = [];
    const service = await foreignService((_, count) =>
      count === 1
        ? { status: 503, json: {}, headers: { "X-Request-Id": "req-1" } }
        : { json: { balance: 1, currency: "EUR", card_status: "Active" } },
    );
    const client = clientOf(service, { environment: "sandbox", onRequest: (info) => heard.push(info) });
    await client.balance(card);
    const { length } = heard;
    expect(length).toBe(2);
    expect(heard[0]).toEqual({
      endpoint: "balance",
      environment: "sandbox",
      attempt: 1,
      durationMs: expect.any(Number),
      outcome: "overloaded",
      status: 503,
      requestId: "req-1",
      replayed: false,
    });
    expect(heard[1]).toMatchObject({ attempt: 2, outcome: "done", status: 200, requestId: undefined });
  });

  it.each<[string, () => unknown]>([
    [
      "at once",
      () => {
        throw new Error("The log is full.");
      },
    ],
    // An unhandled rejection would fail this file.
    ["later", () => Promise.reject(new Error("The log is full."))],
  ])("doesn't fail the call if it fails %s", async (_, onRequest) => {
    const service = await foreignService(() => ({ json: providers }));
    expect(await clientOf(service, { onRequest }).listProviders()).toEqual(providers);
  });
});
