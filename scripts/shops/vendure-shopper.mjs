/** A shopper and an admin of the Vendure shop, who only use its GraphQL APIs. */

/** @typedef {{ cardNumber: string, pin: string }} Card */
/** @typedef {{ total: number, state: string }} RefundView */
/** @typedef {{ id: string, state: string, amount: number, method: string, refunds: RefundView[] }} PaymentView */
/**
 * An order in Vendure's APIs.
 * @typedef {object} OrderView
 * @property {string} id
 * @property {string} code
 * @property {string} state
 * @property {boolean} active
 * @property {number} totalWithTax
 * @property {PaymentView[]} payments
 */

const FIELDS = "id code state active totalWithTax payments { id state amount method refunds { total state } }";
const FAULT = "... on ErrorResult { errorCode message }";
const ORDER = `... on Order { ${FIELDS} } ${FAULT}`;

/**
 * Opens a session of one of Vendure's APIs.
 * @param {string} url the API's
 * @param {AbortSignal} [signal]
 * @param {string} [token] of an existing session
 * @param {string} [channel] the channel's token. Default: the default channel
 */
function openSession(url, signal, token = "", channel = "") {
  return {
    bearer: () => token,
    /** @param {string} query @param {object} [variables] @returns {Promise<any>} the query's one field, also if it is a refusal */
    async ask(query, variables = {}) {
      const response = await fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(token && { authorization: `Bearer ${token}` }),
          ...(channel && { "vendure-token": channel }),
        },
        body: JSON.stringify({ query, variables }),
        ...(signal && { signal }),
      });
      token = response.headers.get("vendure-auth-token") ?? token;
      const { data, errors } = /** @type {any} */ (await response.json());
      if (errors) throw new Error(errors[0].message);
      return Object.values(data)[0];
    },
    /** @param {string} query @param {object} [variables] @returns {Promise<any>} the query's one field. Throws a refusal */
    async call(query, variables = {}) {
      const value = await this.ask(query, variables);
      if (value?.errorCode && value.errorCode !== "PAYMENT_DECLINED_ERROR") throw new Error(value.message);
      return value;
    },
  };
}

/**
 * Opens a shopper with a new session, or with an existing one to use another process of the shop as the same shopper.
 * @param {string} shopUrl
 * @param {AbortSignal} [signal]
 * @param {string} [token]
 * @param {string} [channel] the channel's token
 */
export function openShopper(shopUrl, signal, token, channel) {
  const session = openSession(`${shopUrl}/shop-api`, signal, token, channel);
  const { ask, bearer } = session;
  const call = session.call.bind(session);
  /** @param {string} how @param {object} [metadata] */
  const pay = (how, metadata = {}) =>
    call(`mutation ($input: PaymentInput!) { addPaymentToOrder(input: $input) { ${ORDER} } }`, {
      input: { method: how, metadata },
    });
  return {
    ...{ ask, call, bearer },
    /** Two tickets of 37.49, ready to be paid. @returns {Promise<OrderView>} */
    async order() {
      const { items } = await call("{ products { items { variants { id } } } }");
      const id = items[0].variants[0].id;
      await call(`mutation { addItemToOrder(productVariantId: "${id}", quantity: 2) { ${ORDER} } }`);
      const email = `${crypto.randomUUID()}@example.com`;
      await call(
        `mutation { setCustomerForOrder(input: { firstName: "Ada", lastName: "L", emailAddress: "${email}" }) { ${ORDER} } }`,
      );
      const address = '{ streetLine1: "Street 1", city: "Utrecht", postalCode: "3511 AA", countryCode: "NL" }';
      await call(`mutation { setOrderShippingAddress(input: ${address}) { ${ORDER} } }`);
      const [{ id: method }] = await call("{ eligibleShippingMethods { id } }");
      await call(`mutation { setOrderShippingMethod(shippingMethodId: ["${method}"]) { ${ORDER} } }`);
      return this.moveTo("ArrangingPayment");
    },
    /** @param {string} state @returns {Promise<OrderView>} */
    moveTo: (state) => call(`mutation { transitionOrderToState(state: "${state}") { ${ORDER} } }`),
    /** Applies a card to the active order. @param {Card} card @returns {Promise<{ covered: number, remainder: number }>} */
    apply: ({ cardNumber, pin }) =>
      call(
        `mutation ($input: ApplyGiftcardInput!) {
          applyGiftcard(input: $input) { ... on GiftcardSummary { covered remainder } ${FAULT} }
        }`,
        { input: { cardNumber, pin } },
      ),
    /** Charges the cards for the amounts that a page shows now. */
    async payByCard() {
      const { plan } = await call("{ giftcards { ... on GiftcardSummary { plan } } }");
      return pay("giftcard", { plan });
    },
    /** @param {number} amountCents what the page has shown */
    payByBank: (amountCents) => pay("bank", { amountCents }),
    /** Reads the order, even after it is placed. @param {string} code @returns {Promise<OrderView>} */
    look: async (code) =>
      (await call(`{ activeOrder { ${FIELDS} } }`)) ?? call(`{ orderByCode(code: "${code}") { ${FIELDS} } }`),
  };
}

/**
 * @param {string} shopUrl
 * @param {string} password
 * @param {AbortSignal} [signal]
 * @param {{ username?: string, channel?: string }} [who]
 */
export async function openAdmin(shopUrl, password, signal, { username = "superadmin", channel } = {}) {
  const session = openSession(`${shopUrl}/admin-api`, signal, undefined, channel);
  const { ask } = session;
  const call = session.call.bind(session);
  const login = `login(username: "${username}", password: "${password}")`;
  await call(`mutation { ${login} { ... on CurrentUser { id } ${FAULT} } }`);
  return {
    ...{ ask, call },
    /** @param {string} code @returns {Promise<OrderView>} */
    async look(code) {
      const filter = `options: { filter: { code: { eq: "${code}" } } }`;
      return (await call(`{ orders(${filter}) { items { ${FIELDS} } } }`)).items[0];
    },
    /** @param {string} orderId */
    cancel: (orderId) => call(`mutation { cancelOrder(input: { orderId: "${orderId}" }) { ${ORDER} } }`),
    /** @param {string} paymentId @param {number} amount in cents @returns {Promise<{ state: string, total: number }>} */
    refund: (paymentId, amount) => {
      const input = `{ paymentId: "${paymentId}", amount: ${amount}, shipping: 0, adjustment: 0, reason: "return" }`;
      return call(`mutation { refundOrder(input: ${input}) { ... on Refund { state total } ${FAULT} } }`);
    },
  };
}
