import { execFile } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { createClient } from "@giftcard-pay/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { outsideEnv, packPackages } from "../scripts/packed/pack.mjs";
import { freePort, startNode } from "../scripts/process.mjs";
import { startBank } from "../scripts/shops/plain-shop.mjs";
import { type Block, readBlock, readBlocks } from "./support/page-blocks.js";
import { testDatabase } from "./support/test-database.js";

let blocks: Block[];
/** Outside of the repository, where nothing of ours is found but what npm installs. */
let folder: string;
/** A newcomer's, with what the page exports. */
let env: Record<string, string>;
/** Lets npm take our packages from tarballs, by the names that the page uses; all else is npm's own doing. */
let shims: string;
const run = new Set<Block>();
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  blocks = await readBlocks("docs/any-shop.md");
  folder = await mkdtemp(path.join(os.tmpdir(), "giftcard-any-shop-"));
  closers.push(() => rm(folder, { recursive: true, force: true }));
  const tarballs = await mkdtemp(path.join(os.tmpdir(), "giftcard-tarballs-"));
  closers.push(() => rm(tarballs, { recursive: true, force: true }));
  const packed = await packPackages(["client", "checkout", "service", "widget"], tarballs);
  const cases = Object.entries(packed).map(([name, file]) => `${name}) set -- "$@" '${file}' ;;`);
  shims = `npm() {
    for word; do
      shift
      case "$word" in ${cases.join(" ")} *) set -- "$@" "$word" ;; esac
    done
    command npm "$@"
  }\n`;
  env = { ...outsideEnv(), GIFTCARD_PORT: "0" };
  for (const block of blocks) if (block.file) await writeFile(path.join(folder, block.file), block.text);
});

afterAll(async () => {
  for (const close of closers.reverse()) await close();
});

/** The one block that holds this text; from now on it counts as run. */
function take(text: string): string {
  const [block, ...others] = blocks.filter((one) => !one.file && one.text.includes(text));
  if (!block || others.length > 0) throw new Error(`No block, or more than one, holds "${text}".`);
  run.add(block);
  return block.text;
}

const shell = (script: string) => promisify(execFile)("sh", ["-euc", shims + script], { cwd: folder, env });

/** Runs a script that goes on, until the end of the tests. */
async function serve(name: string, script: string): Promise<{ url: string; stop: () => Promise<unknown> }> {
  const inShell = `const [script, env] = process.argv.slice(1);
    require("node:child_process").spawn("sh", ["-euc", script], { stdio: "inherit", env: JSON.parse(env) });`;
  const args = ["--eval", inShell, shims + script, JSON.stringify(env)];
  const { match, stop } = await startNode({ name, args, cwd: folder, ready: /ready at (http\S+)/ });
  closers.push(stop);
  return { url: String(match[1]), stop };
}

async function program(file: string, ...args: string[]): Promise<string> {
  for (const block of blocks) if (block.file === file) run.add(block);
  const options = { cwd: folder, env };
  return (await promisify(execFile)(process.execPath, [file, ...args], options)).stdout;
}

/** Runs a few lines that import the page's files. */
const evaluate = async (script: string) => (await program("--input-type=module", "--eval", script)).trim();

/** Replaces what a reader fills in, which must be there. */
function fillIn(text: string, values: Record<string, string>): string {
  for (const [placeholder, value] of Object.entries(values)) {
    if (!text.includes(placeholder)) throw new Error(`"${placeholder}" isn't there.`);
    text = text.replace(placeholder, () => value);
  }
  return text;
}

let serviceUrl: string;
let shop: Awaited<ReturnType<typeof serve>>;
let company: { id: string; apiKey: string };
let card: { cardNumber: string; pin: string };

const balanceCents = async () => {
  const settings = { baseUrl: serviceUrl, apiKey: company.apiKey, companyId: Number(company.id) };
  return (await createClient(settings).balance(card)).balanceCents;
};

describe("docs/any-shop.md, line by line", () => {
  it("1: makes a service, a company and a card", async () => {
    await shell(take("npm install @giftcard-pay"));
    serviceUrl = (await serve("The gift card service", take("giftcard-service serve"))).url;
    const { stdout } = await shell(take("giftcard-service company create"));
    const find = (pattern: RegExp) => stdout.match(pattern)?.[1] ?? `${pattern} isn't in ${stdout}`;
    company = { id: find(/company_id\s+(\d+)/), apiKey: find(/apikey\s+(\S+)/) };
    card = { cardNumber: find(/\b(\d{19})\b/), pin: find(/\b(\d{6})\b/) };
    expect(await balanceCents()).toBe(7500);
  });

  it("2: sells two tickets for 50.00 of the card and 24.98 by invoice, once", async () => {
    const port = String(await freePort());
    const script = fillIn(take("node shop.mjs"), {
      "http://127.0.0.1:8080": serviceUrl,
      "GIFTCARD_COMPANY_ID=1": `GIFTCARD_COMPANY_ID=${company.id}`,
      "paste-it-here": company.apiKey,
      "PORT=3000": `printenv > settings; PORT=${port}`,
    });
    shop = await serve("The shop", script);
    for (const line of (await readFile(path.join(folder, "settings"), "utf8")).split("\n")) {
      const [name = "", ...value] = line.split("=");
      if (/^(GIFTCARD|SEALING)_/.test(name)) env[name] = value.join("=");
    }
    for (const block of blocks) if (block.file === "shop.mjs") run.add(block);
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

  it("4: gives everything back, once", async () => {
    const orderId = String(invoices()[0]?.order_id);
    const last = card.cardNumber.slice(-4);
    for (let time = 0; time < 2; time++) {
      expect(await program("cancel.mjs", orderId)).toBe(
        `card ${last}: 5000 reversed\norder ${orderId} is reversed\n`,
      );
      expect(await balanceCents()).toBe(7500);
    }
    expect(invoices()).toEqual([{ order_id: orderId, cents: 2498, state: "cancelled" }]);
    const watched = { service: { isKeyValid: true }, seals: { unopenable: 0 }, charges: { reversed: 1 } };
    expect(JSON.parse(await program("watch.mjs"))).toMatchObject(watched);
  });

  it("6: tells what differs, and settles what only a person can tell", async () => {
    const order = await newOrder();
    await evaluate(
      `import { authorizeRemainder, checkout } from "./shop.mjs"; await checkout.commit(${order}, { authorizeRemainder });`,
    );
    const [from, to] = [-1, 1].map((day) =>
      new Date(Date.now() + day * 86_400_000).toISOString().slice(0, 10),
    );
    const script = take("node books.mjs")
      .replaceAll("2026-11-01", String(from))
      .replaceAll("2026-11-30", String(to));
    for (const block of blocks) if (block.file === "books.mjs") run.add(block);
    expect((await shell(script)).stdout).toContain(
      ": 2 charges, 2 payments, 1 cards of the report; no difference",
    );
    // The order's book-keeping is lost, and the service is another one.
    change(`update invoice set order_id = 'lost' where order_id = '${JSON.parse(order).id}'`);
    const different = await shell(script).catch((error: { code: number; stdout: string }) => error);
    expect(different).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^payment_missing .* 50\.00 /m),
    });
    change(`update invoice set order_id = '${JSON.parse(order).id}' where order_id = 'lost'`);
    change("update giftcard_charge set base_url = base_url || '/' where state = 'committed'");
    await program("cancel.mjs", JSON.parse(order).id);
    expect(await program("watch.mjs").catch((error: { code: number }) => error)).toMatchObject({ code: 1 });
    const [open] = JSON.parse(await program("settle.mjs")).charges;
    expect(open).toMatchObject({ state: "needs_attention", reason: "service_not_configured" });
    expect(JSON.parse(await program("settle.mjs", open.reference)).charge).toEqual(open);
    change("update giftcard_charge set base_url = rtrim(base_url, '/')");
    expect(JSON.parse(await program("settle.mjs", open.reference, "retry", "ada"))).toMatchObject({
      state: "reversed",
    });
    expect(await balanceCents()).toBe(7500);
    expect((await shell(script)).stdout).toContain("no difference");
  });

  for (const [choice, outcome, leftCents] of [
    ["decline", "declined", 7500],
    ["approve", "paid", 2500],
  ] as const) {
    it(`3: sends the shopper to a bank's page: ${outcome}`, async () => {
      const bank = await startBank();
      closers.push(bank.stop);
      Object.assign(env, { BANK_URL: bank.url, BANK_KEY: bank.key, SHOP_URL: "https://shop.example" });
      const order = await newOrder();
      for (const block of blocks) if (block.file === "bank.mjs") run.add(block);
      const page = await evaluate(
        `import { placeOrder } from "./bank.mjs"; console.log(await placeOrder(${order}));`,
      );
      expect(new URL(page).origin).toBe(bank.url);
      expect(await balanceCents()).toBe(2500);
      const comeBack = `import { comeBack } from "./bank.mjs"; console.log(await comeBack(${order}.id));`;
      expect(await evaluate(comeBack)).toBe("pending");
      const answer = await fetch(page, {
        method: "POST",
        headers: { origin: bank.url },
        body: new URLSearchParams({ choice }),
        redirect: "manual",
      });
      expect(answer.headers.get("location")).toMatch(/^https:\/\/shop\.example\/orders\/.+\/return$/);
      expect(await evaluate(comeBack)).toBe(outcome);
      expect(await balanceCents()).toBe(leftCents);
    });
  }

  it("5: recovers by cron what a crash left", async () => {
    await shop.stop();
    const [cardNumber = "", pin = ""] = await issueCard();
    card = { cardNumber, pin };
    const order = await newOrder();
    await evaluate(
      `import { checkout } from "./shop.mjs";
       await checkout.commit(${order}, { authorizeRemainder: () => process.exit(0) });`,
    );
    expect(await balanceCents()).toBe(2500);
    letLeasesRunOut();
    const settings = Object.entries(env).filter(([name]) => /^(GIFTCARD|SEALING)_/.test(name));
    await writeFile(
      path.join(folder, ".env"),
      settings.map(([name, value]) => `${name}=${value}\n`).join(""),
    );
    const command = fillIn(take("recover.mjs"), { "* * * * * ": "", "/srv/shop": folder });
    for (const block of blocks) if (block.file === "recover.mjs") run.add(block);
    const { stdout } = await shell(command);
    expect(stdout).toContain(`order ${JSON.parse(order).id} is failed`);
    expect(await balanceCents()).toBe(7500);
  });

  it("2: keeps its books on PostgreSQL, and says so where the tables are missing", async () => {
    await shell(take("npm install pg"));
    env.DATABASE_URL = await testDatabase();
    const bare = `
      import { createCheckout, createPostgresStore } from "@giftcard-pay/checkout"; import pg from "pg";
      import { settings } from "./shop.mjs";
      const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
      const checkout = createCheckout({ ...settings, store: createPostgresStore({ pool }) });
      console.log(await checkout.recover().catch((error) => error.message)); await pool.end();`;
    expect(await evaluate(bare)).toContain("run store.migrate()");
    for (const block of blocks) if (block.file === "store.mjs") run.add(block);
    const order = JSON.stringify({
      id: "on-postgresql",
      cart: { id: "c", totalCents: 100, currency: "EUR" },
    });
    const paid = `
      import { createCheckout } from "@giftcard-pay/checkout"; import { settings } from "./shop.mjs";
      import { store } from "./store.mjs"; await store.migrate();
      const checkout = createCheckout({ ...settings, store }); const order = ${order};
      await checkout.apply(order.cart, ${JSON.stringify(card)});
      console.log((await checkout.commit(order)).status); await checkout.reverse(order.id); process.exit(0);`;
    expect(await evaluate(paid)).toBe("paid");
    expect(await balanceCents()).toBe(7500);
  });

  it("3: where a platform collects the rest, completes no order whose cards went back", async () => {
    for (const block of blocks) if (block.file === "platform.mjs") run.add(block);
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
    const inTime = await evaluate(`${charge} const order = ${soon}; await charge(order);
      const early = await complete(order); pay(order.id); const then = await complete(order);
      wait(); await checkout.recover(); console.log(early, then, (await checkout.read(order.id)).state, heard.join(" "));
      await checkout.reverse(order.id);`);
    expect(inTime).toBe("payment_in_progress completed paid charging pending paid");
    const tooLate = await evaluate(`${charge} const order = ${late}; await charge(order);
      wait(); await checkout.recover(); pay(order.id); console.log(await complete(order), collected[order.id], heard.join(" "));`);
    expect(tooLate).toBe("amount_changed 0 charging pending voiding failed");
    expect(await balanceCents()).toBe(7500);
  });

  it("has no block that wasn't run", () => {
    expect(blocks.filter((block) => !run.has(block))).toEqual([]);
    expect(run.size).toBeGreaterThan(8);
  });
});

describe("the README of the checkout package", () => {
  it("shows the same shop, in under 60 lines", async () => {
    const shown = await readBlock("packages/checkout/README.md", "shop.mjs");
    expect(shown).toBe(blocks.find(({ file }) => file === "shop.mjs")?.text);
    expect(shown.trimEnd().split("\n").length).toBeLessThan(60);
  });
});

/** An order with the card on its cart, as JavaScript. */
async function newOrder(): Promise<string> {
  const cart = { id: randomUUID(), totalCents: 7498, currency: "EUR" };
  await evaluate(
    `import { checkout } from "./shop.mjs"; await checkout.apply(${JSON.stringify(cart)}, ${JSON.stringify(card)});`,
  );
  return JSON.stringify({ id: `order-${randomBytes(4).toString("hex")}`, cart });
}

async function issueCard(): Promise<string[]> {
  const { stdout } = await shell("npx giftcard-service card issue --balance 7500 --json");
  const { cardnumber, pin } = JSON.parse(stdout);
  return [cardnumber, pin];
}

function invoices(): Record<string, unknown>[] {
  const database = new DatabaseSync(path.join(folder, "shop.db"), { readOnly: true });
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
  const database = new DatabaseSync(path.join(folder, "shop.db"));
  database.exec(sql);
  database.close();
}
