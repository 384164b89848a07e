import { BASE_PATH, type EndpointName, endpoints } from "@giftcard-pay/client/contract";
import fc from "fast-check";
import type { TestCard, TestCompany } from "../../../test/support/service.js";

/** The bytes of one connection, the places where they are split into several writes, and how the sender leaves. */
export interface MalformedConnection {
  readonly bytes: Buffer;
  readonly cuts: readonly number[];
  readonly leaves: "waits" | "half-closes" | "vanishes";
}

const names = Object.keys(endpoints) as EndpointName[];

/** Generates malformed bodies around parameters that are valid enough to reach the database. */
function bodies(company: TestCompany, card: TestCard): fc.Arbitrary<Buffer> {
  const good = {
    apikey: company.apiKey,
    company_id: company.companyId,
    cardnumber: card.cardNumber,
    pin: card.pin,
    amount: 1,
    cancel_token: "0".repeat(64),
    representative: "R",
    register: "R",
    eventprovider_id: 1,
    events: [{ eventprovider_id: "1", event_name: "N", event_organiser: "O" }],
  };
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 80 }),
    fc.constantFrom(
      "\0",
      "a\0b",
      "\ud800",
      "\u202e",
      "__proto__",
      "'; drop table cards; --",
      "%00",
      "%",
      "x".repeat(5000),
      "NaN",
      "Infinity",
      "1e400",
      "-0",
      "9".repeat(400),
      "0x10",
      "2147483648",
    ),
  );
  const odd: fc.Arbitrary<unknown> = fc.oneof(
    text,
    fc.double(),
    fc.bigInt().map(String),
    fc.constantFrom(null, true, [], {}, 1e308, Number.MAX_SAFE_INTEGER + 2, -1, 2 ** 31, 2 ** 63),
    fc.array(text, { maxLength: 3 }),
    fc.dictionary(text, text, { maxKeys: 3 }),
  );
  const invalid = fc
    .tuple(fc.subarray(Object.keys(good), { maxLength: 3 }), fc.array(odd, { minLength: 3, maxLength: 3 }))
    .map(([fields, values]) => ({
      ...good,
      ...Object.fromEntries(fields.map((field, index) => [field, values[index]])),
    }));
  const asJson = invalid.map((value) => Buffer.from(JSON.stringify(value)));
  const asForm = fc
    .dictionary(fc.constantFrom(...Object.keys(good)), text)
    .map(
      (changes) =>
        new URLSearchParams(Object.entries({ ...good, ...changes }).map(([k, v]): [string, string] => [k, String(v)])),
    )
    .map((form) => Buffer.from(form.toString()));
  const nested = fc
    .tuple(fc.integer({ min: 1, max: 60_000 }), fc.constantFrom("[", '{"a":', '{"events":[', '{"cardnumber":{"x":'))
    .map(([depth, open]) => Buffer.from(open.repeat(depth).slice(0, 250_000)));
  const hugeNumber = fc
    .tuple(fc.constantFrom("amount", "company_id", "cardnumber", "events"), fc.integer({ min: 10, max: 100_000 }))
    .map(([field, digits]) => {
      const { [field as "amount"]: _, ...rest } = good;
      return Buffer.from(`${JSON.stringify(rest).slice(0, -1)},"${field}":${"9".repeat(digits)}}`);
    });
  const duplicates = fc.constantFrom("apikey", "amount", "pin", "__proto__", "constructor").map((field) => {
    const once = JSON.stringify(good).slice(1, -1);
    return Buffer.from(`{${once},"${field}":"x","${field}":{"${field}":1},${once}}`);
  });
  const otherEncoding = fc
    .constantFrom<BufferEncoding>("utf16le", "latin1", "base64")
    .map((encoding) => Buffer.from(`\ufeff${JSON.stringify({ ...good, register: "é€" })}`, encoding));
  const withNul = fc
    .integer({ min: 0, max: 200 })
    .map((at) => Buffer.concat([Buffer.from(JSON.stringify(good)).subarray(0, at), Buffer.from([0, 0xff, 0xc0])]));
  const anything = fc.uint8Array({ maxLength: 2000 }).map((bytes) => Buffer.from(bytes));
  return fc.oneof(
    { arbitrary: asJson, weight: 12 },
    { arbitrary: asForm, weight: 4 },
    nested,
    hugeNumber,
    duplicates,
    otherEncoding,
    withNul,
    anything,
  );
}

const contentTypes = fc.oneof(
  { arbitrary: fc.constantFrom("application/json", "application/x-www-form-urlencoded"), weight: 6 },
  fc.constantFrom(
    "application/json; charset=utf-16",
    "application/json;charset=",
    "multipart/form-data; boundary=x",
    "text/plain",
    "",
    ";",
    "APPLICATION/JSON",
  ),
);

/** Generates requests as bytes. Their headers may contradict their bodies. */
const requests = (company: TestCompany, card: TestCard): fc.Arbitrary<Buffer> =>
  fc
    .record({
      name: fc.constantFrom(...names),
      method: fc.oneof(
        { arbitrary: fc.constant(undefined), weight: 30 },
        fc.constantFrom("GET", "PUT", "HEAD", "OPTIONS", "BREW", "CONNECT", "TRACE"),
      ),
      path: fc.oneof(
        { arbitrary: fc.constant(undefined), weight: 30 },
        fc.constantFrom(
          "//",
          "/%",
          "/%00",
          "/../../etc/passwd",
          "*",
          "http://x/",
          `/${"a".repeat(9000)}`,
          "/healthz?%",
        ),
      ),
      body: bodies(company, card),
      contentType: contentTypes,
      length: fc.oneof(
        { arbitrary: fc.constant("true"), weight: 20 },
        fc.constantFrom("more", "less", "huge", "negative", "words", "twice", "both", "chunked", "bad chunks", "none"),
      ),
      extra: fc.oneof(
        { arbitrary: fc.constant(""), weight: 20 },
        fc.constantFrom(
          "Content-Encoding: gzip\r\n",
          "Expect: 100-continue\r\n",
          "Expect: the worst\r\n",
          "Idempotency-Key: k\r\n",
          "Idempotency-Key: a\r\nIdempotency-Key: b\r\n",
          "Idempotency-Key: \x01\r\n",
          "Idempotency-Key: \xff\xfe\r\n",
          "Authorization: Basic AAAA\r\n",
          "Authorization: Basic Og==\r\n",
          "Authorization: Basic AAA6AAA=\r\n",
          "Upgrade: websocket\r\nConnection: Upgrade\r\n",
          "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n",
          "X-Forwarded-For: ,,,\r\n",
          "Host: other\r\n",
          "No colon\r\n",
          ": no name\r\n",
          `X: ${"y".repeat(20_000)}\r\n`,
        ),
      ),
    })
    .map(({ name, method, path, body, contentType, length, extra }) => {
      const row = endpoints[name];
      const lengths: Record<string, string> = {
        true: `Content-Length: ${body.length}\r\n`,
        more: `Content-Length: ${body.length + 100}\r\n`,
        less: `Content-Length: ${Math.floor(body.length / 2)}\r\n`,
        huge: "Content-Length: 99999999999999999999\r\n",
        negative: "Content-Length: -1\r\n",
        words: "Content-Length: many\r\n",
        twice: `Content-Length: ${body.length}\r\nContent-Length: 1\r\n`,
        both: `Content-Length: ${body.length}\r\nTransfer-Encoding: chunked\r\n`,
        chunked: "Transfer-Encoding: chunked\r\n",
        "bad chunks": "Transfer-Encoding: chunked\r\n",
        none: "",
      };
      const chunked = [Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from("\r\n0\r\n\r\n")];
      const badChunks = [Buffer.from("fffffffffffffffff\r\n"), body, Buffer.from("zz\r\n\r\n")];
      const payload = length === "chunked" ? chunked : length === "bad chunks" ? badChunks : [body];
      const line = `${method ?? row.method} ${path ?? BASE_PATH + row.path} HTTP/1.1\r\n`;
      const head = `${line}Host: x\r\nContent-Type: ${contentType}\r\n${lengths[length]}${extra}\r\n`;
      return Buffer.concat([Buffer.from(head, "latin1"), ...payload]);
    });

/** Generates connections with one request, several pipelined requests, a truncated request, or bytes that are not HTTP. */
export function malformedConnections(company: TestCompany, card: TestCard): fc.Arbitrary<MalformedConnection> {
  const request = requests(company, card);
  const valid = Buffer.from(`GET ${BASE_PATH}get_providers HTTP/1.1\r\nHost: x\r\n\r\n`);
  const pipelined = fc
    .array(fc.oneof(request, fc.constant(valid)), { minLength: 2, maxLength: 12 })
    .map((all) => Buffer.concat(all));
  const truncated = fc
    .tuple(request, fc.double({ min: 0, max: 1, noNaN: true }))
    .map(([bytes, part]) => bytes.subarray(0, Math.floor(bytes.length * part)));
  const noise = fc.uint8Array({ maxLength: 3000 }).map((bytes) => Buffer.from(bytes));
  return fc.record({
    bytes: fc.oneof({ arbitrary: request, weight: 6 }, pipelined, truncated, noise),
    cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 3 }),
    leaves: fc.constantFrom("waits", "waits", "half-closes", "vanishes"),
  });
}
