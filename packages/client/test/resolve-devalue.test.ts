import { describe, expect, it } from "vitest";
import { clientOf, failureOf, foreignService } from "./support/foreign-service.js";

const echo = { "Idempotency-Key": "order-1" };
const refusal = { success: false, error: "No." };
const reversed = { success: true, amount_refunded: 5000, card_new_balance: 7500 };
const end = async (reply: { status?: number; headers?: Record<string, string>; json?: unknown; text?: string }) => {
  const service = await foreignService(() => reply);
  return { service, ended: clientOf(service).resolveDevalue("order-1") };
};

describe("resolveDevalue with an echo of the key", () => {
  it("sends the key as a header, and no token", async () => {
    const { service, ended } = await end({ json: reversed, headers: echo });
    await ended;
    const [request] = service.received;
    expect(request?.path).toBe("/api/endpoint/v1/canceldevalue");
    expect(request?.headers["idempotency-key"]).toBe("order-1");
    expect([...new URLSearchParams(request?.body).keys()].sort()).toEqual(["apikey", "company_id"]);
  });

  it.each([
    [
      { json: reversed, headers: echo },
      { outcome: "reversed", refundedCents: 5000, balanceCents: 7500 },
    ],
    [{ status: 404, json: refusal, headers: echo }, { outcome: "not_done" }],
    [{ status: 409, json: refusal, headers: echo }, { outcome: "already_reversed" }],
  ])("%j", async (reply, outcome) => {
    expect(await (await end(reply)).ended).toEqual(outcome);
  });
});

describe("resolveDevalue without an echo fails with extension_not_supported:", () => {
  it.each([
    ["the plain interface's 422", { status: 422, json: refusal }],
    ["a 200", { json: reversed }],
    ["a 404", { status: 404, json: refusal }],
    ["a 409", { status: 409, json: refusal }],
    ["a 400", { status: 400, json: refusal }],
    ["the echo of another key", { status: 404, json: refusal, headers: { "Idempotency-Key": "order-2" } }],
    ["a page", { status: 404, text: "<h1>Not found</h1>" }],
  ])("%s", async (_, reply) => {
    const { ended } = await end(reply);
    expect(await failureOf(ended)).toMatchObject({ name: "ProtocolError", code: "extension_not_supported" });
  });
});

describe("resolveDevalue fails, and can be repeated, after", () => {
  it.each([
    [
      { status: 401, json: refusal },
      { name: "RefusedError", code: "unauthorized" },
    ],
    [
      { status: 403, json: refusal },
      { name: "RefusedError", code: "refused" },
    ],
    [
      { status: 403, text: "<h1>Forbidden</h1>" },
      { name: "ProtocolError", code: "unreadable_answer" },
    ],
    [
      { status: 429, json: refusal, headers: { "Retry-After": "3" } },
      { code: "rate_limited", retryAfterSeconds: 3 },
    ],
    [
      { status: 503, json: refusal, headers: echo },
      { name: "UnreachableError", code: "overloaded" },
    ],
    [
      { json: { success: true }, headers: echo },
      { name: "ProtocolError", code: "unexpected_answer" },
    ],
    [
      { status: 404, text: "<h1>", headers: echo },
      { name: "ProtocolError", code: "unreadable_answer" },
    ],
  ])("%j", async (reply, expected) => {
    const { service, ended } = await end(reply);
    expect(await failureOf(ended)).toMatchObject(expected);
    expect(service.received).toHaveLength(1);
  });
});
