import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import { settleCart } from "../../../../../../../completion/paid-orders.js";
import type { GiftcardContext } from "../../../../../../../context/context.js";
import { jobKinds } from "../../../../../../../recovery/failing-jobs.js";
import { retryJob } from "../../../../../../../recovery/recovery.js";
import { adminRoute, notOpen, readActor } from "../../../../admin-route.js";

/** Tries a failing job now: `{ job }` as it is then, or null when it is done. Who asked stands in the log. */
export const POST = adminRoute(async ({ giftcard, req }) => {
  const { kind, id } = req.params as { kind: string; id: string };
  const actor = await readActor(req);
  req.scope
    .resolve(ContainerRegistrationKeys.LOGGER)
    .info(`giftcard job=${kind} id=${id} is tried by ${actor}`);
  const known = jobKinds.find((one) => one === kind);
  const job = known ? await retryJob(req.scope, { kind: known, id }) : await retryCharge(giftcard, id, actor);
  if (job === undefined) throw notOpen("There is no such job (any more).");
  return { job };
});

/** @returns undefined where this charge waits for nothing */
async function retryCharge(giftcard: GiftcardContext, reference: string, actor: string) {
  const { engine } = giftcard;
  const before = await engine.journal.charge(reference);
  if (before?.state === "reversing") await engine.retry(reference, actor);
  else if (before?.state === "unknown") await settleCart(giftcard, before.cartId);
  else return undefined;
  return null;
}
