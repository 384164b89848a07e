import net from "node:net";
import { beforeAll, expect, test } from "vitest";
import type { TestCard, TestCompany } from "../../../test/support/service.js";
import { serviceForFile } from "./service-for-file.js";
import { call, onCard } from "./wire.js";

const service = serviceForFile({ timeouts: { headersMs: 2000, requestMs: 3000 } });
let company: TestCompany;
let card: TestCard;

beforeAll(async () => {
  company = await service.createCompany();
  card = await service.issueCard({ balanceCents: 5000 });
});

/** Sends bytes, and returns everything that is received. If `halfCloses`, it closes its own side after sending. */
function exchange(bytes: string, halfCloses = false): Promise<string> {
  const { port, hostname } = new URL(service.url);
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), hostname, () => (halfCloses ? socket.end(bytes) : socket.write(bytes)));
    let received = "";
    socket.on("data", (chunk) => (received += chunk));
    socket.once("error", reject);
    socket.once("close", () => resolve(received));
  });
}

const head = "POST /api/endpoint/v1/devalue HTTP/1.1\r\nHost: x\r\n";

const form = "Content-Type: application/x-www-form-urlencoded\r\n";
const get = (target: string, headers = "Host: x\r\n") => `GET ${target} HTTP/1.1\r\n${headers}\r\n`;

test.each([
  ["plain text", 400, "hello\r\n\r\n"],
  ["TLS", 400, "\x16\x03\x01\x02\x00\x01\x00\x01"],
  ["HTTP/2", 400, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ["no Host", 400, get("/healthz", "")],
  ["an invalid Host", 400, get("/healthz", "Host: a b\r\n")],
  ["two Host headers", 400, get("/healthz", "Host: x\r\nHost: y\r\n")],
  ["an invalid address", 400, get("http://[/healthz")],
  ["OPTIONS *", 400, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"],
  ["a header without a colon", 400, get("/healthz", "Host: x\r\nno colon\r\n")],
  ["a repeated Content-Length", 400, `${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\na`],
  ["Content-Length with chunks", 400, `${head}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ["a chunk with an invalid size", 400, `${head}${form}Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
  ["an oversized chunk extension", 413, `${head}${form}Transfer-Encoding: chunked\r\n\r\n1;${"x".repeat(20_000)}\r\n`],
  ["CONNECT to another host", 405, "CONNECT example.nl:443 HTTP/1.1\r\nHost: x\r\n\r\n"],
  ["an unknown expectation", 417, get("/healthz", "Host: x\r\nExpect: the best\r\n")],
  ["oversized headers", 431, `${head}X: ${"x".repeat(40_000)}`],
  ["incomplete headers", 408, head],
  ["an incomplete body", 408, `${head}${form}Content-Length: 50\r\n\r\napikey=`],
  ["GET *", 400, get("*")],
  ["an ftp address", 400, get("ftp://x/healthz")],
])("%s gets a JSON answer with status %s, and the connection is closed", async (_what, status, bytes) => {
  const received = await exchange(bytes);
  const [top = "", body = ""] = received.split("\r\n\r\n");
  expect(top).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(top).toMatch(/^x-request-id: [0-9a-f-]{36}$/im);
  expect(JSON.parse(body)).toEqual({ error: expect.any(String) });
});

test.each([
  ["HTTP/1.0 without a Host", "GET /readyz HTTP/1.0\r\n\r\n"],
  ["an empty Host", get("/readyz", "Host:\r\nConnection: close\r\n")],
  ["an absolute address", get("http://x/readyz", "Host: x\r\nConnection: close\r\n")],
])("%s is accepted", async (_what, bytes) => {
  expect(await exchange(bytes)).toMatch(/^HTTP\/1.1 200 .*"status":"ready"/s);
});

test.each(["/docs/../healthz", "/x/%2e%2e/healthz", "/./healthz", "//x/healthz", "http://x/docs/../healthz"])(
  "%s is not resolved, so that a proxy's rule for a path cannot be bypassed",
  async (target) => {
    expect(await exchange(get(target, "Host: x\r\nConnection: close\r\n"))).toMatch(/^HTTP\/1.1 404 /);
  },
);

/** Returns the bytes of a devalue of 100 cents. */
const devalue = () => {
  const body = new URLSearchParams({ ...onCard(company, card), amount: "100" } as never).toString();
  return `${head}${form}Content-Length: ${body.length}\r\n\r\n${body}`;
};
const balance = async () => (await call(service.url, "balance", onCard(company, card))).body.balance;
const statusesOf = (received: string) =>
  [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

test.each([
  ["garbage", [200], "garbage\r\n\r\n"],
  ["an extra byte", [200], "0"],
  ["another call and then garbage", [200, 200], `${get("/healthz")}garbage\r\n\r\n`],
  ["a call with a malformed body", [200], `${head}${form}Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
  ["CONNECT to another host", [200], "CONNECT example.nl:443 HTTP/1.1\r\nHost: x\r\n\r\n"],
])("a devalue gets its answer even if %s follows", async (_what, statuses, rest) => {
  const before = await balance();
  const received = await exchange(devalue() + rest);
  expect(received).toContain('"amount_deducted":100,');
  expect(statusesOf(received).slice(0, statuses.length)).toEqual(statuses);
  expect(await balance()).toBe(before - 100);
});

test("a caller that half-closes the connection after its call still gets the answer", async () => {
  const before = await balance();
  expect(await exchange(devalue(), true)).toContain('"amount_deducted":100,');
  expect(await balance()).toBe(before - 100);
  expect(await exchange(head, true)).toMatch(/^HTTP\/1.1 400 /);
});

test("a caller that disconnects in the middle of a body causes no error", async () => {
  const { port, hostname } = new URL(service.url);
  await new Promise<void>((resolve) => {
    const socket = net.connect(Number(port), hostname, () => {
      socket.write(`${head}Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{"apikey`, () => {
        setTimeout(() => socket.destroy(), 100);
      });
    });
    socket.once("close", () => resolve());
  });
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  expect(service.logs()).not.toContain('"level":"error"');
});
