import { describe, expect, it } from "vitest";
import { cents, ProtocolError, RefusedError, UnreachableError } from "../src/index.js";
import { clientOf, type ForeignService, failureOf, foreignService, secrets } from "./support/foreign-service.js";

const deduction = {
  cardNumber: secrets.cardNumber,
  pin: secrets.pin,
  amountCents: cents(7498),
  reference: "order-1",
};
const good = {
  success: true,
  amount_deducted: 5000,
  remaining_to_pay: 2498,
  cancel_token: secrets.cancelToken,
};
const devalue = (service: ForeignService, timeoutMs = 10_000) => clientOf(service, { timeoutMs }).devalue(deduction);

describe("a successful devalue", () => {
  it("may have amounts as decimal strings, and unknown fields", async () => {
    const service = await foreignService(() => ({
      json: { ...good, amount_deducted: "5000", remaining_to_pay: "2498", new: {} },
    }));
    expect(await devalue(service)).toMatchObject({ deductedCents: 5000, remainderCents: 2498 });
  });

  it("reports whether the service echoed the key, and whether the response is a stored one", async () => {
    const service = await foreignService((request) => ({
      json: good,
      headers: {
        "Idempotency-Key": String(request.headers["idempotency-key"]),
        "Idempotency-Replayed": "true",
      },
    }));
    expect(await devalue(service)).toMatchObject({ keyHonoured: true, replayed: true });
  });

  it("ignores the echo of another key", async () => {
    const service = await foreignService(() => ({
      json: good,
      headers: { "Idempotency-Key": "order-2", "Idempotency-Replayed": "true" },
    }));
    expect(await devalue(service)).toMatchObject({ keyHonoured: false, replayed: false });
  });
});

describe("a 200 that is not a valid deduction is an unknown outcome:", () => {
  it.each<[string, unknown]>([
    ["no token", { ...good, cancel_token: undefined }],
    ["an empty token", { ...good, cancel_token: "" }],
    ["a token that is null", { ...good, cancel_token: null }],
    ["no deduction", { ...good, amount_deducted: undefined }],
    ["a deduction of nothing", { ...good, amount_deducted: 0, remaining_to_pay: 7498 }],
    ["a negative deduction", { ...good, amount_deducted: -5000, remaining_to_pay: 12_498 }],
    ["a deduction in euros", { ...good, amount_deducted: 49.99, remaining_to_pay: 24.99 }],
    ["a deduction above 50.00", { ...good, amount_deducted: 5001, remaining_to_pay: 2497 }],
    ["no remainder", { ...good, remaining_to_pay: undefined }],
    ["a wrong remainder", { ...good, remaining_to_pay: 2497 }],
    ["success false", { ...good, success: false }],
    ["success missing", { ...good, success: undefined }],
    ["a list", [good]],
    ["a text", "ok"],
    ["null", null],
  ])("%s", async (_, json) => {
    const service = await foreignService(() => ({ json }));
    const error = await failureOf(devalue(service));
    expect(error).toBeInstanceOf(ProtocolError);
    expect(error).toMatchObject({ code: "unexpected_answer", status: 200, retryable: false });
    expect(service.received).toHaveLength(1);
  });

  it("a deduction of more than the amount", async () => {
    const service = await foreignService(() => ({
      json: { ...good, amount_deducted: 4000, remaining_to_pay: 0 },
    }));
    const error = await failureOf(clientOf(service).devalue({ ...deduction, amountCents: cents(3999) }));
    expect(error).toMatchObject({ name: "ProtocolError", code: "unexpected_answer" });
  });

  it("a success with another status than 200", async () => {
    const service = await foreignService(() => ({ status: 202, json: good }));
    expect(await failureOf(devalue(service))).toMatchObject({
      name: "ProtocolError",
      code: "unexpected_answer",
    });
  });
});

describe("a refusal means that nothing was deducted:", () => {
  it.each<[number, object, string]>([
    [401, {}, "unauthorized"],
    [422, { required: ["cardnumber"] }, "invalid_request"],
    [400, {}, "invalid_card"],
    [400, { card_status: "Blocked" }, "card_blocked"],
    [400, { card_status: "Expired" }, "card_expired"],
    [400, { card_status: "No balance" }, "card_no_balance"],
    [400, { card_status: "Frozen" }, "card_not_active"],
    [413, {}, "body_too_large"],
    [415, {}, "unsupported_media_type"],
    [429, {}, "rate_limited"],
    [403, {}, "refused"],
    [404, {}, "refused"],
    [418, {}, "refused"],
    [409, {}, "refused"],
  ])("%d %j is %s", async (status, body, code) => {
    const service = await foreignService(() => ({ status, json: { success: false, error: "No.", ...body } }));
    const error = await failureOf(devalue(service));
    expect(error).toBeInstanceOf(RefusedError);
    expect(error).toMatchObject({ code, status, retryable: status === 429, endpoint: "devalue" });
    expect(service.received).toHaveLength(1);
  });

  it("and reports whether the service echoed the key", async () => {
    const refusal = { status: 400, json: { success: false, error: "No." } };
    const echo = await foreignService((request) => ({
      ...refusal,
      headers: { "Idempotency-Key": String(request.headers["idempotency-key"]) },
    }));
    expect(await failureOf(devalue(echo))).toMatchObject({ code: "invalid_card", keyHonoured: true });
    const other = await foreignService(() => ({ ...refusal, headers: { "Idempotency-Key": "order-2" } }));
    expect(await failureOf(devalue(other))).toMatchObject({ code: "invalid_card", keyHonoured: false });
    const unsent = clientOf(other).devalue({ ...deduction, reference: "" });
    expect(await failureOf(unsent)).toMatchObject({ status: undefined, keyHonoured: false });
  });

  it("key_closed for a 409 that echoes the key", async () => {
    const service = await foreignService((request) => ({
      status: 409,
      json: { success: false, error: "Ended." },
      headers: { "Idempotency-Key": String(request.headers["idempotency-key"]) },
    }));
    expect(await failureOf(devalue(service))).toMatchObject({ name: "RefusedError", code: "key_closed" });
  });

  it("reports the card's status and the wait, but no status with digits", async () => {
    const service = await foreignService((_, count) => ({
      status: 400,
      headers: { "Retry-After": "17", "X-Request-Id": "req-1" },
      json: {
        success: false,
        error: "No.",
        card_status: count === 1 ? "Frozen" : `Frozen ${secrets.cardNumber}`,
      },
    }));
    const first = await failureOf(devalue(service));
    expect(first).toMatchObject({ cardStatus: "Frozen", retryAfterSeconds: 17, requestId: "req-1" });
    expect(await failureOf(devalue(service))).toMatchObject({
      code: "card_not_active",
      cardStatus: undefined,
    });
  });
});

describe("a 4xx that is not a valid refusal is an unknown outcome:", () => {
  it.each<[string, { text?: string; json?: unknown }, string]>([
    ["a page", { text: "<h1>Forbidden</h1>" }, "unreadable_answer"],
    ["nothing", { text: "" }, "unreadable_answer"],
    ["incomplete JSON", { text: '{"success":false,"err' }, "unreadable_answer"],
    ["no error", { json: { success: false } }, "unexpected_answer"],
    ["an error that is not a text", { json: { success: false, error: {} } }, "unexpected_answer"],
    ["a list", { json: [{ error: "No." }] }, "unexpected_answer"],
    ["success", { json: { ...good, error: "No." } }, "unexpected_answer"],
  ])("%s", async (_, reply, code) => {
    const service = await foreignService(() => ({ status: 400, ...reply }));
    expect(await failureOf(devalue(service))).toMatchObject({ name: "ProtocolError", code, status: 400 });
    expect(service.received).toHaveLength(1);
  });
});

describe("a devalue without a response is sent once, and its outcome is unknown:", () => {
  it.each<[string, Parameters<typeof foreignService>[0], string]>([
    ["a 500", () => ({ status: 500, json: { success: false, error: "Failed." } }), "server_error"],
    ["a 502 page", () => ({ status: 502, text: "<h1>Bad gateway</h1>" }), "server_error"],
    [
      "a 503 with Retry-After",
      () => ({ status: 503, json: { error: "Busy." }, headers: { "Retry-After": "0" } }),
      "overloaded",
    ],
    ["a 408", () => ({ status: 408, json: { error: "Slow." } }), "timeout"],
    ["a connection that closes without a response", () => (response) => response.destroy(), "connection_lost"],
    [
      "an incomplete response",
      () => (response) => {
        response.writeHead(200, { "content-length": "500" });
        response.write('{"success":true,"amount_deducted":5000', () => response.destroy());
      },
      "connection_lost",
    ],
    ["no response", () => () => {}, "timeout"],
    [
      "a response that never ends",
      () => (response) => {
        response.writeHead(200);
        response.write('{"success":true,');
      },
      "timeout",
    ],
  ])("%s", async (_, answer, code) => {
    const service = await foreignService(answer);
    const error = await failureOf(devalue(service, code === "timeout" ? 500 : undefined));
    expect(error).toBeInstanceOf(UnreachableError);
    expect(error).toMatchObject({ code, retryable: false, endpoint: "devalue" });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(service.received).toHaveLength(1);
  });

  it.each(["http://127.0.0.1:3", "https://nobody.invalid"])(
    "but known not to be sent if no connection could be made: %s",
    async (url) => {
      const error = await failureOf(devalue({ url, received: [] }));
      expect(error).toMatchObject({ name: "UnreachableError", code: "not_connected" });
    },
  );

  it("also if a fetch of the caller's fails to connect, because it may have sent the call before", async () => {
    const service = await foreignService(() => ({ json: good }));
    // Sends the call, loses the response, and fails to connect when it retries.
    const fetchTwice: typeof fetch = async (input, init) => {
      await fetch(input, init);
      return fetch("http://127.0.0.1:3", init);
    };
    const error = await failureOf(clientOf(service, { fetch: fetchTwice }).devalue(deduction));
    expect(service.received).toHaveLength(1);
    expect(error).toMatchObject({ name: "UnreachableError", code: "connection_lost" });
  });

  it("a 401 is not retried", async () => {
    const service = await foreignService(() => ({ status: 401, json: { success: false, error: "No." } }));
    expect(await failureOf(clientOf(service).devalue(deduction))).toMatchObject({ code: "unauthorized" });
    expect(service.received).toHaveLength(1);
  });
});

describe("a redirect is never followed", () => {
  it.each([301, 302, 303, 307, 308])("%d", async (status) => {
    const target = await foreignService(() => ({ json: good }));
    const service = await foreignService(() => ({
      status,
      headers: { location: `${target.url}/x` },
      text: "",
    }));
    const error = await failureOf(devalue(service));
    expect(error).toMatchObject({ name: "ProtocolError", code: "redirected", status });
    expect(target.received).toEqual([]);
  });
});

describe("cancelDevalue", () => {
  const cancel = (service: ForeignService) => clientOf(service).cancelDevalue({ cancelToken: secrets.cancelToken });

  it.each<[number, string]>([
    [401, "unauthorized"],
    [404, "token_invalid"],
    [409, "token_used"],
    [422, "invalid_request"],
  ])("%d is %s", async (status, code) => {
    const service = await foreignService(() => ({ status, json: { success: false, error: "No." } }));
    expect(await failureOf(cancel(service))).toMatchObject({ name: "RefusedError", code });
  });

  it("is sent once if there is no response", async () => {
    const service = await foreignService(() => ({ status: 503, json: {} }));
    expect(await failureOf(cancel(service))).toMatchObject({ name: "UnreachableError", code: "overloaded" });
    expect(service.received).toHaveLength(1);
  });

  it("succeeds only if the response is complete", async () => {
    const service = await foreignService(() => ({ json: { success: true, amount_refunded: 5000 } }));
    expect(await failureOf(cancel(service))).toMatchObject({
      name: "ProtocolError",
      code: "unexpected_answer",
    });
  });
});
