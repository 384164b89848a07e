// @module-tag long

import { randomBytes, randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { CartSummary } from "@giftcard-pay/checkout/storefront";
import { createClient } from "@giftcard-pay/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../scripts/lib/process.mjs";
import { startBank } from "../../scripts/shops/plain-shop.mjs";
import { type Card, fillIn, type Newcomer, openNewcomer, type Service, type Serving } from "../support/newcomer.js";
import { readBlock } from "../support/page-blocks.js";

const guides = [
  "docs/any-shop.md",
  "docs/shops/node.md",
  "docs/shops/remainder.md",
  "docs/shops/platform.md",
  "docs/shops/running.md",
];
let newcomer: Newcomer;
let service: Service;
let shop: Serving;
let card: Card;

beforeAll(async () => {
  newcomer = await openNewcomer(guides);
});
afterAll(() => newcomer?.close());

const balanceCents = async () => {
  const { apiKey, id } = service.company;
  return (await createClient({ baseUrl: service.url, apiKey, companyId: Number(id) }).balance(card)).balanceCents;
};

describe("docs/any-shop.md and the guides for plain Node, block by block", () => {
  it("start a service, and create a company and a card", async () => {
    service = await newcomer.openService();
    card = service.card;
    expect(await balanceCents()).toBe(7500);
  });

  it("sell two tickets for 50.00 by card and 24.98 by invoice, once", async () => {
    const port = String(await freePort());
    shop = await newcomer.serve("The shop", fillIn(newcomer.take("node shop.mjs"), { "PORT=3000": `PORT=${port}` }));
    for (const file of ["settings.mjs", "shop.mjs"]) newcomer.takeFile(file);
    for (const name of ["favicon.ico", "giftcard-pay.nl.js"])
      expect((await fetch(`${shop.url}/${name}`)).status).toBe(404);
    expect(await (await fetch(`${shop.url}/giftcard-pay.js`)).text()).toContain("giftcard-pay");
    const { cart, cookie, form } = await applyAt(shop.url);
    for (let time = 0; time < 2; time++) {
      const paid = await fetch(shop.url, { method: "POST", headers: { cookie }, body: form });
      expect(await paid.text()).toContain(`Order ${cart} is paid, 2498 by invoice. <a`);
      expect(await balanceCents()).toBe(2500);
    }
    expect(invoices()).toEqual([{ order_id: cart, cents: 2498, state: "open" }]);
  });

  it("refund one ticket to the card and by a credit note, once", async () => {
    const orderId = String(invoices()[0]?.order_id);
    for (let time = 0; time < 2; time++) {
      expect(await newcomer.program("return.mjs", orderId, "return-1", "1")).toBe(
        "1251 to the cards, 2498 by invoice\n",
      );
      expect(await balanceCents()).toBe(3751);
      expect(invoices()).toEqual([
        { order_id: orderId, cents: 2498, state: "open" },
        { order_id: orderId, cents: -2498, state: "credit" },
      ]);
    }
  });

  it("report no difference after a partial refund, and a refund that the shop didn't record", async () => {
    expect((await reconcile()).stdout).toContain(": 2 charges, 1 payments, 1 cards of the report; no difference");
    change("update card_refund set cents = cents - 1");
    const different = await reconcile().catch((error: { code: number; stdout: string }) => error);
    expect(different).toMatchObject({ code: 1, stdout: expect.stringMatching(/^held .* 37\.49 /m) });
    change("update card_refund set cents = cents + 1");
  });

  it("cancel the order and refund everything, once", async () => {
    const orderId = String(invoices()[0]?.order_id);
    const last = card.cardNumber.slice(-4);
    for (let time = 0; time < 2; time++) {
      expect(await newcomer.program("cancel.mjs", orderId)).toBe(
        `card ${last}: 1251 reversed\ncard ${last}: 3749 reversed\norder ${orderId} is canceled\n`,
      );
      expect(await balanceCents()).toBe(7500);
    }
    expect(invoices()[0]).toEqual({ order_id: orderId, cents: 2498, state: "canceled" });
    const watched = { service: { isKeyValid: true }, seals: { unopenable: 0 }, charges: { reversed: 2 } };
    expect(JSON.parse(await newcomer.program("watch.mjs"))).toMatchObject(watched);
  });

  it("reject an incomplete cancel or decision with a usage message", async () => {
    const usage = { code: 2, stdout: "", stderr: expect.stringMatching(/^Usage: node \w+\.mjs .+\n$/) };
    for (const [file, ...args] of [
      ["cancel.mjs"],
      ["return.mjs", "order-9", "return-1"],
      ["settle.mjs", "some-reference", "marktaken", "ada"],
      ["settle.mjs", "some-reference", "toString", "ada"],
      ["settle.mjs", "some-reference", "retry"],
    ] as const)
      expect(await newcomer.program(file, ...args).catch((error) => error)).toMatchObject(usage);
    const unknown = await newcomer.program("cancel.mjs", "order-9").catch((error) => error);
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("There is no such order.") });
  });

  it("report differences, and settle a charge by a person's decision", async () => {
    const order = await newOrder();
    await newcomer.evaluate(`import { checkout } from "./shop.mjs"; await checkout.pay(${order});`);
    expect((await reconcile()).stdout).toContain(": 3 charges, 2 payments, 1 cards of the report; no difference");
    // Lose the order's invoice, and change the service's address.
    change(`update invoice set order_id = 'lost' where order_id = '${JSON.parse(order).id}'`);
    const different = await reconcile().catch((error: { code: number; stdout: string }) => error);
    expect(different).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^payment_missing .* 50\.00 /m),
    });
    change(`update invoice set order_id = '${JSON.parse(order).id}' where order_id = 'lost'`);
    change("update giftcard_charge set base_url = base_url || '/' where state = 'committed'");
    await newcomer.program("cancel.mjs", JSON.parse(order).id);
    expect(await newcomer.program("watch.mjs").catch((error: { code: number }) => error)).toMatchObject({
      code: 1,
    });
    const [open] = JSON.parse(await newcomer.program("settle.mjs")).charges;
    expect(open).toMatchObject({ state: "needs_attention", reason: "service_not_configured" });
    expect(JSON.parse(await newcomer.program("settle.mjs", open.reference)).charge).toEqual(open);
    change("update giftcard_charge set base_url = rtrim(base_url, '/')");
    expect(JSON.parse(await newcomer.program("settle.mjs", open.reference, "retry", "ada"))).toMatchObject({
      state: "reversed",
    });
    expect(await balanceCents()).toBe(7500);
    expect((await reconcile()).stdout).toContain("no difference");
  });

  for (const [choice, outcome, leftCents] of [
    ["decline", "declined", 7500],
    ["approve", "paid", 2500],
  ] as const) {
    it(`send the shopper to a bank's page: ${outcome}`, async () => {
      const bank = await startBank();
      newcomer.atEnd(bank.stop);
      Object.assign(newcomer.env, {
        BANK_URL: bank.url,
        BANK_KEY: bank.key,
        SHOP_URL: "https://shop.example",
      });
      const order = await newOrder();
      newcomer.takeFile("bank.mjs");
      const page = await newcomer.evaluate(
        `import { placeOrder } from "./bank.mjs"; console.log(await placeOrder(${order}));`,
      );
      expect(new URL(page).origin).toBe(bank.url);
      expect(await balanceCents()).toBe(2500);
      const confirmOrder = `import { confirmOrder } from "./bank.mjs"; console.log(await confirmOrder(${order}.id));`;
      expect(await newcomer.evaluate(confirmOrder)).toBe("pending");
      const answer = await fetch(page, {
        method: "POST",
        headers: { origin: bank.url },
        body: new URLSearchParams({ choice }),
        redirect: "manual",
      });
      expect(answer.headers.get("location")).toMatch(/^https:\/\/shop\.example\/orders\/.+\/return$/);
      expect(await newcomer.evaluate(confirmOrder)).toBe(outcome);
      expect(await balanceCents()).toBe(leftCents);
    });
  }

  it("sell through the bank's page over HTTP, after the change that the guide shows", async () => {
    const bank = await startBank();
    newcomer.atEnd(bank.stop);
    const port = String(await freePort());
    const own = { BANK_URL: bank.url, BANK_KEY: bank.key, SHOP_URL: `http://127.0.0.1:${port}` };
    Object.assign(newcomer.env, own);
    await shop.stop();
    newcomer.takeFile("bank-routes.mjs");
    const file = path.join(newcomer.folder, "shop.mjs");
    const ofStripe = await readBlock("docs/shops/stripe.md", "shop.mjs");
    await writeFile(file, applyDiff(ofStripe, newcomer.take("answerWebhook(request)")));
    card = await newcomer.issueCard();
    const changed = await newcomer.serve("The shop with a bank", `PORT=${port} node shop.mjs`);
    for (const [choice, outcome, leftCents] of [
      ["decline", "isn't paid, and nothing is taken.", 7500],
      ["approve", "is paid.", 2500],
    ] as const) {
      const { cart, cookie, form } = await applyAt(changed.url);
      const headers = { cookie, origin: changed.url };
      const placed = await fetch(changed.url, { method: "POST", headers, body: form, redirect: "manual" });
      expect(placed.status).toBe(303);
      const page = String(placed.headers.get("location"));
      expect(new URL(page).origin).toBe(bank.url);
      const order = `${changed.url}/orders/${cart}/return`;
      expect(await (await fetch(order, { headers })).text()).toContain(`Order ${cart} waits for the bank.`);
      const chosen = await fetch(page, {
        method: "POST",
        headers: { origin: bank.url },
        body: new URLSearchParams({ choice }),
        redirect: "manual",
      });
      expect(chosen.headers.get("location")).toBe(order);
      const back = await fetch(order, { headers });
      expect([back.status, await back.text()]).toEqual([200, expect.stringContaining(`Order ${cart} ${outcome}`)]);
      expect(await balanceCents()).toBe(leftCents);
      // The programs that operate the shop now use the bank.
      if (choice === "approve") expect(await newcomer.program("cancel.mjs", cart)).toContain("is canceled");
    }
    const unknown = await fetch(`${changed.url}/orders/${randomUUID()}/return`);
    expect([unknown.status, await unknown.text()]).toEqual([404, expect.stringContaining("There is no such order.")]);
    expect(await balanceCents()).toBe(7500);
    await changed.stop();
    await writeFile(file, newcomer.takeFile("shop.mjs"));
  });

  it("recover a crashed purchase by cron", async () => {
    card = await newcomer.issueCard();
    const order = await newOrder();
    await newcomer.evaluate(
      `import { checkout, invoice } from "./shop.mjs";
       invoice.authorize = () => process.exit(0);
       await checkout.pay(${order});`,
    );
    expect(await balanceCents()).toBe(2500);
    letLeasesRunOut();
    const settings = Object.entries(newcomer.env).filter(([name]) => /^(GIFTCARD|SEALING)_/.test(name));
    await writeFile(path.join(newcomer.folder, ".env"), settings.map(([name, value]) => `${name}=${value}\n`).join(""));
    const command = fillIn(newcomer.take("recover.mjs"), { "* * * * * ": "", "/srv/shop": newcomer.folder });
    newcomer.takeFile("recover.mjs");
    const { stdout } = await newcomer.shell(command);
    expect(stdout).toContain(`order ${JSON.parse(order).id} is failed`);
    expect(await balanceCents()).toBe(7500);
  });

  it("don't complete a platform's order whose cards were reversed", async () => {
    newcomer.takeFile("platform.mjs");
    const [soon, late] = [await newOrder(), await newOrder()];
    const charge = `
      import { giftCardsOf } from "./platform.mjs"; import { DatabaseSync } from "node:sqlite";
      const collected = {}, closed = {}, heard = [];
      const platform = {
        collectedCents: async (id) => collected[id] ?? 0,
        closePayments: async (id) => { closed[id] = true; collected[id] = 0; },
        noteCards: (id, state) => heard.push(state),
      };
      const pay = (id) => { if (!closed[id]) collected[id] = 2498; };
      const { checkout, charge, allowCompletion } = giftCardsOf(platform);
      const complete = ({ id }) => allowCompletion(id, 7498).then(() => "completed", (error) => error.code);
      const wait = () => { const db = new DatabaseSync("shop.db"); db.exec("update giftcard_purchase set next_try_at = 0;" +
        "update giftcard_charge set lease_until = 0, next_try_at = 0"); db.close(); };`;
    const inTime = await newcomer.evaluate(`${charge} const order = ${soon}; await charge(order);
      const early = await complete(order); pay(order.id); const then = await complete(order);
      wait(); await checkout.recover(); console.log(early, then, (await checkout.read(order.id)).state, heard.join(" "));
      await checkout.cancel(order.id);`);
    expect(inTime).toBe("payment_in_progress completed paid charging pending paid");
    const tooLate = await newcomer.evaluate(`${charge} const order = ${late}; await charge(order);
      wait(); await checkout.recover(); pay(order.id); console.log(await complete(order), collected[order.id], heard.join(" "));`);
    expect(tooLate).toBe("amount_changed 0 charging pending voiding failed");
    expect(await balanceCents()).toBe(7500);
  });

  it("show a shop of about 60 lines", async () => {
    const files = ["settings.mjs", "shop.mjs"].map((file) => readBlock("docs/shops/node.md", file));
    const lines = (await Promise.all(files)).join("").split("\n");
    expect(lines.filter((line) => line !== "").length).toBeLessThan(65);
  });

  it("have no block that was not run", () => {
    expect(newcomer.left()).toEqual([]);
    expect(newcomer.blocks.length).toBeGreaterThan(12);
  });
});

/** Applies the card on the shop's page. */
async function applyAt(url: string): Promise<{ cart: string; cookie: string; form: URLSearchParams }> {
  const page = await fetch(url);
  const cookie = String(page.headers.get("set-cookie")?.split(";")[0]);
  const cart = String((await page.text()).match(/<html lang="en">[\s\S]*cart="([^"]+)"/)?.[1]);
  const applied = await fetch(`${url}/giftcards/carts/${cart}/cards`, {
    method: "POST",
    headers: { cookie, "content-type": "application/json" },
    body: JSON.stringify(card),
  });
  const { plan, ...shown } = (await applied.json()) as CartSummary;
  expect(shown).toMatchObject({ coveredCents: 5000, remainderCents: 2498 });
  return { cart, cookie, form: new URLSearchParams({ plan }) };
}

/** Applies a diff to a text. Lines of `@@` separate the diff's parts, and each part must match the text. */
function applyDiff(text: string, diff: string): string {
  const side = (part: string, signs: RegExp) =>
    part
      .split("\n")
      .filter((line) => signs.test(line))
      .map((line) => `${line.slice(1)}\n`)
      .join("");
  return diff
    .trimEnd()
    .split(/^@@\n/m)
    .reduce((changed, part) => {
      const lines = part.replace(/\n$/, "");
      return fillIn(changed, { [side(lines, /^[ -]|^$/)]: side(lines, /^[ +]|^$/) });
    }, text);
}

/** Compares the books of these days, as the guide does for a month. */
function reconcile(): Promise<{ stdout: string }> {
  const [from, to] = [-1, 1].map((day) => new Date(Date.now() + day * 86_400_000).toISOString().slice(0, 10));
  const script = newcomer.take("node month.mjs");
  newcomer.takeFile("month.mjs");
  return newcomer.shell(script.replaceAll("2026-11-01", String(from)).replaceAll("2026-11-30", String(to)));
}

/** Returns the JavaScript source of an order whose cart has the card. */
async function newOrder(): Promise<string> {
  const cart = { id: randomUUID(), totalCents: 7498, currency: "EUR" };
  const plan = await newcomer.evaluate(
    `import { checkout } from "./shop.mjs";
     console.log((await checkout.apply(${JSON.stringify(cart)}, ${JSON.stringify(card)})).plan);`,
  );
  return JSON.stringify({ id: `order-${randomBytes(4).toString("hex")}`, cart, plan });
}

function invoices(): Record<string, unknown>[] {
  const database = new DatabaseSync(path.join(newcomer.folder, "shop.db"), { readOnly: true });
  const rows = database.prepare("select order_id, cents, state from invoice").all();
  database.close();
  return rows.map((row) => ({ ...row }));
}

/** Expires the lease of a crashed process. */
function letLeasesRunOut(): void {
  change("update giftcard_purchase set lease_until = 0, next_try_at = 0 where lease_until is not null");
  change("update giftcard_charge set lease_until = 0, next_try_at = 0 where lease_until is not null");
}

/** Changes the shop's tables directly. */
function change(sql: string): void {
  const database = new DatabaseSync(path.join(newcomer.folder, "shop.db"));
  database.exec(sql);
  database.close();
}
