import { inspect } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { cents, type GiftcardClient, GiftcardError } from "../src/index.js";
import { clientOf, failureOf, foreignService, secrets } from "./support/foreign-service.js";

const all = Object.values(secrets);
const basic = Buffer.from(`${secrets.email}:${secrets.password}`).toString("base64");

const login = { email: secrets.email, password: secrets.password };

/** Returns all that a log, a debugger or an error tracker could show of a value. */
function seenOf(value: unknown): string {
  const parts = [inspect(value, { showHidden: true, depth: 20, getters: true }), JSON.stringify(value), String(value)];
  if (value instanceof Error) parts.push(value.stack ?? "", value.message, inspect(value.cause));
  return parts.join("\n");
}

function expectNoSecret(value: unknown) {
  const seen = seenOf(value);
  for (const secret of [...all, basic]) expect(seen).not.toContain(secret);
}

const calls: [string, (client: GiftcardClient) => Promise<unknown>][] = [
  ["authenticate", (c) => c.authenticate(login)],
  ["balance", (c) => c.balance(secrets)],
  ["devalue", (c) => c.devalue({ ...secrets, amountCents: cents(5000), reference: "r" })],
  ["cancelDevalue", (c) => c.cancelDevalue(secrets)],
  ["resolveDevalue", (c) => c.resolveDevalue("r")],
  ["listEvents", (c) => c.listEvents()],
  ["createEventConcept", (c) => c.createEventConcept({ representative: "A", register: "B", providerId: 1 })],
];

/** Responses of a service that repeats all secrets in every field. */
const everything = [...all, basic].join(" ");
const spiteful = {
  success: false,
  error: everything,
  message: everything,
  card_status: everything,
  result_code: everything,
};
const faults = [
  { path: "apikey", message: secrets.apiKey },
  { path: secrets.apiKey, message: "is not known" },
  { path: "register", message: "is too long" },
];
const spitefulHeaders = { "x-request-id": encodeURI(everything) };
const answers: [string, Parameters<typeof foreignService>[0]][] = [
  ["a refusal", () => ({ status: 400, headers: spitefulHeaders, json: spiteful })],
  ["faults", () => ({ status: 422, json: { ...spiteful, errors: faults } })],
  ["a failure", () => ({ status: 500, json: spiteful })],
  ["garbage", () => ({ text: everything })],
  [
    "an unexpected response",
    () => ({ json: { ...spiteful, amount_deducted: everything, cancel_token: [everything] } }),
  ],
  ["a redirect", () => ({ status: 307, headers: { location: `/${encodeURIComponent(everything)}` } })],
  ["a cut connection", () => (response) => response.destroy()],
  ["no response", () => () => {}],
];

describe.each(answers)("after %s", (_, answer) => {
  it.each(calls)("%s has no secret in its error and its log line", async (_, call) => {
    const service = await foreignService(answer);
    const heard: unknown[] = [];
    const client = clientOf(service, { timeoutMs: 700, onRequest: (info) => heard.push(info) });
    const error = await failureOf(call(client));
    expect(error).toBeInstanceOf(GiftcardError);
    expectNoSecret(error);
    await vi.waitFor(() => expect(heard).not.toHaveLength(0));
    expectNoSecret(heard);
    expectNoSecret(client);
  });
});

describe("no secret is shown by", () => {
  it("the client, before and after it fetches a key", async () => {
    const service = await foreignService(() => ({ json: { apikey: secrets.apiKey } }));
    const client = clientOf(service);
    expectNoSecret(client);
    const answer = await client.authenticate(login);
    expectNoSecret(client);
    expectNoSecret(answer);
  });

  it("a refused argument", async () => {
    const service = await foreignService(() => ({ json: {} }));
    const tooLong = secrets.cardNumber.repeat(4);
    expectNoSecret(await failureOf(clientOf(service).balance({ ...secrets, cardNumber: tooLong })));
    expectNoSecret(await failureOf(clientOf(service).balance({ ...secrets, pin: Number(secrets.pin) as never })));
  });

  it("an error of the caller's fetch that contains the whole request", async () => {
    const client = clientOf(
      { url: "http://127.0.0.1:1" },
      {
        fetch: async (url, init) => {
          throw new Error(`${String(url)} ${String(init?.body)}`, { cause: init });
        },
      },
    );
    expectNoSecret(await failureOf(client.devalue({ ...secrets, amountCents: cents(1) })));
  });
});
