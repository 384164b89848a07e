// @module-tag long

import { once } from "node:events";
import http from "node:http";
import { beforeAll, expect, test } from "vitest";
import type { TestCard, TestCompany } from "../../../test/support/service.js";
import { databaseForFile, serviceForFile } from "./service-for-file.js";
import { call, onCard } from "./wire.js";

/** `EVENTS=100000` runs a longer test. */
const EVENTS = Number(process.env.EVENTS ?? 20_000);
const LISTINGS = 4;
/** If listings blocked other calls, only one or two devalues would pass. `npm run bench` measures their times. */
const MIN_DEVALUES = 20;

const service = serviceForFile({ args: ["--calls-per-minute", "0", "--idle-timeout", "5"] });
const db = databaseForFile(service);
let company: TestCompany;
let card: TestCard;

beforeAll(async () => {
  company = await service.createCompany();
  card = await service.issueCard({ balanceCents: 10_000_000 });
  const { id } = await service.createProvider();
  await db.query(
    `insert into events (company_id, provider_id, name, organiser, start_date, start_time, ticket_link, city, introduction_text)
       select $1, $2, 'Concert ' || n, 'Zaal BV', '2099-06-01', '20:30', 'https://tickets.example.nl/' || n, 'Utrecht',
         repeat('An evening of music. ', 10) from generate_series(1, $3::int) n`,
    [company.companyId, id, EVENTS],
  );
});

interface Listing {
  readonly answer: http.IncomingMessage;
  /** Reads the whole answer. Rejects if the connection is closed before the end. */
  read(): Promise<string>;
}

/** Starts a listing. Its answer is not read until `read` is called. */
function list(signal?: AbortSignal): Promise<Listing> {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify({ apikey: company.apiKey });
    const request = http.request(
      `${service.url}/api/endpoint/v1/getallevents`,
      { method: "POST", headers: { "Content-Type": "application/json" }, agent: false, signal },
      (answer) => {
        const read = async () => {
          let text = "";
          for await (const chunk of answer.setEncoding("utf8")) text += chunk;
          return text;
        };
        resolve({ answer, read });
      },
    );
    request.once("error", reject).end(body);
  });
}

/** Returns the number of calls in progress, by the service's metrics. */
async function inFlight(): Promise<number> {
  const metrics = await service.metrics();
  return Number(/^giftcard_calls_in_flight (\d+)$/m.exec(metrics)?.[1]);
}

const devalue = async () => {
  const { status } = await call(service.url, "devalue", { ...onCard(company, card), amount: 1 });
  expect(status).toBe(200);
};

test("a long list is one JSON array with every event, oldest first", async () => {
  const { answer, read } = await list();
  expect([answer.statusCode, answer.headers["content-type"]]).toEqual([200, "application/json"]);
  expect(answer.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
  const events = JSON.parse(await read());
  expect(events).toHaveLength(EVENTS);
  expect(events[0]).toMatchObject({ title: "Concert 1", location: "Utrecht", end_date: null });
  expect(events.at(-1)).toMatchObject({ title: `Concert ${EVENTS}` });
  const ids = events.map(({ id }: { id: number }) => id);
  expect(ids).toEqual(ids.toSorted((a: number, b: number) => a - b));
  await expect.poll(() => service.logs()).toContain(answer.headers["x-request-id"]);
});

test(`during ${LISTINGS} listings of ${EVENTS} events, devalues continue, and many end before the listings`, {
  tags: "long",
}, async () => {
  let isOver = false;
  const listed = Array.from({ length: LISTINGS }, async () => {
    const { answer } = await list();
    answer.resume();
    await once(answer, "end");
  });
  const all = Promise.all(listed).finally(() => (isOver = true));
  let devalues = 0;
  for (; !isOver; devalues++) await devalue();
  await all;
  expect(devalues).toBeGreaterThan(MIN_DEVALUES);
});

test("listings that their caller does not read delay further listings of the same company, but no other calls", {
  tags: "long",
}, async () => {
  const stuck = await Promise.all(Array.from({ length: LISTINGS }, () => list()));
  let isAnswered = false;
  const next = list().then((listing) => {
    isAnswered = true;
    return listing;
  });
  for (let count = 0; count < 10; count++) await devalue();
  expect(isAnswered).toBe(false);
  for (const { answer } of stuck) answer.destroy();
  expect(JSON.parse(await (await next).read())).toHaveLength(EVENTS);
});

test("a caller that gives up while it waits for its turn leaves the turn to the next", { tags: "long" }, async () => {
  const stuck = await Promise.all(Array.from({ length: LISTINGS }, () => list()));
  const givingUp = new AbortController();
  const gone = Array.from({ length: LISTINGS * 3 }, () =>
    list(givingUp.signal).then(
      () => "answered",
      () => "gone",
    ),
  );
  await expect.poll(inFlight).toBe(LISTINGS * 4);
  givingUp.abort();
  expect(new Set(await Promise.all(gone))).toEqual(new Set(["gone"]));
  for (const { answer } of stuck) answer.destroy();
  expect(JSON.parse(await (await list()).read())).toHaveLength(EVENTS);
  await expect.poll(inFlight).toBe(0);
});

test("a listing that fails midway closes its connection, so that the caller cannot mistake it for a complete one", async () => {
  const { answer, read } = await list();
  await db.query("alter table events rename to gone");
  await expect(read()).rejects.toThrow("aborted");
  await db.query("alter table gone rename to events");
  const line = () =>
    service
      .logs()
      .split("\n")
      .find((one) => one.includes(String(answer.headers["x-request-id"])) && one.includes('"call"'));
  await expect.poll(() => JSON.parse(line() ?? "{}").outcome).toBe("internal");
  expect(service.logs()).not.toContain("gone");
});
