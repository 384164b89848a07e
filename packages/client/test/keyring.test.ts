import { describe, expect, it } from "vitest";
import { clientOf, failureOf, foreignService, type Received, secrets } from "./support/foreign-service.js";

const credentials = { email: secrets.email, password: secrets.password };
const card = { cardNumber: secrets.cardNumber, pin: secrets.pin };
const balance = { balance: 7500, currency: "EUR", card_status: "Active", expiry_date: "2030-01-01" };
const refusal = { status: 401, json: { error: "No." } };
const isAuthenticate = (request: Received) => request.path.endsWith("authenticate/");
const keyOf = (request: Received) => new URLSearchParams(request.body).get("apikey");

/** Starts a service that issues the API keys k1, k2, … and accepts those that `takes` selects. */
const keyed = (takes: (key: string | null) => boolean) => {
  let given = 0;
  return foreignService((request) => {
    if (isAuthenticate(request)) return { json: { apikey: `k${++given}` } };
    return takes(keyOf(request)) ? { json: balance } : refusal;
  });
};

describe("a client with credentials and no API key", () => {
  it("fetches one key for all calls, also if they are concurrent", async () => {
    const service = await keyed((key) => key === "k1");
    const client = clientOf(service, { apiKey: undefined, credentials });
    await Promise.all([client.balance(card), client.balance(card), client.balance(card)]);
    await client.balance(card);
    expect(service.received.filter(isAuthenticate)).toHaveLength(1);
    expect(service.received).toHaveLength(5);
  });

  it("fetches a new key once if a read's key is refused", async () => {
    const service = await keyed((key) => key === "k2");
    const client = clientOf(service, { apiKey: undefined, credentials });
    expect(await client.balance(card)).toMatchObject({ balanceCents: 7500 });
    await client.balance(card);
    expect(service.received.map((r) => (isAuthenticate(r) ? "authenticate" : keyOf(r)))).toEqual([
      "authenticate",
      "k1",
      "authenticate",
      "k2",
      "k2",
    ]);
  });

  it("fails if the new key is refused too", async () => {
    const service = await keyed(() => false);
    const client = clientOf(service, { apiKey: undefined, credentials });
    expect(await failureOf(client.balance(card))).toMatchObject({
      name: "RefusedError",
      code: "unauthorized",
    });
    expect(service.received).toHaveLength(4);
  });

  it("reports that authenticate failed, and fetches a key again for the next call", async () => {
    const service = await foreignService((_, count) =>
      count === 1 ? { status: 401, text: "" } : count === 2 ? { json: { apikey: "k" } } : { json: balance },
    );
    const client = clientOf(service, { apiKey: undefined, credentials });
    const error = await failureOf(client.balance(card));
    expect(error).toMatchObject({
      name: "RefusedError",
      code: "invalid_credentials",
      endpoint: "authenticate",
    });
    expect(await client.balance(card)).toMatchObject({ balanceCents: 7500 });
  });

  it("keeps fetching the key for other callers if one times out", async () => {
    let release = () => {};
    const service = await foreignService((request) => {
      if (!isAuthenticate(request)) return { json: balance };
      return (response) => {
        release = () => response.end(JSON.stringify({ apikey: "k1" }));
      };
    });
    const client = clientOf(service, { apiKey: undefined, credentials });
    const hasty = client.balance(card, { timeoutMs: 50 });
    const patient = client.balance(card);
    expect(await failureOf(hasty)).toMatchObject({ code: "timeout", endpoint: "authenticate" });
    release();
    expect(await patient).toMatchObject({ balanceCents: 7500 });
    expect(service.received.filter(isAuthenticate)).toHaveLength(1);
  });
});

describe("a client with an API key", () => {
  it("fetches no key", async () => {
    const service = await foreignService(() => ({ json: balance }));
    await clientOf(service, { credentials }).balance(card);
    expect(service.received).toHaveLength(1);
  });

  it("passes a refusal on if it has no credentials", async () => {
    const service = await foreignService(() => refusal);
    expect(await failureOf(clientOf(service).balance(card))).toMatchObject({ code: "unauthorized" });
    expect(service.received).toHaveLength(1);
    expect(await failureOf(clientOf(service).authenticate())).toMatchObject({ code: "invalid_request" });
  });

  it("uses the key of authenticate from then on", async () => {
    const service = await keyed((key) => key === "k1");
    const client = clientOf(service, { credentials });
    expect((await client.authenticate()).apiKey.reveal()).toBe("k1");
    expect(await client.balance(card)).toMatchObject({ balanceCents: 7500 });
  });
});
