/** A pretend bank, for what the cards leave: takes at once, gives back, and closes what hasn't come yet. */
import http from "node:http";

/**
 * A payment, named by the shop: asked for twice it is one.
 * @typedef {object} BankPayment
 * @property {number} amountCents
 * @property {string} orderCode whose order it is for, as the shop says
 * @property {boolean} isClosed all of it is back, and nothing is taken for it any more
 * @property {Map<string, number>} refunds what went back, by the refund's id
 */

/** What a payment still holds. @param {BankPayment} payment */
const heldCents = ({ amountCents, isClosed, refunds }) =>
  isClosed ? 0 : amountCents - [...refunds.values()].reduce((sum, cents) => sum + cents, 0);

/** Starts the bank on a free port of 127.0.0.1, with its book in memory. */
export async function startBank() {
  /** @type {Map<string, BankPayment>} */
  const payments = new Map();
  const server = http.createServer(async (request, response) => {
    const [, , id = "", refunds] = (request.url ?? "").split("/");
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString() || "{}");
    const there = payments.get(id);
    const { amountCents = 0, orderCode = "" } = body;
    const payment = there ?? { amountCents, orderCode, isClosed: false, refunds: new Map() };
    payments.set(id, payment);
    if (request.method === "DELETE") payment.isClosed = true;
    if (refunds && !payment.refunds.has(body.id) && body.amountCents <= heldCents(payment))
      payment.refunds.set(body.id, body.amountCents);
    const isTaken = !payment.isClosed && payment.amountCents === (body.amountCents ?? payment.amountCents);
    const isDone = request.method === "PUT" ? isTaken : payment.isClosed || payment.refunds.has(body.id);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ isDone }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    /** What it holds of an order, in cents. @param {string} code */
    heldCents: (code) =>
      [...payments.values()].reduce((sum, one) => sum + (one.orderCode === code ? heldCents(one) : 0), 0),
    stop: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
