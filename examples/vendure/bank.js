/** A simulated bank for the remainder: captures at once, refunds, and blocks payments that arrive after a close. */
import http from "node:http";

/**
 * A payment with an id by the shop. Two requests with one id are a single payment.
 * @typedef {object} BankPayment
 * @property {number} amountCents
 * @property {string} orderCode the order's code at the shop
 * @property {boolean} isClosed whether all of it is refunded, and nothing more may be captured
 * @property {Map<string, number>} refunds the refunded cents, by the refund's id
 */

/** Returns the cents that a payment still holds. @param {BankPayment} payment */
const heldCents = ({ amountCents, isClosed, refunds }) =>
  isClosed ? 0 : amountCents - [...refunds.values()].reduce((sum, cents) => sum + cents, 0);

/** Starts the bank on a free port of 127.0.0.1, with its records in memory. */
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
    /** Returns the cents that the bank holds for an order. @param {string} code */
    heldCents: (code) =>
      [...payments.values()].reduce((sum, one) => sum + (one.orderCode === code ? heldCents(one) : 0), 0),
    stop: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
