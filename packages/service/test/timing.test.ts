// @module-tag long
import http from "node:http";
import { BASE_PATH, type EndpointName, endpoints } from "@giftcard-pay/client/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestCard, TestCompany } from "../../../test/support/service.js";
import { serviceForFile } from "./service-for-file.js";
import { basic, onCard } from "./wire.js";

const PAIRS = 600;
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
const service = serviceForFile({
  limits: {
    ...{ callsPerMinute: 0, companyCallsPerMinute: 0, login: { failures: 1000 } },
    ...{ card: { failures: 1000, slowFailures: 0 }, companyPins: { failures: 0 } },
  },
});
let company: TestCompany;

beforeAll(async () => {
  company = await service.createCompany();
});

afterAll(async () => {
  agent.destroy();
});

/** Returns how long a call takes, in milliseconds. All calls use the same connection. */
function timeOf(name: EndpointName, body: string, status: number, headers = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const type = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
    const request = http.request(
      service.url + BASE_PATH + endpoints[name].path,
      { agent, method: "POST", headers: { ...type, ...headers } },
      (response) => {
        response.resume().once("end", () => {
          if (response.statusCode === status) resolve(performance.now() - startedAt);
          else reject(new Error(`${name} answered ${response.statusCode}`));
        });
      },
    );
    request.once("error", reject);
    request.end(body);
  });
}

const guess = (card: Pick<TestCard, "cardNumber" | "pin">, status: number) =>
  timeOf("balance", JSON.stringify(onCard(company, card as TestCard)), status);

/** Runs both calls alternately, in changing order, so that a slow moment of the machine affects both. */
async function compare(pairs: number, one: (index: number) => Promise<number>, other: typeof one) {
  const times: [number[], number[]] = [[], []];
  for (let index = 0; index < pairs; index++) {
    for (const which of index % 2 ? ([0, 1] as const) : ([1, 0] as const)) {
      times[which].push(await (which === 0 ? one : other)(index));
    }
  }
  return times;
}

/**
 * Returns how often a time of the first list is longer than one of the second: 0.5 if they cannot be told apart, 0 or 1 if
 * they always can. With n pairs and no difference, the result deviates from 0.5 by about 1/sqrt(6n).
 */
function advantage([first, second]: [number[], number[]]): number {
  let longer = 0;
  for (const a of first) for (const b of second) longer += a > b ? 1 : a === b ? 0.5 : 0;
  return longer / (first.length * second.length);
}

const median = (times: number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] as number;

test("an unknown number and a wrong PIN can't be told apart by time", async () => {
  const cards = await Promise.all(Array.from({ length: 4 }, () => service.issueCard({ balanceCents: 100 })));
  const known = (index: number) => cards[index % cards.length] as TestCard;
  const wrongPin = (index: number) => guess({ ...known(index), pin: "wrong1" }, 400);
  const unknownNumber = (index: number) =>
    guess({ cardNumber: `${known(index).cardNumber.slice(0, -4)}0000`, pin: "wrong1" }, 400);
  await compare(50, wrongPin, unknownNumber);
  const times = await compare(PAIRS, wrongPin, unknownNumber);
  // The limit is four times the deviation that chance alone causes.
  const deviation = 1 / Math.sqrt(6 * PAIRS);
  expect(Math.abs(advantage(times) - 0.5)).toBeLessThan(4 * deviation);

  // The same measure detects a real difference: a call that ends one statement earlier.
  const nobody = { ...onCard(company, known(0)), apikey: "nobody's" };
  const sooner = () => compare(100, wrongPin, () => timeOf("balance", JSON.stringify(nobody), 401));
  // A busy machine hides it at times.
  await expect.poll(async () => advantage(await sooner()) - 0.5).toBeGreaterThan(4 * deviation);
});

test("an unknown email and a wrong password take about the same time", async () => {
  const login = (email: string) => timeOf("authenticate", "", 401, basic(email, "wrong"));
  const times = await compare(
    16,
    () => login(company.email),
    (index) => login(`nobody-${index}@example.nl`),
  );
  const [known, unknown] = times.map(median) as [number, number];
  expect(Math.max(known, unknown) / Math.min(known, unknown)).toBeLessThan(1.5);
});
