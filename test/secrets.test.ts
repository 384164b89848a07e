import { randomBytes } from "node:crypto";
import { inspect } from "node:util";
import { createSealer } from "@giftcard-pay/checkout/plugin";
import { createClient } from "@giftcard-pay/client";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startShop, type TestShop } from "../packages/medusa/test/support/shop.js";

const sealingKey = randomBytes(32).toString("base64");
let shop: TestShop;
/** All responses, and all errors that were thrown. */
const answers: string[] = [];
/** The secrets, by name. */
const secrets = new Map<string, string>();

beforeAll(async () => {
  shop = await startShop({ GIFTCARD_SEALING_KEYS: `sentinel:${sealingKey}` });
  const { company } = shop;
  secrets.set("API key", company.apiKey);
  secrets.set("password", company.password);
  secrets.set("sealing key", sealingKey);
  await walkEverything();
}, 180_000);
afterAll(() => shop.stop());

const keep = <T>(answer: T): T => {
  answers.push(inspect(answer, { depth: 20, showHidden: true, maxArrayLength: null, maxStringLength: null }));
  return answer;
};

async function newCard(balanceCents: number) {
  const card = await shop.service.issueCard({ balanceCents });
  secrets.set(`card number ${secrets.size}`, card.cardNumber);
  secrets.set(`PIN ${secrets.size}`, card.pin);
  return card;
}

/** Sends secrets to every entry point, in calls that succeed and calls that fail. */
async function walkEverything(): Promise<void> {
  const { storefront, proxy, service, company } = shop;
  const card = await newCard(7500);
  const orderId = await buy(card);
  keep(
    await storefront.send(
      "GET",
      `/store/orders/${orderId}?fields=*payment_collections.payments,*payment_collections.payment_sessions`,
    ),
  );
  keep(await storefront.order(orderId));
  keep(await storefront.send("POST", `/admin/orders/${orderId}/cancel`, {}));

  // A charge that the service refuses, a lost response, and an unreadable response whose reversal fails.
  const blocked = await newCard(6000);
  await attempt(blocked, () => service.command("card", "block", blocked.cardNumber));
  await attempt(await newCard(6000), async () => proxy.set("devalue", "cut-after", 1));
  await attempt(await newCard(6000), async () => {
    proxy.set("devalue", "garbage", 1);
    proxy.set("canceldevalue", "error");
  });
  proxy.clear();

  // Malformed cards that a browser may send.
  const cartId = await storefront.createCart();
  const { cardNumber, pin } = await newCard(100);
  const quote = `/store/giftcard-pay/carts/${cartId}/quote`;
  const bodies = [
    { cardNumber, pin: "wrong" },
    { cardNumber: Number(cardNumber), pin: Number(pin) },
    { cardNumber: [cardNumber], pin: { pin } },
    { [cardNumber]: pin },
    `{"cardNumber":"${cardNumber}","pin":"${pin}"`,
    `cardNumber=${cardNumber}&pin=${pin}`,
  ];
  for (const body of bodies) keep(await storefront.send("POST", quote, body));
  keep(await storefront.initiate(cartId, "pp_giftcard_giftcard", { cardNumber, pin }).catch((error: Error) => error));

  // The client, and the service by plain HTTP.
  const client = createClient({ baseUrl: service.url, apiKey: company.apiKey, companyId: company.companyId });
  keep(client);
  keep(
    await client.devalue({ cardNumber, pin, amountCents: 100 as never }).then(({ cancelToken, ...rest }) => {
      secrets.set("cancel token of a direct devalue", cancelToken.reveal());
      return { cancelToken, ...rest };
    }),
  );
  keep(await client.devalue({ cardNumber, pin, amountCents: 100 as never }).catch((error) => error));
  keep(await client.balance({ cardNumber, pin: "nonsense" }).catch((error) => error));
  const wrong = { email: company.email, password: `${company.password}x` };
  keep(await client.authenticate(wrong).catch((error) => error));
  const wire = `${service.url}/api/endpoint/v1`;
  const json = { "content-type": "application/json" };
  for (const body of [
    `{"cardnumber":${cardNumber},"pin":${Number(pin)},"amount":"x","apikey":"${company.apiKey}","company_id":-1}`,
    `{"cardnumber":"${cardNumber}","pin":"${pin}"`,
    JSON.stringify({
      cardnumber: cardNumber,
      pin,
      amount: 1,
      apikey: company.apiKey,
      company_id: company.companyId + 1,
    }),
  ]) {
    for (const operation of ["balance", "devalue", "canceldevalue", "newevent", "neweventconcept"]) {
      const response = await fetch(`${wire}/${operation}`, { method: "POST", headers: json, body });
      keep([await response.text(), [...response.headers]]);
    }
  }
}

async function buy(card: { cardNumber: string; pin: string }): Promise<string> {
  const { storefront } = shop;
  const cartId = await storefront.createCart();
  keep(await storefront.apply(cartId, card));
  keep(await storefront.initiate(cartId));
  keep(await storefront.send("GET", `/store/carts/${cartId}?fields=*payment_collection.payment_sessions`));
  const placed = keep(await storefront.complete(cartId));
  expect(placed.body.type).toBe("order");
  return placed.body.order.id;
}

/** Attempts a purchase that fails at completion. */
async function attempt(card: { cardNumber: string; pin: string }, breakIt: () => Promise<unknown>): Promise<void> {
  const { storefront } = shop;
  const cartId = await storefront.createCart();
  keep(await storefront.apply(cartId, card));
  keep(await storefront.initiate(cartId));
  await breakIt();
  const placed = keep(await storefront.complete(cartId));
  expect(placed.body.type).not.toBe("order");
  keep(await storefront.send("GET", `/store/giftcard-pay/carts/${cartId}`));
}

/** Returns every row of every table as text. */
async function dump(databaseUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows: tables } = await client.query(
      "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')",
    );
    const parts: string[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query(`select string_agg(t::text, E'\\n') as text from ${name} t`);
      parts.push(`${name}\n${rows[0].text ?? ""}`);
    }
    return parts.join("\n");
  } finally {
    await client.end();
  }
}

/** Opens the journal's sealed tokens, which are secrets too, and adds them to the search. */
async function openTokens(): Promise<number> {
  const client = new pg.Client({ connectionString: shop.databaseUrl });
  await client.connect();
  const sealer = createSealer({ keys: [{ id: "sentinel", key: sealingKey }] });
  const { rows } = await client.query(
    "select reference, sealed_token from giftcard_charge where sealed_token is not null",
  );
  await client.end();
  for (const row of rows) {
    secrets.set(`cancel token of ${row.reference}`, (await sealer.openToken(row.sealed_token, row.reference)).reveal());
  }
  return rows.length;
}

function findIn(text: string): string[] {
  return [...secrets].flatMap(([name, value]) => {
    const forms = [value, encodeURIComponent(value)];
    // A PIN is so short that its encodings, and its digits within other numbers, occur by chance.
    if (name.startsWith("PIN")) return new RegExp(`(?<![\\w.-])${value}(?![\\w-])`).test(text) ? [name] : [];
    forms.push(Buffer.from(value).toString("hex"), Buffer.from(value).toString("base64").replace(/=+$/, ""));
    return forms.some((form) => text.includes(form)) ? [name] : [];
  });
}

describe("no secret appears in plain text", () => {
  it("and the search finds secrets, plain and encoded", async () => {
    expect(await openTokens()).toBeGreaterThanOrEqual(1);
    const [name, value] = [...secrets].find(([n]) => n.startsWith("card number")) ?? ["", ""];
    expect(findIn(`number=${value}.`)).toContain(name);
    expect(findIn(Buffer.from(value).toString("base64"))).toContain(name);
    const [pinName, pin] = [...secrets].find(([n]) => n.startsWith("PIN")) ?? ["", ""];
    expect(findIn(`{"pin":"${pin}"}`)).toContain(pinName);
    expect(answers.length).toBeGreaterThan(30);
  });

  it("in any answer or error", () => {
    for (const answer of answers) expect(findIn(answer), answer.slice(0, 300)).toEqual([]);
  });

  it("in any log", () => {
    expect(shop.medusa.logs().length).toBeGreaterThan(100);
    expect(findIn(shop.medusa.logs())).toEqual([]);
    expect(findIn(shop.service.logs())).toEqual([]);
  });

  it("in any table of the shop", async () => {
    const text = await dump(shop.databaseUrl);
    expect(text).toContain("giftcard_charge");
    expect(findIn(text)).toEqual([]);
  });

  it("in any table of the service", async () => {
    const text = await dump(shop.service.databaseUrl);
    expect(text).toContain("ledger");
    expect(findIn(text)).toEqual([]);
  });
});
