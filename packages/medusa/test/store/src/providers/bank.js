const { appendFileSync, readFileSync } = require("node:fs");
const { AbstractPaymentProvider, ModuleProvider, Modules } = require("@medusajs/framework/utils");

/**
 * The bank's own book, if a test asks for it: one line for each action, which survives a crash of the shop. A session
 * whose page named its cart can be found by the cart.
 */
function enter(deed, { data, amount }) {
  if (!process.env.TEST_BANK_BOOK) return;
  const { session_id: session, cart, asked } = data;
  const line = { deed, session, cart, amount: Number(amount?.numeric ?? amount?.value ?? amount ?? asked) };
  appendFileSync(process.env.TEST_BANK_BOOK, `${JSON.stringify(line)}\n`);
}

/** The webhooks that Medusa asked the bank to read. */
const read = [];

/** The latest webhook status of a session; with a book, of all processes. */
const said = new Map();

/** The book's entries of a session. All processes share the book, and it survives them. */
function deedsOf({ session_id }) {
  if (!process.env.TEST_BANK_BOOK) return [];
  const lines = readFileSync(process.env.TEST_BANK_BOOK, "utf8").split("\n");
  return lines.filter((line) => line.includes(session_id)).map((line) => JSON.parse(line).deed);
}

function saidOf(data) {
  const words = deedsOf(data).filter((deed) => deed.startsWith("say "));
  return words.at(-1)?.slice("say ".length) ?? said.get(data.session_id);
}

/** Whether the bank has the money: captured, or paid on the bank's own page before the shop knows. */
function isPaid(data) {
  const deeds = deedsOf(data);
  return ["pay", "capture", "say captured"].some((deed) => deeds.includes(deed)) && !deeds.includes("refund");
}

/** Whether a session was deleted, so that it can no longer pay. */
const isGone = (data) => deedsOf(data).includes("delete");

/** Paid money can only be refunded; afterwards there is nothing to cancel or delete. */
function refusePaid(data) {
  const isEarly = data.early && data.state === "open";
  if (isEarly || data.state === "captured" || data.state === "refunded" || isPaid(data))
    throw new Error("The bank has this payment's money already.");
}

/** The last entry of a session that closed it or took its money. */
const endOf = (data) => deedsOf(data).findLast((deed) => ["cancel", "capture", "delete"].includes(deed));

/**
 * A bank whose behavior the page chooses in the session's data:
 * - `behaviour`: the status after authorization, or "hangs" (no authorization, no response), "authorizes and hangs",
 *   "slow" (authorized after three seconds), "asks" (requires_more first, then authorized).
 * - `takesMs`: how long authorization takes.
 * - `initially`: the status at creation.
 * - `refusal`: the message with which it refuses to create the session.
 * - `early`: the shopper pays before Medusa knows. The session stays pending in Medusa, and the bank refuses to delete it;
 *   the same happens if the page pays at the bank itself.
 * - `canceling`, `refunding`: "slow", "hangs" or "loses its answer".
 *
 * A webhook can report a session's status later. The bank keeps its state in the session's data; a real provider would
 * keep it on its own side. A deleted session holds no money.
 */
class BankProvider extends AbstractPaymentProvider {
  static identifier = "bank";

  async initiatePayment({ data, amount }) {
    if (data.refusal) throw new Error(data.refusal);
    const status = data.initially ?? "pending";
    enter("initiate", { data, amount });
    return { id: data.session_id, status, data: { ...data, asked: Number(amount), state: "open" } };
  }
  async createAccountHolder({ context }) {
    return { id: `bank_${context.customer.id}`, data: {} };
  }

  async updatePayment({ data, amount }) {
    refusePaid(data);
    return { status: "pending", data: { ...data, asked: Number(amount) } };
  }
  async authorizePayment({ data }) {
    if (isGone(data)) return { status: "canceled", data };
    if (data.takesMs) await new Promise((resolve) => setTimeout(resolve, data.takesMs));
    const status = this.decide(data);
    const isSlow = ["slow", "hangs", "authorizes and hangs"].includes(data.behaviour);
    if (isSlow) console.log("the bank takes its time");
    if (data.behaviour === "slow") {
      await new Promise((resolve) => setTimeout(resolve, 3000));
    }
    if (status !== "authorized" && status.endsWith("hangs")) {
      enter(status === "hangs" ? "ask" : "authorize", { data });
      await new Promise((resolve) => setTimeout(resolve, 60_000));
    }
    if (status === "authorized") enter("authorize", { data });
    if (status === "captured") enter("capture", { data });
    return { status, data: { ...data, state: status } };
  }
  decide(data) {
    const { behaviour = "authorized", early, state } = data;
    const word = saidOf(data);
    if (word) return word === "failed" ? "error" : word;
    if (early || isPaid(data)) return "captured";
    if (behaviour === "asks") return state === "requires_more" ? "authorized" : "requires_more";
    return behaviour === "slow" ? "authorized" : behaviour;
  }
  async capturePayment({ data }) {
    if (["cancel", "delete"].includes(endOf(data))) throw new Error("The bank has no such payment.");
    enter("capture", { data });
    return { data: { ...data, state: "captured" } };
  }
  async cancelPayment({ data }) {
    refusePaid(data);
    if (data.canceling === "slow") {
      console.log(`the bank is asked to cancel ${data.session_id}`);
      await new Promise((resolve) => setTimeout(resolve, 3000));
    }
    enter("cancel", { data });
    if (data.canceling === "loses its answer") throw new Error("socket hang up");
    return { data: { ...data, state: "canceled" } };
  }
  async refundPayment({ data, amount }) {
    if (data.refunding === "hangs") {
      console.log(`the bank is asked to refund ${data.session_id}`);
      await new Promise((resolve) => setTimeout(resolve, 60_000));
    }
    enter("refund", { data, amount });
    if (data.refunding === "loses its answer") throw new Error("socket hang up");
    return { data: { ...data, state: "refunded" } };
  }
  async deletePayment({ data }) {
    refusePaid(data);
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
    read.push(data);
    // A late webhook is about an earlier try.
    if (data.session_id !== undefined && !data.isLate) {
      said.set(data.session_id, data.action);
      enter(`say ${data.action}`, { data });
    }
    return { action: data.action, data: { session_id: data.session_id, amount: data.amount } };
  }
}

module.exports = ModuleProvider(Modules.PAYMENT, { services: [BankProvider] });
module.exports.read = read;
