const { appendFileSync, readFileSync } = require("node:fs");
const { AbstractPaymentProvider, ModuleProvider, Modules } = require("@medusajs/framework/utils");

/**
 * What the bank itself knows, where a test asks for it: a line for each thing that it did, kept when the shop dies.
 * A session of a page that names its cart can be found by it.
 */
function enter(deed, { data, amount }) {
  if (!process.env.TEST_BANK_BOOK) return;
  const { session_id: session, cart, asked } = data;
  const line = { deed, session, cart, amount: Number(amount?.numeric ?? amount?.value ?? amount ?? asked) };
  appendFileSync(process.env.TEST_BANK_BOOK, `${JSON.stringify(line)}\n`);
}

/** What a webhook has said of a session; with a book, that of every process. */
const said = new Map();

/** What the book says that was done with a session: it is one for all processes, and outlives them. */
function deedsOf({ session_id }) {
  if (!process.env.TEST_BANK_BOOK) return [];
  const lines = readFileSync(process.env.TEST_BANK_BOOK, "utf8").split("\n");
  return lines.filter((line) => line.includes(session_id)).map((line) => JSON.parse(line).deed);
}

function saidOf(data) {
  const words = deedsOf(data).filter((deed) => deed.startsWith("say "));
  return words.at(-1)?.slice("say ".length) ?? said.get(data.session_id);
}

/** Whether the bank has taken a session's money: by a page at the bank itself, which the shop may not know yet, or captured. */
function isPaid(data) {
  const deeds = deedsOf(data);
  return ["pay", "capture", "say captured"].some((deed) => deeds.includes(deed)) && !deeds.includes("refund");
}

/** A session that was deleted is over: nothing is paid by it any more. */
const isGone = (data) => deedsOf(data).includes("delete");

/** What was paid can only be refunded, and is nothing to cancel or delete after that. */
function refusePaid(data) {
  const isEarly = data.early && data.state === "open";
  if (isEarly || data.state === "captured" || data.state === "refunded" || isPaid(data))
    throw new Error("The bank has this payment's money already.");
}

/** The last thing that was done with a session, of those that end it or take its money. */
const endOf = (data) => deedsOf(data).findLast((deed) => ["cancel", "capture", "delete"].includes(deed));

/**
 * A bank that does what the page asks for in the session's data: `behaviour` is the status that an authorization ends
 * with, "hangs" (nothing is authorized, and no answer comes), "authorizes and hangs", "slow" (authorized after three
 * seconds) or "asks" (requires_more at first, then authorized); `initially` is the status that it begins with. With
 * `early`, the shopper has paid before Medusa knows of it: the session stays pending there, and the bank doesn't let it
 * be deleted. So it is too where the page pays at the bank itself. A webhook can say later what became of a session. It
 * remembers what it holds of each session in the data, as a real provider would remember it at its own place. A session
 * that is deleted holds no money any more. `canceling` and `refunding` say how it does these: "slow", "hangs", or "loses its
 * answer".
 */
class BankProvider extends AbstractPaymentProvider {
  static identifier = "bank";

  async initiatePayment({ data, amount }) {
    const status = data.initially ?? "pending";
    enter("initiate", { data, amount });
    return { id: data.session_id, status, data: { ...data, asked: Number(amount), state: "open" } };
  }
  async updatePayment({ data, amount }) {
    refusePaid(data);
    return { status: "pending", data: { ...data, asked: Number(amount) } };
  }
  async authorizePayment({ data }) {
    if (isGone(data)) return { status: "canceled", data };
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
    if (word) return word;
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
    if (data.action === "authorized" || data.action === "captured") {
      said.set(data.session_id, data.action);
      enter(`say ${data.action}`, { data });
    }
    return { action: data.action, data: { session_id: data.session_id, amount: data.amount } };
  }
}

module.exports = ModuleProvider(Modules.PAYMENT, { services: [BankProvider] });
