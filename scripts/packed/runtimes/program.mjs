/** Uses the packed client and checkout in each runtime. It only returns the results, and the caller checks them. */
import { createCheckout, createHandler, createPostgresStore } from "@giftcard-pay/checkout";
import { cents, createClient } from "@giftcard-pay/client";
import pg from "pg";

/**
 * @typedef {object} Stage
 * @property {string} url the service
 * @property {string} lossyUrl the same, through a proxy that drops the answer of each devalue
 * @property {string} closedUrl an address where nothing listens
 * @property {string} apiKey
 * @property {number} companyId
 * @property {number} providerId
 * @property {{ cardNumber: string, pin: string }} card a card of 75.00
 * @property {string} databaseUrl an empty PostgreSQL
 * @property {string} sealingKey
 */

/** @param {Stage} stage */
export async function tryAll(stage) {
  return { client: await tryClient(stage), checkout: await tryCheckout(stage) };
}

/** @param {Promise<unknown>} call */
const failureOf = (call) =>
  call.then(
    () => ({ code: "none" }),
    ({ name, code, reason = null, message }) => (code ? { name, code, reason } : { name, message }),
  );

/** @param {Stage} stage */
async function tryClient({ url, lossyUrl, closedUrl, apiKey, companyId, providerId, card }) {
  const clientOf = (/** @type {string} */ baseUrl) => createClient({ baseUrl, apiKey, companyId });
  const client = clientOf(url);
  const { balanceCents } = await client.balance(card);
  const payment = { ...card, amountCents: cents(7498) };
  const done = await client.devalue({ ...payment, reference: crypto.randomUUID() });
  const { cancelToken, deductedCents, remainderCents } = done;
  const { refundedCents } = await client.cancelDevalue({ cancelToken });
  const refused = await failureOf(client.balance({ ...card, pin: "000000" }));

  const lossy = clientOf(lossyUrl);
  await lossy.balance(card); // opens the connection, so that the next call reuses it
  const reference = crypto.randomUUID();
  const lost = await failureOf(lossy.devalue({ ...payment, reference }));
  const { outcome } = await client.resolveDevalue(reference);
  const unconnected = await failureOf(clientOf(closedUrl).devalue({ ...payment, reference: "none" }));

  await client.createEventConcept({ representative: "A. Organiser", register: "Nights", providerId });
  const event = {
    providerId,
    name: "Night",
    organiser: "Club",
    startDate: "2099-06-01",
    startTime: "20:00:00",
  };
  const ticketLink = "https://tickets.example/1";
  await client.createEvents([1, 2, 3].map((number) => ({ ...event, name: `Night ${number}`, ticketLink })));
  const events = (await client.listEvents()).map(({ title }) => title);
  return {
    ...{ balanceCents, deductedCents, remainderCents, refundedCents, refused, lost, outcome, unconnected },
    events: events.sort(),
    isTokenHidden: !JSON.stringify(done).includes(cancelToken.reveal()),
  };
}

/** Pays 50.00 of 74.98 with a card that is applied by the page's route, then cancels the order. @param {Stage} stage */
async function tryCheckout({ url, apiKey, companyId, card, databaseUrl, sealingKey }) {
  const pool = new pg.Pool({ connectionString: databaseUrl });
  try {
    const store = createPostgresStore({ pool });
    await store.migrate();
    let givenBack = 0;
    const authorized = async () => /** @type {const} */ ({ status: "authorized" });
    const client = createClient({ baseUrl: url, apiKey, companyId });
    const checkout = createCheckout({
      ...{ issuer: client, environment: "sandbox", store, sealingKeys: [{ id: "1", key: sealingKey }] },
      remainder: { authorize: authorized, status: authorized, cancel: async () => void givenBack++ },
    });
    const cart = { id: crypto.randomUUID(), totalCents: cents(7498), currency: "EUR" };
    const giftcards = createHandler(checkout, { cartOf: () => cart });
    const answer = await giftcards(
      new Request(`http://shop.example/giftcards/carts/${cart.id}/cards`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(card),
      }),
    );
    const { coveredCents, plan } = await answer.json();
    const { status, remainderCents } = await checkout.pay({ id: cart.id, cart, plan });
    const { balanceCents: paidCents } = await client.balance(card);
    await checkout.cancel(cart.id);
    const charges = (await checkout.charges(cart.id)).map(({ state }) => state);
    const { balanceCents } = await client.balance(card);
    return { coveredCents, status, remainderCents, paidCents, charges, balanceCents, givenBack };
  } finally {
    await pool.end();
  }
}
