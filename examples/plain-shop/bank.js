/** A simulated bank on its own port, with a page where the shopper approves or declines, like redirect payments. */
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { bearerAuth } from "hono/bearer-auth";
import { csrf } from "hono/csrf";
import { html } from "hono/html";

/**
 * A payment with an id by the shop. Two requests with one id are a single payment.
 * @typedef {object} Payment
 * @property {number} amountCents
 * @property {string} returnUrl the URL to which the shopper is redirected
 * @property {"open" | "authorized" | "declined" | "canceled"} state
 * @property {number} refundedCents
 */

/** The shopper's choices on the page. */
const choices = {
  approve: "Approve",
  decline: "Decline",
  twice: "Approve, and come back twice",
  hang: "Approve, and never come back",
};

const style = `
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
  body { max-width: 24rem; margin: 3rem auto; padding: 0 1rem; }
  button { display: block; width: 100%; margin: 0 0 0.75rem; padding: 0.75rem; font: inherit; }`;

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">
  <rect width="16" height="16" rx="4" fill="#1f5f4a"/>
  <path d="M8 2.5l5.5 3v1h-11v-1zM4 7.5h1.5v4H4zM7.25 7.5h1.5v4h-1.5zM10.5 7.5H12v4h-1.5zM3 12.5h10v1H3z" fill="#fff"/>
</svg>`;

/** @param {string} title @param {unknown} body */
const page = (title, body) => html`<!doctype html>
  <html lang="en">
    <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width">
      <title>${title} · Pretend Bank</title>
      <link rel="icon" href="/bank.svg">
      <link rel="stylesheet" href="/bank.css">
    </head>
    <body><main><p>Pretend Bank</p><h1>${title}</h1>${body}</main></body>
  </html>`;

/** @param {string} file the bank's database */
function openPayments(file) {
  const book = new DatabaseSync(file);
  book.exec(`pragma journal_mode = wal; pragma busy_timeout = 5000;
    create table if not exists payment (id text primary key, amountCents integer not null, returnUrl text not null,
      state text not null) strict;
    create table if not exists refund (id text primary key, payment text not null references payment (id),
      amountCents integer not null) strict`);
  const find = book.prepare(`select amountCents, returnUrl, state,
    (select coalesce(sum(amountCents), 0) from refund where payment = payment.id) as refundedCents
    from payment where id = ?`);
  const add = book.prepare("insert into payment values (?, ?, ?, ?) on conflict do nothing");
  const close = book.prepare("update payment set state = 'canceled' where id = ?");
  const decide = book.prepare("update payment set state = ? where id = ? and state = 'open'");
  const findRefund = book.prepare("select payment, amountCents from refund where id = ?");
  const refund = book.prepare("insert into refund values (?, ?, ?)");
  return {
    /** @param {string} id */
    find: (id) => /** @type {Payment | undefined} */ (/** @type {unknown} */ (find.get(id))),
    /** @param {string} id @param {Omit<Payment, "refundedCents">} payment */
    add: (id, { amountCents, returnUrl, state }) => add.run(id, amountCents, returnUrl, state),
    /** @param {string} id */
    close: (id) => close.run(id),
    /** Changes the state of an open payment only. @param {string} id @param {Payment["state"]} state */
    decide: (id, state) => decide.run(state, id),
    /**
     * Refunds a part, once per id of the part. A canceled payment is refunded already, so nothing more is.
     * @param {string} id @param {{ id: string, amountCents: number }} part @returns whether the part is refunded
     */
    refund(id, part) {
      const there = findRefund.get(part.id);
      if (there) return there.payment === id && there.amountCents === part.amountCents;
      const payment = this.find(id);
      if (payment?.state === "canceled") return true;
      if (payment?.state !== "authorized" || payment.refundedCents + part.amountCents > payment.amountCents)
        return false;
      return refund.run(part.id, id, part.amountCents).changes === 1;
    },
  };
}

/**
 * @param {string} key the shop's API key
 * @param {ReturnType<typeof openPayments>} payments
 */
function createBank(key, payments) {
  const app = new Hono();
  app.use("/payments/*", bearerAuth({ token: key }));

  app.put("/payments/:id", async (c) => {
    const id = c.req.param("id");
    const { amountCents, returnUrl } = await c.req.json();
    if (!Number.isInteger(amountCents) || amountCents < 1 || !URL.canParse(returnUrl)) {
      return c.json({ error: "amountCents and returnUrl" }, 400);
    }
    payments.add(id, { amountCents, returnUrl, state: "open" });
    return c.json({ state: payments.find(id)?.state, page: new URL(`/pay/${id}`, c.req.url).href });
  });

  app.get("/payments/:id", (c) => {
    const payment = payments.find(c.req.param("id"));
    return payment ? c.json({ state: payment.state }) : c.json({ error: "not found" }, 404);
  });

  // This also works before the payment has arrived: a late payment finds itself closed.
  app.delete("/payments/:id", (c) => {
    const id = c.req.param("id");
    payments.add(id, { amountCents: 0, returnUrl: "", state: "canceled" });
    payments.close(id);
    return c.json({ state: "canceled" });
  });

  app.post("/payments/:id/refunds", async (c) => {
    const { id, amountCents } = await c.req.json();
    const isPart = typeof id === "string" && Number.isInteger(amountCents) && amountCents > 0;
    if (!isPart || !payments.refund(c.req.param("id"), { id, amountCents })) {
      return c.json({ error: "not a part of what was paid" }, 409);
    }
    return c.json({ state: "refunded" });
  });

  app.get("/bank.css", (c) => c.text(style, 200, { "content-type": "text/css" }));
  app.get("/bank.svg", (c) => c.text(icon, 200, { "content-type": "image/svg+xml" }));

  app.get("/pay/:id", (c) => {
    const payment = payments.find(c.req.param("id"));
    if (!payment?.returnUrl) return c.html(page("There is no such payment", ""), 404);
    const shop = new URL(payment.returnUrl).origin;
    c.header(
      "Content-Security-Policy",
      `default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self' ${shop}; base-uri 'none'; frame-ancestors 'none'`,
    );
    if (payment.state !== "open") {
      return c.html(page("This payment is closed", html`<p><a href="${payment.returnUrl}">Back to the shop</a></p>`));
    }
    const buttons = Object.entries(choices).map(
      ([value, text]) => html`<button name="choice" value="${value}">${text}</button>`,
    );
    const form = html`<form method="post">${buttons}</form>`;
    return c.html(page(`Pay €${(payment.amountCents / 100).toFixed(2)}`, form));
  });

  app.post("/pay/:id", csrf(), async (c) => {
    const id = c.req.param("id");
    const payment = payments.find(id);
    const { choice } = await c.req.parseBody();
    if (!payment?.returnUrl || typeof choice !== "string" || !Object.hasOwn(choices, choice)) {
      return c.html(page("There is no such payment", ""), 400);
    }
    // The shop learns the result when the shopper returns.
    payments.decide(id, choice === "decline" ? "declined" : "authorized");
    if (choice === "hang") return new Promise(() => {});
    // The bank's own call and the shopper's browser arrive at once.
    if (choice === "twice") void fetch(payment.returnUrl, { redirect: "manual" }).catch(() => {});
    return c.redirect(payment.returnUrl, 303);
  });
  return app;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { PORT = "3001", HOST = "127.0.0.1", BANK_KEY, BANK_FILE = ":memory:" } = process.env;
  if (!BANK_KEY) throw new Error("Set BANK_KEY, which the shop calls with.");
  const app = createBank(BANK_KEY, openPayments(BANK_FILE));
  const server = serve({ fetch: app.fetch, port: Number(PORT), hostname: HOST }, ({ port }) =>
    console.log(`The bank is ready at http://${HOST}:${port}`),
  );
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(0));
  server.on("error", (error) => {
    throw error;
  });
}
