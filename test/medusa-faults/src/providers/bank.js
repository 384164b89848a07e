const { AbstractPaymentProvider, ModuleProvider, Modules } = require("@medusajs/framework/utils");

/** A bank that authorizes everything, and refuses to cancel or refund if the session's data says so. */
class BankProvider extends AbstractPaymentProvider {
  static identifier = "bank";

  async initiatePayment({ data }) {
    return { id: data.session_id, status: "pending", data };
  }
  async updatePayment({ data }) {
    return { status: "pending", data };
  }
  async authorizePayment({ data }) {
    return { status: "authorized", data };
  }
  async capturePayment({ data }) {
    return { data };
  }
  async cancelPayment({ data }) {
    if (data.refuses === "cancel") throw new Error("The bank can't cancel this payment now.");
    return { data };
  }
  async refundPayment({ data }) {
    if (data.refuses === "refund") throw new Error("The bank can't refund this payment now.");
    return { data };
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
  async getWebhookActionAndData() {
    return { action: "not_supported" };
  }
}

module.exports = ModuleProvider(Modules.PAYMENT, { services: [BankProvider] });
