import { call, type Scene } from "./call.js";
import { unasked } from "./round.js";
import type { BankStep, Step } from "./scenario.js";

/** The actions of the bank, by the name of the step. */
export const bankActions: Record<BankStep, (scene: Scene, step: Step) => Promise<unknown>> = {
  /** The shopper pays on the bank's page. The shop learns about the payment later. */
  async pay({ stage, round, name, cart }, step) {
    const { session } = cart;
    const { bank } = stage.world;
    if (!session || bank.held().some((held) => held.session === session.id)) return;
    const wasDeleted = bank.deeds(cart.id).some((line) => line.deed === "delete" && line.session === session.id);
    if (wasDeleted) return;
    bank.pay(session.id, cart.id, session.amount);
    round.entries.push({
      ...{
        ...unasked,
        atMs: performance.now() - round.startedAt,
        who: name,
        cart: cart.index,
        step: step.do,
      },
      what: `is paid ${session.amount.toFixed(2)} on its own page`,
    });
  },
  /** The bank notifies the shop of the cart's last session, unless the session was deleted or canceled. */
  async webhook(scene, step) {
    const { cart, stage } = scene;
    const { session } = cart;
    if (!session) return;
    const deeds = stage.world.bank.deeds(cart.id).filter((line) => line.session === session.id);
    const isGone = deeds.some(({ deed }) => deed === "delete" || deed === "cancel");
    if (isGone) return;
    const { id: session_id, amount } = session;
    await tell(scene, step, { action: step.how ?? "authorized", session_id, amount, cart: cart.id });
  },
};

/** Sends a webhook of the bank to the shop. */
export function tell(
  scene: Scene,
  step: Step,
  body: { action: string; session_id: string; amount: number; cart: string },
): Promise<unknown> {
  return call(scene, step, { path: "/hooks/payment/bank_bank", body, what: `says "${body.action}"` });
}
