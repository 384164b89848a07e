import { call, type Scene } from "./call.js";
import { unasked } from "./round.js";
import type { BankStep, Step } from "./scenario.js";

/** What happens at the bank itself, by the name of the step. */
export const bankActions: Record<BankStep, (scene: Scene, step: Step) => Promise<unknown>> = {
  /** The shopper pays on the bank's page; the shop learns of it later. */
  async pay({ stage, round, name, cart }, step) {
    const { session } = cart;
    const { bank } = stage.world;
    if (!session || bank.held().some((held) => held.session === session.id)) return;
    const wasDeleted = bank
      .deeds(cart.id)
      .some((line) => line.deed === "delete" && line.session === session.id);
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
  /** The bank tells the shop what it did; a payment that it doesn't have it doesn't tell of. */
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

/** Sends the bank's webhook. */
export function tell(
  scene: Scene,
  step: Step,
  body: { action: string; session_id: string; amount: number; cart: string },
): Promise<unknown> {
  return call(scene, step, { path: "/hooks/payment/bank_bank", body, what: `says "${body.action}"` });
}
