import { randomBytes, randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createClient } from "@giftcard-pay/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../scripts/process.mjs";
import { startBank } from "../scripts/shops/plain-shop.mjs";
import {
  type Card,
  fillIn,
  type Newcomer,
  openNewcomer,
  type Service,
  type Serving,
} from "./support/newcomer.js";
import { readBlock } from "./support/page-blocks.js";

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
  return (await createClient({ baseUrl: service.url, apiKey, companyId: Number(id) }).balance(card))
    .balanceCents;
};

describe("docs/any-shop.md, and the guides of a shop on plain Node, block by block", () => {
  it("makes a service, a company and a card", async () => {
    service = await newcomer.openService();
    card = service.card;
    expect(await balanceCents()).toBe(7500);
  });

  it("sells two tickets for 50.00 of the card and 24.98 by invoice, once", async () => {
    const port = String(await freePort());
    shop = await newcomer.serve(
      "The shop",
      fillIn(newcomer.take("node shop.mjs"), { "PORT=3000": `PORT=${port}` }),
    );
    newcomer.takeFile("shop.mjs");
    expect(await (await fetch(`${shop.url}/giftcard-pay.js`)).text()).toContain("giftcard-pay");
    const page = await fetch(shop.url);
    const cookie = String(page.headers.get("set-cookie")?.split(";")[0]);
    const cart = (await page.text()).match(/cart="([^"]+)"/)?.[1];
    const headers = { cookie, "content-type": "application/json" };
    const body = JSON.stringify(card);
    const applied = await fetch(`${shop.url}/giftcards/carts/${cart}/cards`, {
      method: "POST",
      headers,
      body,
    });
    expect(await applied.json()).toMatchObject({ coveredCents: 5000, remainderCents: 2498 });
    for (let time = 0; time < 2; time++) {
      const paid = await fetch(shop.url, { method: "POST", headers: { cookie } });
      expect(await paid.text()).toContain(`Order ${cart} is paid, 2498 by invoice`);
      expect(await balanceCents()).toBe(2500);
    }
    expect(invoices()).toEqual([{ order_id: cart, cents: 2498, state: "open" }]);
  });

  it("gives everything back, once", async () => {
    const orderId = String(invoices()[0]?.order_id);
    const last = card.cardNumber.slice(-4);
    for (let time = 0; time < 2; time++) {
      expect(await newcomer.program("cancel.mjs", orderId)).toBe(
        `card ${last}: 5000 reversed\norder ${orderId} is reversed\n`,
      );
      expect(await balanceCents()).toBe(7500);
    }
    expect(invoices()).toEqual([{ order_id: orderId, cents: 2498, state: "canceled" }]);
    const watched = { service: { isKeyValid: true }, seals: { unopenable: 0 }, charges: { reversed: 1 } };
    expect(JSON.parse(await newcomer.program("watch.mjs"))).toMatchObject(watched);
  });

  it("tells what differs, and settles what only a person can tell", async () => {
    const order = await newOrder();
    await newcomer.evaluate(
      `import { authorizeRemainder, checkout } from "./shop.mjs"; await checkout.commit(${order}, { authorizeRemainder });`,
    );
    const [from, to] = [-1, 1].map((day) =>
      new Date(Date.now() + day * 86_400_000).toISOString().slice(0, 10),
    );
    const script = newcomer
      .take("node books.mjs")
      .replaceAll("2026-11-01", String(from))
      .replaceAll("2026-11-30", String(to));
    newcomer.takeFile("books.mjs");
    expect((await newcomer.shell(script)).stdout).toContain(
      ": 2 charges, 2 payments, 1 cards of the report; no difference",
    );
    // The order's book-keeping is lost, and the service is another one.
    change(`update invoice set order_id = 'lost' where order_id = '${JSON.parse(order).id}'`);
    const different = await newcomer.shell(script).catch((error: { code: number; stdout: string }) => error);
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
    expect((await newcomer.shell(script)).stdout).toContain("no difference");
  });

  for (const [choice, outcome, leftCents] of [
    ["decline", "declined", 7500],
    ["approve", "paid", 2500],
  ] as const) {
    it(`sends the shopper to a bank's page: ${outcome}`, async () => {
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
      const comeBack = `import { comeBack } from "./bank.mjs"; console.log(await comeBack(${order}.id));`;
      expect(await newcomer.evaluate(comeBack)).toBe("pending");
      const answer = await fetch(page, {
        method: "POST",
        headers: { origin: bank.url },
        body: new URLSearchParams({ choice }),
        redirect: "manual",
      });
      expect(answer.headers.get("location")).toMatch(/^https:\/\/shop\.example\/orders\/.+\/return$/);
      expect(await newcomer.evaluate(comeBack)).toBe(outcome);
      expect(await balanceCents()).toBe(leftCents);
    });
  }

  it("recovers by cron what a crash left", async () => {
    await shop.stop();
    card = await newcomer.issueCard();
    const order = await newOrder();
    await newcomer.evaluate(
      `import { checkout } from "./shop.mjs";
       await checkout.commit(${order}, { authorizeRemainder: () => process.exit(0) });`,
    );
    expect(await balanceCents()).toBe(2500);
    letLeasesRunOut();
    const settings = Object.entries(newcomer.env).filter(([name]) => /^(GIFTCARD|SEALING)_/.test(name));
    await writeFile(
      path.join(newcomer.folder, ".env"),
      settings.map(([name, value]) => `${name}=${value}\n`).join(""),
    );
    const command = fillIn(newcomer.take("recover.mjs"), { "* * * * * ": "", "/srv/shop": newcomer.folder });
    newcomer.takeFile("recover.mjs");
    const { stdout } = await newcomer.shell(command);
    expect(stdout).toContain(`order ${JSON.parse(order).id} is failed`);
    expect(await balanceCents()).toBe(7500);
  });

  it("where a platform collects the rest, completes no order whose cards went back", async () => {
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
      await checkout.reverse(order.id);`);
    expect(inTime).toBe("payment_in_progress completed paid charging pending paid");
    const tooLate = await newcomer.evaluate(`${charge} const order = ${late}; await charge(order);
      wait(); await checkout.recover(); pay(order.id); console.log(await complete(order), collected[order.id], heard.join(" "));`);
    expect(tooLate).toBe("amount_changed 0 charging pending voiding failed");
    expect(await balanceCents()).toBe(7500);
  });

  it("shows a shop of under 60 lines", async () => {
    const shop = await readBlock("docs/shops/node.md", "shop.mjs");
    expect(shop.trimEnd().split("\n").length).toBeLessThan(60);
  });

  it("has no block that wasn't run", () => {
    expect(newcomer.left()).toEqual([]);
    expect(newcomer.blocks.length).toBeGreaterThan(12);
  });
});

/** An order with the card on its cart, as JavaScript. */
async function newOrder(): Promise<string> {
  const cart = { id: randomUUID(), totalCents: 7498, currency: "EUR" };
  await newcomer.evaluate(
    `import { checkout } from "./shop.mjs"; await checkout.apply(${JSON.stringify(cart)}, ${JSON.stringify(card)});`,
  );
  return JSON.stringify({ id: `order-${randomBytes(4).toString("hex")}`, cart });
}

function invoices(): Record<string, unknown>[] {
  const database = new DatabaseSync(path.join(newcomer.folder, "shop.db"), { readOnly: true });
  const rows = database.prepare("select order_id, cents, state from invoice").all();
  database.close();
  return rows.map((row) => ({ ...row }));
}

/** As if the minutes had passed that a crashed process still owns its purchase. */
function letLeasesRunOut(): void {
  change("update giftcard_purchase set lease_until = 0, next_try_at = 0 where lease_until is not null");
  change("update giftcard_charge set lease_until = 0, next_try_at = 0 where lease_until is not null");
}

/** Changes the shop's tables behind its back. */
function change(sql: string): void {
  const database = new DatabaseSync(path.join(newcomer.folder, "shop.db"));
  database.exec(sql);
  database.close();
}
