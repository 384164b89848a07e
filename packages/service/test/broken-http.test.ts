import net from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startGiftcardService, type TestService } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";

let service: TestService;

beforeAll(async () => {
  service = await startGiftcardService({ databaseUrl: await testDatabase() });
});

afterAll(() => service.stop());

/** Writes bytes as they are, and gives all that comes back until the connection ends. */
function exchange(bytes: string): Promise<string> {
  const { port, hostname } = new URL(service.url);
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), hostname, () => socket.write(bytes));
    let received = "";
    socket.on("data", (chunk) => (received += chunk));
    socket.once("error", reject);
    socket.once("close", () => resolve(received));
  });
}

const head = "POST /api/endpoint/v1/devalue HTTP/1.1\r\nHost: x\r\n";

test.each([
  ["no HTTP", 400, "hello\r\n\r\n"],
  ["headers without end", 431, `${head}X: ${"x".repeat(40_000)}`],
  ["headers that stop", 408, head],
])("%s is answered in JSON with %s, and the connection ends", async (_what, status, bytes) => {
  const received = await exchange(bytes);
  const [top = "", body = ""] = received.split("\r\n\r\n");
  expect(top).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(top).toMatch(/^x-request-id: [0-9a-f-]{36}$/im);
  expect(JSON.parse(body)).toEqual({ error: expect.any(String) });
});

test("a caller that goes away in the middle of its body is no failure of the service", async () => {
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
