import type { Engine } from "@giftcard-pay/checkout/plugin";
import type { Charge } from "@giftcard-pay/checkout/store";
import { MedusaError } from "@medusajs/framework/utils";
import { adminRoute, notOpen, readActor } from "./admin-route.js";
import { showCharge } from "./charge-view.js";

/** Makes the route of a person's decision about a charge. Who decided is written down with it. */
export function decisionRoute(
  decide: (engine: Engine, reference: string, actor: string) => Promise<Charge | null>,
) {
  return adminRoute(async ({ giftcard, req }) => {
    const { engine } = giftcard;
    const reference = String(req.params.reference);
    const before = await engine.journal.charge(reference);
    if (!before) throw new MedusaError(MedusaError.Types.NOT_FOUND, "There is no such charge.");
    const charge = await decide(engine, reference, await readActor(req));
    if (charge) return { charge: showCharge(charge) };
    const now = (await engine.journal.charge(reference))?.state ?? before.state;
    throw notOpen(`This charge needs no decision (any more): it is ${now}.`);
  });
}
