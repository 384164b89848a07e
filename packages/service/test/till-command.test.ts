import { randomUUID } from "node:crypto";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, describe, expect, test } from "vitest";
import { runCommand, type TestCompany } from "../../../test/support/service.js";
import { databaseForFile, serviceForFile } from "./service-for-file.js";
import { createTill, issueActive, issueStock, type StockCard, type TestTill } from "./till-calls.js";

const service = serviceForFile({ environment: "sandbox" });
const db = databaseForFile(service);
const closing: http.Server[] = [];
let made: { till: TestTill; company: TestCompany } | undefined;

afterAll(async () => {
  for (const server of closing) server.close();
});

const useTill = async () => {
  if (made) return made;
  const company = await service.createCompany();
  made = { company, till: await createTill(service, company) };
  return made;
};
/** Runs a command of a till, with its key in the environment. */
const run = async (words: string[], { url = service.url, stdin = "", key = "" } = {}) => {
  const env = { GIFTCARD_TILL_KEY: key || (await useTill()).till.apikey };
  const { exitCode, stdout, stderr } = await runCommand(["till", ...words, "--url", url, "--json"], env, stdin);
  return { exitCode, stderr, value: stdout === "" ? undefined : JSON.parse(stdout) };
};
const balanceOf = async ({ card }: StockCard): Promise<number> =>
  (await db.query("select balance_cents::int as cents from cards where id = $1", [card])).rows[0].cents;

/** Starts a proxy before the service, which treats the first calls in its own way. */
async function proxy(treat: (call: number, answer: http.ServerResponse) => "pass" | "lose answer" | "answered") {
  let calls = 0;
  const server = http.createServer(async (incoming, outgoing) => {
    const treated = treat(calls++, outgoing);
    if (treated === "answered") return;
    const body = await new Response(incoming as never).text();
    const { "content-type": type, "idempotency-key": key } = incoming.headers as Record<string, string>;
    const headers = { "Content-Type": type as string, "Idempotency-Key": key as string };
    const answer = await fetch(service.url + incoming.url, { method: "POST", headers, body });
    const text = await answer.text();
    if (treated === "lose answer") return void outgoing.destroy();
    outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
    outgoing.end(text);
  });
  closing.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls: () => calls };
}

describe("till activate and till top-up", () => {
  test("put money on a card, with the key in the environment", async () => {
    const card = await issueStock(service, 2500);
    const activated = await run(["activate", card.cardnumber]);
    expect(activated).toMatchObject({
      exitCode: 0,
      value: {
        loaded: 2500,
        replayed: false,
        environment: "sandbox",
        idempotency_key: expect.stringMatching(/^till_/),
      },
    });
    expect(activated.stderr).toBe(`idempotency key: ${activated.value.idempotency_key}\n`);
    expect((await run(["top-up", card.cardnumber, "--amount", "300"])).value).toMatchObject({ loaded: 300 });
    expect(await balanceOf(card)).toBe(2800);
  });

  test("read the key and the card number from standard input", async () => {
    const [card, { till }] = [await issueStock(service, 2500), await useTill()];
    const grouped = card.cardnumber.replace(/(.{4})/g, "$1 ").trim();
    const stdin = `${till.apikey}\n${grouped}\n`;
    const answer = await run(["activate", "-", "--key-stdin"], { stdin, key: "another" });
    expect([answer.exitCode, await balanceOf(card)]).toEqual([0, 2500]);
  });

  test("repeat an earlier command by its Idempotency-Key", async () => {
    const [card, key] = [await issueActive(service, 0), randomUUID()];
    const words = ["top-up", card.cardnumber, "--amount", "700", "--idempotency-key", key];
    expect((await run(words)).value).toMatchObject({ loaded: 700, replayed: false, idempotency_key: key });
    expect((await run(words)).value).toMatchObject({ loaded: 700, replayed: true, idempotency_key: key });
    expect(await balanceOf(card)).toBe(700);
    const found = (await service.command("transactions", "--reference", key)) as object[];
    expect(found).toEqual([expect.objectContaining({ kind: "top_up", amount: 700, card: card.card })]);
  });

  test("exit with 4 and the service's reason if they are refused", async () => {
    const card = await issueStock(service, 2500);
    const wrong = await run(["activate", card.cardnumber, "--amount", "100"]);
    expect([wrong.exitCode, wrong.value.error]).toEqual([4, expect.stringContaining("amount must be the amount")]);
    const twice = [await run(["activate", card.cardnumber]), await run(["activate", card.cardnumber])];
    expect(twice.map(({ exitCode }) => exitCode)).toEqual([0, 4]);
    const { company } = await useTill();
    const foreign = await run(["top-up", card.cardnumber, "--amount", "1"], { key: company.apiKey });
    expect([foreign.exitCode, await balanceOf(card)]).toEqual([4, 2500]);
  });

  test.each([["http://shop.example"], ["https://user:pw@shop.example"], ["ftp://127.0.0.1"], ["shop.example"]])(
    "reject the address %s, where the key could be read",
    async (url) => {
      expect((await run(["activate", "9528000000000000000"], { url })).exitCode).toBe(2);
    },
  );
});

describe("if the answer is lost", () => {
  test("the command repeats the call itself, and the money is on the card once", async () => {
    const card = await issueActive(service, 0);
    const { url, calls } = await proxy((call) => (call < 2 ? "lose answer" : "pass"));
    const answer = await run(["top-up", card.cardnumber, "--amount", "900"], { url });
    expect(answer).toMatchObject({ exitCode: 0, value: { loaded: 900, replayed: true } });
    expect([calls(), await balanceOf(card)]).toEqual([3, 900]);
  });

  test("a command that gives up names the key with which it can be repeated", async () => {
    const card = await issueStock(service, 2500);
    const { url } = await proxy(() => "lose answer");
    const lost = await run(["activate", card.cardnumber, "--wait", "1"], { url });
    expect([lost.exitCode, lost.value]).toEqual([
      1,
      { error: expect.stringContaining("--idempotency-key till_"), exit_code: 1, idempotency_key: expect.any(String) },
    ]);
    const again = await run(["activate", card.cardnumber, "--idempotency-key", lost.value.idempotency_key]);
    expect(again).toMatchObject({ exitCode: 0, value: { loaded: 2500, replayed: true } });
    expect(await balanceOf(card)).toBe(2500);
  });

  test("an answer that does not echo the Idempotency-Key is not believed", async () => {
    const card = await issueActive(service, 0);
    const forged = await proxy((call, answer) => {
      if (call > 0) return "pass";
      answer.writeHead(502).end("bad gateway");
      return "answered";
    });
    const answer = await run(["top-up", card.cardnumber, "--amount", "100"], { url: forged.url });
    expect([answer.exitCode, forged.calls(), await balanceOf(card)]).toEqual([0, 2, 100]);
    const moved = await proxy((_call, answer) => {
      answer.writeHead(307, { Location: `${service.url}/till/v1/top-up` }).end();
      return "answered";
    });
    const redirected = await run(["top-up", card.cardnumber, "--amount", "100"], { url: moved.url });
    expect([redirected.exitCode, moved.calls(), await balanceOf(card)]).toEqual([4, 1, 100]);
  });
});
