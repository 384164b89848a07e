import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startGiftcardService, type TestCompany, type TestService } from "../../../test/support/service.js";
import { testDatabase } from "../../../test/support/test-database.js";
import { operatorShell } from "./operator-shell.js";
import { type Answer, asJson, type FakeShop, feedOf, show, startFakeShop } from "./played-shop.js";
import { call, eventInput } from "./wire.js";

// These tests run the command as an operator does, and check the events that the service lists afterwards.
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "giftcard-pull-"));
let service: TestService;
let shop: FakeShop;
let shell: ReturnType<typeof operatorShell>;
let db: pg.Client;
let provider: { id: number };

beforeAll(async () => {
  const secretsFile = path.join(folder, "secrets.json");
  service = await startGiftcardService({ databaseUrl: await testDatabase(), secretsFile });
  shell = operatorShell(service.databaseUrl, secretsFile);
  shop = await startFakeShop();
  Object.assign(shell.env, shop.env);
  shop.trust();
  db = new pg.Client({ connectionString: service.databaseUrl });
  await db.connect();
  provider = await service.createProvider();
});
afterEach(() => void shop.requests.splice(0));
afterAll(async () => {
  await db.end();
  await service.stop();
  await shop.close();
  fs.rmSync(folder, { recursive: true });
});

const pullWords = ({ companyId }: TestCompany, ...more: string[]) => [
  "events",
  "pull",
  "--company",
  String(companyId),
  ...more,
];
const firstPullWords = (company: TestCompany, ...more: string[]) =>
  pullWords(company, "--url", shop.url, "--allow-private", ...more);
const list = async ({ apiKey }: TestCompany) => {
  const { body } = await call(service.url, "listEvents", { apikey: apiKey });
  return body as { id: number; title: string; ticket_link: string; updated_at: string }[];
};
const titles = async (company: TestCompany) => (await list(company)).map(({ title }) => title);

test("a feed creates, changes and withdraws events; an event that returns keeps its id", async () => {
  const company = await service.createCompany();
  await shop.serveFeed([show("a"), show("b"), show("c"), show("d", { state: "withdrawn" })]);
  const made = await shell.succeed(...firstPullWords(company));
  expect(made).toEqual({
    company_id: company.companyId,
    url: shop.url,
    modified: true,
    created: ["a", "b", "c"],
    changed: [],
    withdrawn: [],
    unchanged: 1,
    dry_run: false,
  });
  const before = await list(company);
  expect(before.map(({ title }) => title)).toEqual(["Show a", "Show b", "Show c"]);

  await shop.serveFeed([show("a"), show("b", { title: "Other" }), show("c", { state: "canceled" }), show("e")]);
  expect(await shell.succeed(...pullWords(company))).toMatchObject({
    created: ["e"],
    changed: ["b"],
    withdrawn: ["c"],
    unchanged: 1,
  });
  const after = await list(company);
  expect(after.map(({ title }) => title)).toEqual(["Show a", "Other", "Show e"]);
  expect(after[0]).toEqual(before[0]);
  expect(after[1]?.id).toBe(before[1]?.id);
  expect(after[1]?.updated_at).not.toBe(before[1]?.updated_at);

  await shop.serveFeed([show("a"), show("c"), show("e")]);
  expect(await shell.succeed(...pullWords(company))).toMatchObject({
    created: [],
    changed: ["c"],
    withdrawn: ["b"],
    unchanged: 2,
  });
  expect((await list(company)).map(({ id, title }) => [id, title])).toEqual([
    [before[0]?.id, "Show a"],
    [before[2]?.id, "Show c"],
    [after[2]?.id, "Show e"],
  ]);
});

test("events of newevent stay unchanged unless the feed has their key and takes them over", async () => {
  const company = await service.createCompany();
  const other = await service.createCompany();
  const own = (event_key: string | undefined, more: object = {}) =>
    eventInput(provider.id, { event_name: `Own ${event_key}`, ...(event_key && { event_key }), ...more });
  const create = (apikey: string, events: unknown[]) => call(service.url, "createEvents", { apikey, events });
  await create(company.apiKey, [own("mine"), own(undefined), own("both"), own("off")]);
  await create(other.apiKey, [own("both")]);
  const before = await list(company);
  const others = await list(other);

  await shop.serveFeed([show("both", { providerId: provider.id }), show("off", { state: "canceled" })]);
  expect(await shell.succeed(...firstPullWords(company))).toMatchObject({
    created: [],
    changed: ["both"],
    withdrawn: ["off"],
  });
  const after = await list(company);
  expect(after.map(({ title }) => title)).toEqual(["Own mine", "Own undefined", "Show both"]);
  expect(after.map(({ id }) => id)).toEqual(before.slice(0, 3).map(({ id }) => id));

  // The event belongs to the feed now and leaves with it. Its key stays taken.
  await shop.serveFeed([show("new")]);
  await shell.succeed(...pullWords(company, "--accept-shrink", "--reason", "as they said"));
  expect(await titles(company)).toEqual(["Own mine", "Own undefined", "Show new"]);
  expect((await create(company.apiKey, [own("both")])).status).toBe(422);
  // Another company's event with the same key is not affected.
  expect(await list(other)).toEqual(others);
});

test("a feed that lacks more than half of its future events is held until an operator accepts it with a reason", async () => {
  const company = await service.createCompany();
  const past = { start: "2020-01-01T20:00:00" };
  const four = ["a", "b", "c", "d"].map((key) => show(key));
  await shop.serveFeed([...four, show("e", past), show("f", past)]);
  await shell.succeed(...firstPullWords(company));
  const before = await list(company);

  await shop.serveFeed([show("a")]);
  for (const more of [[], ["--dry-run"]]) {
    const held = await shell.run(pullWords(company, ...more));
    expect(held).toMatchObject({
      exitCode: 8,
      value: {
        exit_code: 8,
        created: [],
        changed: [],
        unchanged: 1,
        withdrawn: expect.arrayContaining(["b", "f"]),
      },
    });
    expect(held.stderr).toMatch(/lacks 3 of its 4 future events.*--accept-shrink and a --reason/);
    expect(await list(company)).toEqual(before);
  }
  expect((await shell.run(pullWords(company, "--accept-shrink"))).exitCode).toBe(2);
  await shell.succeed(...pullWords(company, "--accept-shrink", "--reason", "the season is over", "--as", "Mila"));
  expect(await titles(company)).toEqual(["Show a"]);
  const audit = await shell.succeed("audit", "--company", String(company.companyId));
  expect(audit.at(-1)).toMatchObject({
    operator: "Mila",
    reason: "the season is over",
    action: "events pull",
    details: { url: shop.url, created: 0, changed: 0, withdrawn: 5, accepted_shrink: true },
  });

  // Half is allowed. Events that the feed takes back and past events don't count as missing.
  await shop.serveFeed([...four, show("e", past), show("f", past)]);
  await shell.succeed(...pullWords(company));
  await shop.serveFeed([...four.slice(0, 2), show("c", { state: "withdrawn" })]);
  expect(await shell.succeed(...pullWords(company))).toMatchObject({
    withdrawn: expect.arrayContaining(["c", "d"]),
  });
  await shop.serveFeed([show("a", { state: "canceled" }), show("b", { state: "canceled" })]);
  expect(await shell.succeed(...pullWords(company))).toMatchObject({ withdrawn: ["a", "b"] });
  expect(await titles(company)).toEqual([]);
});

test("a killed pull changes nothing, and the next one applies everything", async () => {
  const company = await service.createCompany();
  await shop.serveFeed([show("a"), show("b")]);
  await shell.succeed(...firstPullWords(company));
  const before = await list(company);
  await shop.serveFeed([show("a", { title: "Other" }), show("c")]);
  // At this point, all changes are written but not committed.
  await shell.killAt(db, "audit_log", pullWords(company));
  expect(await list(company)).toEqual(before);
  expect(await shell.succeed(...pullWords(company))).toMatchObject({
    created: ["c"],
    changed: ["a"],
    withdrawn: ["b"],
  });
});

test("one of two concurrent pulls succeeds; the other changes nothing", async () => {
  const company = await service.createCompany();
  await shop.serveFeed([show("a")]);
  for (const words of [firstPullWords(company), pullWords(company)]) {
    const feeds = [await feedOf([show("a"), show("old")]), await feedOf([show("a"), show("new")])];
    const waiting: (() => void)[] = [];
    // Both pulls have started before either gets its answer.
    shop.answer = (request, response) => {
      const text = feeds[waiting.length] as string;
      waiting.push(() => void asJson(text)(request, response));
      if (waiting.length === 2) for (const go of waiting) go();
    };
    const ended = await Promise.all([shell.run(words), shell.run(words)]);
    expect(ended.map(({ exitCode }) => exitCode).sort()).toEqual([0, 4]);
    const done = ended.find(({ exitCode }) => exitCode === 0);
    expect(ended.find(({ exitCode }) => exitCode === 4)?.stderr).toMatch(/Another pull of this company/);
    const { created, changed } = done?.value ?? {};
    const [made] = [...created, ...changed].filter((key: string) => key !== "a");
    expect(await titles(company)).toEqual(["Show a", `Show ${made}`]);
    await shop.serveFeed([show("a")]);
    await shell.succeed(...pullWords(company));
  }
});

test("a pull that began before its feed was removed changes nothing, even if the company has another feed now", async () => {
  const notModified: Answer = (_request, response) => void response.writeHead(304).end();
  const answers = [asJson(await feedOf([show("a"), show("old")])), notModified, asJson("no feed")];
  for (const answer of answers) {
    const company = await service.createCompany();
    shop.answer = asJson(await feedOf([show("a")]), { ETag: '"one"' });
    await shell.succeed(...firstPullWords(company));
    let sendAnswer = () => {};
    const moved = new Promise<void>((resolve) => (sendAnswer = resolve));
    shop.answer = (request, response) => void moved.then(() => answer(request, response));
    shop.requests.splice(0);
    const begun = shell.run(pullWords(company));
    await expect.poll(() => shop.requests.length).toBe(1);
    await shell.succeed("events", "feed", "remove", "--company", String(company.companyId), "--reason", "moved");
    await shop.serveFeed([show("a"), show("new")]);
    await shell.succeed(...pullWords(company, "--url", `${shop.url}?moved`, "--allow-private"));
    const after = await shell.succeed("events", "feed", "list");
    sendAnswer();
    expect((await begun).exitCode).not.toBe(0);
    expect(await shell.succeed("events", "feed", "list")).toEqual(after);
    expect(await titles(company)).toEqual(["Show a", "Show new"]);
  }
});

test("all feeds are pulled in turn even if one fails, and the failure is reported", async () => {
  const companies = [await service.createCompany(), await service.createCompany()] as const;
  const [good, bad] = companies.map((company) => String(company.companyId)) as [string, string];
  const feeds = (await shell.succeed("events", "feed", "list")) as { company_id: number }[];
  for (const { company_id } of feeds)
    await shell.succeed("events", "feed", "remove", "--company", String(company_id), "--reason", "tidy");
  expect(await shell.succeed("events", "pull")).toEqual({ pulls: [] });

  await shop.serveFeed([show("a")]);
  for (const company of companies)
    await shell.succeed(...pullWords(company, "--url", `${shop.url}?of=${company.companyId}`, "--allow-private"));
  const text = await feedOf([show("a"), show("b")]);
  shop.answer = (request, response) => {
    if (request.url?.endsWith(`=${bad}`)) response.writeHead(503).end();
    else void asJson(text)(request, response);
  };
  const { exitCode, value, stderr } = await shell.run(["events", "pull"]);
  expect([exitCode, value.exit_code]).toEqual([1, 1]);
  expect(value.pulls).toEqual([
    expect.objectContaining({ company_id: Number(good), created: ["b"] }),
    expect.objectContaining({ company_id: Number(bad), exit_code: 1, error: expect.stringMatching(/503/) }),
  ]);
  expect(stderr).toMatch(/1 of 2 feeds could not be pulled/);
  expect(await shell.succeed("events", "feed", "list")).toEqual([
    {
      company_id: Number(good),
      url: `${shop.url}?of=${good}`,
      allow_private: true,
      pulled_at: expect.any(String),
      failed_at: null,
      failure: null,
    },
    expect.objectContaining({ failed_at: expect.any(String), failure: expect.stringMatching(/503/) }),
  ]);
  // Feeds of closed companies and removed feeds are not pulled; their events stay.
  await shell.succeed("company", "close", bad, "--reason", "left");
  expect(await shell.succeed("events", "pull")).toMatchObject({ pulls: [{ company_id: Number(good) }] });
  expect((await shell.run(pullWords(companies[1], "--url", shop.url, "--allow-private"))).exitCode).toBe(4);
  await shell.succeed("events", "feed", "remove", "--company", good, "--reason", "left");
  expect((await shell.run(pullWords(companies[0]))).exitCode).toBe(3);
  expect(await titles(companies[0])).toEqual(["Show a", "Show b"]);
  // The audit log omits the query of a feed's address.
  const audit = JSON.stringify(await shell.succeed("audit"));
  expect(audit).toContain(shop.url);
  expect(audit).not.toContain("?of=");
});

test("a pull without changes writes no entry into the audit log, except for the first pull of a feed", async () => {
  const company = await service.createCompany();
  await shop.serveFeed([]);
  const entries = async () =>
    (await shell.succeed("audit", "--company", String(company.companyId))).filter(
      ({ action }: { action: string }) => action === "events pull",
    );
  await shell.succeed(...firstPullWords(company, "--dry-run"));
  expect(await entries()).toEqual([]);
  await shell.succeed(...firstPullWords(company, "--reason", "agreed by mail"));
  await shell.succeed(...pullWords(company));
  expect(await entries()).toEqual([
    expect.objectContaining({
      reason: "agreed by mail",
      details: { url: shop.url, created: 0, changed: 0, withdrawn: 0, accepted_shrink: false },
    }),
  ]);
});

test.each([
  { more: ["--url", "http://shop.example/feed"], message: /https address.*--allow-private/ },
  { more: ["--url", "ftp://shop.example/feed"], message: /https address/ },
  { more: ["--url", "https://a:b@shop.example/feed"], message: /without a user or password/ },
  { more: ["--allow-private"], message: /--allow-private needs --url/ },
  { more: ["--every", "0"], message: /from 1 to/ },
  { more: ["--every", "5", "--dry-run"], message: /combined with --dry-run/ },
])("$more exits with 2", async ({ more, message }) => {
  const { exitCode, stderr } = await shell.run(["events", "pull", "--company", "1", ...more]);
  expect([exitCode, stderr]).toEqual([2, expect.stringMatching(message)]);
});

test("a pull exits with 3 if the company is unknown or has no feed", async () => {
  const nobody = ["events", "pull", "--company", "999999", "--url", shop.url];
  expect((await shell.run(nobody)).exitCode).toBe(3);
  const company = await service.createCompany();
  const { exitCode, stderr } = await shell.run(pullWords(company));
  expect([exitCode, stderr]).toEqual([3, expect.stringMatching(/no feed yet.*--url/)]);
  expect(shop.requests).toHaveLength(0);
});
