import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { dayOf } from "@giftcard-pay/checkout/operator";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { runCommand } from "./support/command-line.js";
import { paymentsOf } from "./support/figures.js";
import { startShop, type TestShop } from "./support/shop.js";

const DAY_MS = 24 * 60 * 60_000;

let shop: TestShop;
let folder: string;
beforeAll(async () => {
  shop = await startShop({ TEST_RECOVER_BY_HAND: "yes" });
  folder = await mkdtemp(path.join(os.tmpdir(), "giftcard-admin-"));
});
beforeEach(() => shop.proxy.clear());
afterAll(async () => {
  await shop?.stop();
  await rm(folder, { recursive: true, force: true });
});

const admin = (method: string, at: string, body?: unknown) =>
  shop.storefront.send(method, `/admin/giftcard-pay/${at}`, body);
const chargesOf = async (orderId: string) => (await admin("GET", `orders/${orderId}`)).body.charges;
/** A period with an extra day on either side, in case the test runs at midnight. */
const days = { from: dayOf(new Date(Date.now() - DAY_MS)), to: dayOf(new Date(Date.now() + DAY_MS)) };
const reconcile = async (more: object = {}) =>
  (await admin("POST", "reconciliation", { ...days, ...more })).body.reconciliation;

/** Buys for 74.98 with a card of 75.00, of which 50.00 are taken. */
async function buy() {
  const card = await shop.service.issueCard({ balanceCents: 7500 });
  const cartId = await shop.storefront.createCart();
  await shop.storefront.apply(cartId, card);
  await shop.storefront.initiate(cartId);
  const completed = await shop.storefront.complete(cartId);
  expect(completed.body.type).toBe("order");
  return { card, cartId, orderId: completed.body.order.id as string };
}

/** A charge that succeeded, at a service that can't resolve it by key. */
async function leaveToPerson() {
  const card = await shop.service.issueCard({ balanceCents: 7500 });
  const cartId = await shop.storefront.createCart();
  await shop.storefront.apply(cartId, card);
  await shop.storefront.initiate(cartId);
  shop.proxy.withoutExtension(true);
  shop.proxy.set("devalue", "cut-after", 1);
  const completed = await shop.storefront.complete(cartId);
  expect(completed.body).toMatchObject({ code: "outcome_unknown" });
  shop.proxy.clear();
  const { charges } = (await admin("GET", "charges?state=needs_attention")).body;
  const charge = charges.find((one: { cartId: string }) => one.cartId === cartId);
  return { card, cartId, charge };
}

/** Runs a report, in a folder without a configuration. */
const command = (...args: string[]) =>
  runCommand(shop.databaseUrl, ...args, "--environment", "sandbox", "--company", String(shop.company.companyId));

describe("an order's gift cards in the admin", () => {
  it("show amount, last four digits, state and times, and no secret", async () => {
    const { card, orderId } = await buy();
    const answer = await admin("GET", `orders/${orderId}`);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.body).toMatchObject({
      environment: "sandbox",
      charges: [
        {
          ...{ orderId, state: "committed", lastFour: card.cardNumber.slice(-4), amountCents: 5000 },
          ...{ deductedCents: 5000, devaluedAt: expect.any(String), reversedAt: null },
        },
      ],
    });
    const one = await admin("GET", `charges/${answer.body.charges[0].reference}`);
    const list = await admin("GET", `charges?order_id=${orderId}`);
    expect(list.body).toMatchObject({ count: 1, charges: [{ orderName: expect.stringMatching(/^#\d+$/) }] });
    const health = await admin("GET", "health");
    const shown = JSON.stringify([answer.body, one.body, list.body, health.body]);
    for (const secret of [card.cardNumber, `"${card.pin}"`, shop.company.apiKey, "eyJ", "sealed"])
      expect(shown).not.toContain(secret);
  });

  it("require a login", async () => {
    for (const [method, at] of [
      ...[
        ["GET", "charges"],
        ["GET", "health"],
        ["GET", "orders/order_1"],
        ["GET", "statement"],
        ["GET", "jobs"],
      ],
      ...[
        ["POST", "recover"],
        ["POST", "jobs/cancel_order/order_1/retry"],
        ["POST", "charges/gc_1/mark-taken"],
        ["POST", "reconciliation"],
      ],
    ]) {
      const response = await fetch(`${shop.medusa.url}/admin/giftcard-pay/${at}`, {
        method: method as string,
      });
      expect(response.status).toBe(401);
    }
  });

  it("are still to be reversed if the order is canceled while the service is down; a person can retry at once", async () => {
    const { card, orderId } = await buy();
    shop.proxy.set("canceldevalue", "cut-before");
    await shop.storefront.ok("POST", `/admin/orders/${orderId}/cancel`, {});
    const [owed] = await chargesOf(orderId);
    expect(owed).toMatchObject({ state: "reversing", tries: 1, reason: "canceled" });
    expect(Date.parse(owed.stateChangedAt)).toBeGreaterThan(Date.parse(owed.devaluedAt));
    expect((await reconcile()).differences).toContainEqual(
      expect.objectContaining({
        ...{ kind: "held", orderId, journal: { says: "reversing", cents: 5000, states: ["reversing"] } },
        other: expect.objectContaining({
          ...{ who: "payments", says: expect.stringContaining("canceled"), cents: 0 },
          payments: [{ name: expect.any(String), state: "canceled" }],
        }),
      }),
    );
    const down = await admin("POST", `charges/${owed.reference}/retry`);
    const { stateChangedAt } = owed;
    expect(down).toMatchObject({ status: 200, body: { charge: { state: "reversing", tries: 2, stateChangedAt } } });
    shop.proxy.clear();
    const up = await admin("POST", `charges/${owed.reference}/retry`);
    expect(up.body.charge).toMatchObject({ state: "reversed", reversedAt: expect.any(String) });
    expect(await shop.balanceCents(card)).toBe(7500);
    const { actions } = (await admin("GET", `charges/${owed.reference}`)).body;
    expect(actions).toHaveLength(2);
    expect(actions[0]).toMatchObject({
      action: "retry",
      actor: expect.stringContaining(shop.medusa.admin.email),
    });
    const { differences } = await reconcile();
    expect(differences.filter((d: { orderId: string }) => d.orderId === orderId)).toEqual([]);
  });

  it("are reversed when recovery runs, which an admin can trigger", { tags: "long" }, async () => {
    const { card, orderId } = await buy();
    shop.proxy.set("canceldevalue", "error");
    await shop.storefront.ok("POST", `/admin/orders/${orderId}/cancel`, {});
    shop.proxy.clear();
    const { body } = await admin("POST", "recover");
    expect(body.charges).toContainEqual(expect.objectContaining({ orderId, state: "reversed" }));
    expect(await shop.balanceCents(card)).toBe(7500);
  });

  it("are tried at once by an admin while the service is down, and reported as waiting", { tags: "long" }, async () => {
    const { orderId } = await buy();
    shop.proxy.set("canceldevalue", "error");
    await shop.storefront.ok("POST", `/admin/orders/${orderId}/cancel`, {});
    // The last attempt has just put off the next one.
    for (const tries of [2, 3]) {
      const { charges, waiting } = (await admin("POST", "recover")).body;
      expect(charges).toContainEqual(expect.objectContaining({ orderId, state: "reversing", tries }));
      expect(waiting).toBeGreaterThan(0);
    }
    shop.proxy.clear();
    expect((await admin("POST", "recover")).body).toMatchObject({ waiting: 0 });
    expect(await chargesOf(orderId)).toMatchObject([{ state: "reversed" }]);
  });
});

describe("a search for a charge", () => {
  const found = async (query: string) => {
    const { charges, count } = await shop.storefront.ok("GET", `/admin/giftcard-pay/charges?${query}`);
    expect(charges).toHaveLength(count);
    return charges.map((one: { reference: string }) => one.reference) as string[];
  };
  let first: { reference: string; lastFour: string; orderName: string; orderId: string; createdAt: string };
  beforeAll(async () => {
    const { orderId } = await buy();
    first = (await admin("GET", `charges?order_id=${orderId}`)).body.charges[0];
    await buy();
  });

  it("finds it by card, order, e-mail, amount and reference", async () => {
    const { reference, lastFour, orderName, orderId } = first;
    const { order } = await shop.storefront.ok("GET", `/admin/orders/${orderId}?fields=email`);
    for (const q of [
      lastFour,
      `•••• ${lastFour}`,
      orderName,
      orderName.slice(1),
      orderId,
      reference,
      order.email,
      "50,00",
      "€50.00",
    ])
      expect(await found(`limit=200&q=${encodeURIComponent(q)}`), q).toContain(reference);
    for (const q of ["nobody@example.com", "49.99", "#999999", "99999999999", "order_none", "' or true --"])
      expect(await found(`q=${encodeURIComponent(q)}`), q).toEqual([]);
    expect(await found(`q=${encodeURIComponent(orderName)}`)).toEqual([reference]);
    expect((await admin("GET", `charges?q=${"9".repeat(400)}`)).status).toBe(400);
  });

  it("combines with state and dates", async () => {
    const q = `q=${first.lastFour}`;
    expect(await found(`${q}&state=committed,captured`)).toEqual([first.reference]);
    expect(await found(`${q}&state=reversed`)).toEqual([]);
    expect(await found(`${q}&from=${first.createdAt}`)).toEqual([first.reference]);
    expect(await found(`${q}&to=${first.createdAt}`)).toEqual([]);
  });
});

describe("charges that need attention", () => {
  it("are listed first with their evidence; the first decision counts and records who made it", async () => {
    const { charge } = await leaveToPerson();
    await buy();
    const { charges } = (await admin("GET", "charges?limit=1")).body;
    expect(charges).toMatchObject([{ reference: charge.reference, state: "needs_attention" }]);
    expect(charge).toMatchObject({
      reason: "outcome_unknown",
      balanceBeforeCents: 7500,
      balanceAfterCents: 2500,
    });
    expect(charge.balanceAfterAt).toEqual(expect.any(String));
    expect((await reconcile()).differences).toContainEqual(
      expect.objectContaining({ kind: "undecided", reference: charge.reference }),
    );

    const settled = await admin("POST", `charges/${charge.reference}/mark-taken`);
    expect(settled).toMatchObject({ status: 200, body: { charge: { state: "taken" } } });
    const again = await admin("POST", `charges/${charge.reference}/mark-not-taken`);
    expect(again).toMatchObject({
      ...{ status: 400, body: { code: "not_open", reasons: [{ code: "noDecision" }, { code: "nothingDone" }] } },
    });
    const { actions, balanceBeforeAt } = (await admin("GET", `charges/${charge.reference}`)).body;
    expect(Date.parse(balanceBeforeAt)).toBeLessThan(Date.parse(charge.balanceAfterAt));
    expect(actions).toEqual([
      {
        ...{ action: "mark_taken", fromState: "needs_attention", toState: "taken" },
        actor: expect.stringMatching(new RegExp(`^${shop.medusa.admin.email} \\(user_\\w+\\)$`)),
        createdAt: expect.any(String),
      },
    ]);
    // Money taken from a card without a payment in the shop remains a difference.
    expect((await reconcile()).differences).toContainEqual(
      expect.objectContaining({ kind: "payment_missing", reference: charge.reference }),
    );
  });

  it("show the shop's other charges of the same card", { tags: "long" }, async () => {
    const { card, charge, cartId } = await leaveToPerson();
    await admin("POST", `charges/${charge.reference}/mark-not-taken`);
    await shop.storefront.initiate(cartId);
    await shop.storefront.complete(cartId);
    // The charge succeeded, so the card holds less than the shop believes. The next attempt notices and charges nothing.
    expect(await shop.balanceCents(card)).toBe(2500);
    const { otherChargesOfCard } = (await admin("GET", `charges/${charge.reference}`)).body;
    expect(otherChargesOfCard).toMatchObject([
      { lastFour: card.cardNumber.slice(-4), cartId, state: "reversed", reason: "balance_changed" },
    ]);
  });

  it("an unknown charge is a 404 and an invalid filter is rejected", async () => {
    expect((await admin("GET", "charges/gc_none")).status).toBe(404);
    expect((await admin("POST", "charges/gc_none/retry")).status).toBe(404);
    for (const query of ["state=lost", "limit=-1", "limit=1000", "from=yesterdayish"])
      expect((await admin("GET", `charges?${query}`)).status).toBe(400);
    const page = (await admin("GET", "charges?limit=1&offset=1")).body;
    expect(page).toMatchObject({ limit: 1, offset: 1, charges: [{}] });
  });
});

describe("the books", () => {
  const month = dayOf(new Date()).slice(0, 7);

  it("add up in the statement, on the page and on the command line", async () => {
    const { orderId } = await buy();
    const { statement, csv } = (await admin("GET", `statement?month=${month}`)).body;
    const line = statement.lines.find((one: { orderId: string }) => one.orderId === orderId);
    expect(line).toMatchObject({ chargedCents: 5000, canceledCents: 0, refundedCents: 0, grossCents: 5000 });
    expect(csv).toContain(`"${statement.orderNames[orderId]}",50.00,0.00,0.00,50.00`);
    for (const query of ["", "month=2026-13"]) expect((await admin("GET", `statement?${query}`)).status).toBe(400);

    const printed = await command("statement", "--month", month, "--csv");
    expect(printed).toEqual({ exitCode: 0, stdout: csv });
    const { stdout } = await command("statement", "--month", month, "--json");
    expect(JSON.parse(stdout).grossCents).toBe(statement.grossCents);
    const table = await command("statement", "--month", month);
    expect(table.stdout).toMatch(/^day +order +charged +canceled +refunded +gross/);
    expect((await runCommand(shop.databaseUrl, "statement", "--month", month)).exitCode).toBe(2);
  });

  it("are compared with the service's report: each difference shows both sides, and the command exits with 1", {
    tags: "long",
  }, async () => {
    const report = (await shop.service.command(...["report", "--from", days.from, "--to", days.to])) as {
      cards: { last_four: string; devalued: number }[];
    };
    const kinds = (differences: { kind: string }[]) => differences.map(({ kind }) => kind);
    const before = await reconcile({ report: JSON.stringify(report) });
    expect(before.cards).toBe(report.cards.length);
    const { card } = await buy();
    const found = await reconcile({ report: JSON.stringify(report) });
    expect(kinds(found.differences)).toEqual([...kinds(before.differences), "service"]);
    const lastFour = card.cardNumber.slice(-4);
    const mine = found.differences.find((d: { lastFour: string }) => d.lastFour === lastFour);
    expect(mine).toMatchObject({ kind: "service", journal: { cents: 5000 }, other: { cents: 0 } });
    expect((await admin("POST", "reconciliation", { ...days, report: "nothing" })).body).toMatchObject({
      ...{ reconciliation: null, reportFault: { code: "not_a_report" } },
    });
    const others = JSON.stringify({ ...report, from: "2020-01-01", to: "2020-01-31" });
    expect((await admin("POST", "reconciliation", { ...days, report: others })).body).toMatchObject({
      ...{ reconciliation: null, reportFault: { code: "other_days", from: "2020-01-01", to: "2020-01-31" } },
    });
    expect((await admin("POST", "reconciliation", { from: "yesterday", to: days.to })).status).toBe(400);

    const file = path.join(folder, "report.json");
    await writeFile(file, JSON.stringify(report));
    const printed = await command("reconcile", "--from", days.from, "--to", days.to, "--report", file);
    expect(printed.exitCode).toBe(1);
    const lines = printed.stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(found.differences.length + 1);
    expect(lines.find((line: string) => line.includes(`…${lastFour} `))).toMatch(
      /^service .* journal: 50\.00 .* service: 0\.00 /,
    );
    const usage = await command("reconcile", "--from", days.to, "--to", days.from);
    expect(usage).toMatchObject({ exitCode: 2, stdout: expect.stringContaining("before the first") });
    const quiet = await command("reconcile", "--from", "2020-01-01", "--to", "2020-01-02", "--json");
    expect(JSON.parse(quiet.stdout)).toMatchObject({ charges: expect.any(Number) });
  });

  it("agree with Medusa after captures and refunds there", { tags: "long" }, async () => {
    const [kept, refunded] = [await buy(), await buy()];
    for (const { orderId } of [kept, refunded]) {
      const { gifts } = paymentsOf(await shop.storefront.order(orderId));
      await shop.storefront.ok("POST", `/admin/payments/${gifts[0].id}/capture`, {});
    }
    const { gifts } = paymentsOf(await shop.storefront.order(refunded.orderId));
    await shop.storefront.ok("POST", `/admin/payments/${gifts[0].id}/refund`, { amount: 50 });
    const ids = [kept.orderId, refunded.orderId];
    const { differences } = await reconcile();
    expect(differences.filter((d: { orderId: string }) => ids.includes(d.orderId))).toEqual([]);
  });
});

describe("health", () => {
  it("and all other routes work in a shop without events", async () => {
    expect(Object.keys((await admin("GET", "health")).body)).not.toContain("events");
    expect((await admin("GET", "events")).status).toBe(404);
    expect((await shop.storefront.send("GET", "/giftcard-pay/events.json")).status).toBe(404);
  });

  it("reports whether the service responds and accepts the key, and the clock difference", async () => {
    const { body } = await admin("GET", "health");
    expect(body).toMatchObject({
      environment: "sandbox",
      service: { isReachable: true, isKeyValid: true, fault: null, companyId: shop.company.companyId },
      seals: { unopenable: 0, counts: { demo: expect.any(Number) } },
      charges: { committed: expect.any(Number) },
      regions: [{ name: "Europe", takesGiftcards: true }],
      processes: { count: 1, locks: ["in-memory"], connections: expect.any(Number) },
    });
    // All calls of the tests come from this machine.
    expect(body.processes.warnings.filter(({ code }: { code: string }) => code !== "oneAddress")).toEqual([]);
    expect(Math.abs(body.clock.databaseAheadMs)).toBeLessThan(60_000);
    expect(Math.abs(body.clock.serviceAheadMs)).toBeLessThan(60_000);
    shop.proxy.set("getalleventconcepts", "error");
    shop.proxy.set("geteventconcepts", "error");
    expect((await admin("GET", "health")).body.service).toMatchObject({
      isKeyValid: null,
      isReachable: false,
    });
  });

  it("lists the euro regions that accept gift cards", async () => {
    const make = async (name: string, currency_code: string) =>
      (await shop.storefront.ok("POST", "/admin/regions", { name, currency_code, countries: [] })).region.id;
    const made = [await make("Islands", "eur"), await make("America", "usd")];
    expect((await admin("GET", "health")).body.regions).toMatchObject([
      { name: "Europe", takesGiftcards: true },
      { name: "Islands", takesGiftcards: false },
    ]);
    for (const id of made) await shop.storefront.ok("DELETE", `/admin/regions/${id}`);
    expect((await admin("GET", "health")).body.regions).toHaveLength(1);
  });

  it("reports that no region accepts gift cards", { tags: "long" }, async () => {
    await shop.storefront.enableProviders(["pp_system_default"]);
    expect((await admin("GET", "health")).body.regions).toMatchObject([{ takesGiftcards: false }]);
    await shop.storefront.enableProviders();
    expect((await admin("GET", "health")).body.regions).toMatchObject([{ takesGiftcards: true }]);
  });

  it("reports a revoked key", async () => {
    const keys = (await shop.service.command("key", "list", "--company", String(shop.company.companyId))) as {
      key_id: number;
    }[];
    for (const { key_id } of keys) await shop.service.command("key", "revoke", String(key_id));
    expect((await admin("GET", "health")).body.service).toMatchObject({
      ...{ isReachable: true, isKeyValid: false, fault: "unauthorized" },
    });
  });
});
