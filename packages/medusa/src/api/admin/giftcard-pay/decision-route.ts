import type { Attempt, Engine } from "@giftcard-pay/checkout";
import { MedusaError } from "@medusajs/framework/utils";
import { showAttempt } from "./attempt-view.js";
import { adminRoute, readActor } from "./desk.js";

/** Makes the route of a person's decision about an attempt. Who decided is written down with it. */
export function decisionRoute(
  decide: (engine: Engine, reference: string, actor: string) => Promise<Attempt | null>,
) {
  return adminRoute(async ({ giftcard, req }) => {
    const { engine } = giftcard;
    const reference = String(req.params.reference);
    const before = await engine.journal.attempt(reference);
    if (!before) throw new MedusaError(MedusaError.Types.NOT_FOUND, "There is no such attempt.");
    const attempt = await decide(engine, reference, await readActor(req));
    if (attempt) return { attempt: showAttempt(attempt) };
    const now = (await engine.journal.attempt(reference))?.state ?? before.state;
    const message = `This attempt needs no decision (any more): it is ${now}. Nothing was done.`;
    throw new MedusaError(MedusaError.Types.NOT_ALLOWED, message, "not_open");
  });
}
