const { AbstractPaymentProvider, ModuleProvider, Modules } = require("@medusajs/framework/utils");

/**
 * A bank that does what the page asks for in the session's data: `behaviour` is the status that an authorization ends
 * with, or "hangs"; `initially` is the status that it begins with. It remembers what it holds of each session in the data, as a real provider would remember it at its own place.
 */
class BankProvider extends AbstractPaymentProvider {
  static identifier = "bank";

  async initiatePayment({ data, amount }) {
    const status = data.initially ?? "pending";
    return { id: data.session_id, status, data: { ...data, asked: Number(amount), state: "open" } };
  }
  async updatePayment({ data, amount }) {
    return { status: "pending", data: { ...data, asked: Number(amount) } };
  }
  async authorizePayment({ data }) {
    const status = data.behaviour ?? "authorized";
    if (status === "hangs") await new Promise((resolve) => setTimeout(resolve, 60_000));
    return { status, data: { ...data, state: status } };
  }
  async capturePayment({ data }) {
    return { data: { ...data, state: "captured" } };
  }
  async cancelPayment({ data }) {
    return { data: { ...data, state: "canceled" } };
  }
  async refundPayment({ data }) {
    return { data: { ...data, state: "refunded" } };
  }
  async deletePayment({ data }) {
    return { data };
  }
  async retrievePayment({ data }) {
    return { data };
  }
  async getPaymentStatus({ data }) {
    return { status: "pending", data };
  }
  async getWebhookActionAndData({ data }) {
    return { action: data.action, data: { session_id: data.session_id, amount: data.amount } };
  }
}

module.exports = ModuleProvider(Modules.PAYMENT, { services: [BankProvider] });
