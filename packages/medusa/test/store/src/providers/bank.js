const { appendFileSync } = require("node:fs");
const { AbstractPaymentProvider, ModuleProvider, Modules } = require("@medusajs/framework/utils");

/**
 * What the bank itself knows, where a test asks for it: a line for each thing that it did, kept when the shop dies.
 * A session of a page that names its cart can be found by it.
 */
function enter(deed, { data, amount }) {
  if (!process.env.TEST_BANK_BOOK) return;
  const { session_id: session, cart, asked } = data;
  const line = { deed, session, cart, amount: Number(amount ?? asked) };
  appendFileSync(process.env.TEST_BANK_BOOK, `${JSON.stringify(line)}\n`);
}

/** What a webhook has said of a session. */
const said = new Map();

/**
 * A bank that does what the page asks for in the session's data: `behaviour` is the status that an authorization ends
 * with, "hangs" (nothing is authorized, and no answer comes), "authorizes and hangs", "slow" (authorized after three
 * seconds) or "asks" (requires_more at first, then authorized); `initially` is the status that it begins with. A
 * webhook can say later what became of a session. It remembers what it holds of each session in the data, as a real provider would remember it at its
 * own place. A session that is deleted holds no money any more.
 */
class BankProvider extends AbstractPaymentProvider {
  static identifier = "bank";

  async initiatePayment({ data, amount }) {
    const status = data.initially ?? "pending";
    enter("initiate", { data, amount });
    return { id: data.session_id, status, data: { ...data, asked: Number(amount), state: "open" } };
  }
  async updatePayment({ data, amount }) {
    return { status: "pending", data: { ...data, asked: Number(amount) } };
  }
  async authorizePayment({ data }) {
    const status = this.decide(data);
    if (data.behaviour === "slow") {
      console.log("the bank takes its time");
      await new Promise((resolve) => setTimeout(resolve, 3000));
    }
    if (status !== "authorized" && status.endsWith("hangs")) {
      enter(status === "hangs" ? "ask" : "authorize", { data });
      await new Promise((resolve) => setTimeout(resolve, 60_000));
    }
    if (status === "authorized") enter("authorize", { data });
    return { status, data: { ...data, state: status } };
  }
  decide({ session_id, behaviour = "authorized", state }) {
    if (said.has(session_id)) return said.get(session_id);
    if (behaviour === "asks") return state === "requires_more" ? "authorized" : "requires_more";
    return behaviour === "slow" ? "authorized" : behaviour;
  }
  async capturePayment({ data }) {
    enter("capture", { data });
    return { data: { ...data, state: "captured" } };
  }
  async cancelPayment({ data }) {
    enter("cancel", { data });
    return { data: { ...data, state: "canceled" } };
  }
  async refundPayment({ data, amount }) {
    enter("refund", { data, amount });
    return { data: { ...data, state: "refunded" } };
  }
  async deletePayment({ data }) {
    enter("delete", { data });
    return { data };
  }
  async retrievePayment({ data }) {
    return { data };
  }
  async getPaymentStatus({ data }) {
    return { status: "pending", data };
  }
  async getWebhookActionAndData({ data }) {
    if (data.action === "authorized" || data.action === "captured") said.set(data.session_id, data.action);
    return { action: data.action, data: { session_id: data.session_id, amount: data.amount } };
  }
}

module.exports = ModuleProvider(Modules.PAYMENT, { services: [BankProvider] });
