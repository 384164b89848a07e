import type { Engine } from "@giftcard-pay/checkout/plugin";
import type { Charge } from "@giftcard-pay/checkout/store";
import { adminRoute, notFound, notOpen, readActor, showCharge } from "../../../admin-route.js";

const decisions: Record<string, (engine: Engine, reference: string, actor: string) => Promise<Charge | null>> = {
  /** Asks the service again, or tries an owed reversal now. */
  retry: (engine, ...decided) => engine.retry(...decided),
  /** Records that the money is off the card, and stays off. */
  "mark-taken": (engine, ...decided) => engine.markTaken(...decided),
  /** Records that nothing was taken, or that the money is back on the card. */
  "mark-not-taken": (engine, ...decided) => engine.markNotTaken(...decided),
};

/** Carries out a person's decision about a charge, and records who decided. */
export const POST = adminRoute(async ({ giftcard: { engine }, req }) => {
  const { reference, decision } = req.params as Record<"reference" | "decision", string>;
  const decide = Object.hasOwn(decisions, decision) ? decisions[decision] : undefined;
  const before = await engine.journal.charge(reference);
  if (!before || !decide) throw notFound("charge");
  const charge = await decide(engine, reference, await readActor(req));
  if (charge) return { charge: showCharge(charge) };
  throw notOpen("noDecision");
});
