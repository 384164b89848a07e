import { settleCart } from "../../../../../../../completion/paid-orders.js";
import { contextOf, type GiftcardContext } from "../../../../../../../context/context.js";
import { jobKinds } from "../../../../../../../recovery/failing-jobs.js";
import { exemptFromRecovery, retryJob } from "../../../../../../../recovery/recovery.js";
import { adminRoute, notFound, notOpen, readActor } from "../../../../admin-route.js";

/**
 * Carries out a person's decision about a failing job, and logs who decided. `retry` answers `{ job }` as it is afterwards,
 * null if it is done. `exempt` stops recovery from trying it; scans can't be exempted. If the job is a refund that the
 * order doesn't have, `exempt` states that it was made, and records it in the order.
 */
export const POST = adminRoute(async ({ giftcard, req }) => {
  const { kind, id, decision } = req.params as Record<"kind" | "id" | "decision", string>;
  if (decision !== "retry" && decision !== "exempt") throw notFound("decision");
  const known = jobKinds.find((jobKind) => jobKind === kind);
  const actor = await readActor(req);
  const log = (what: string) => contextOf(req.scope).logger.info(`giftcard job=${kind} id=${id} ${what} by ${actor}`);
  if (decision === "retry") {
    log("is retried");
    const key = known && { kind: known, id };
    const job = key ? await retryJob(req.scope, key) : await retryCharge(giftcard, id, actor);
    if (job !== undefined) return { job };
  } else if (known && known !== "scan" && (await exemptFromRecovery(req.scope, { kind: known, id }, actor))) {
    log("is exempted");
    return { kind, id };
  }
  throw notOpen("noJob");
});

/** Retries a charge. @returns undefined unless it is `reversing` or `unknown` */
async function retryCharge(giftcard: GiftcardContext, reference: string, actor: string) {
  const { engine } = giftcard;
  const before = await engine.journal.charge(reference);
  if (before?.state === "reversing") await engine.retry(reference, actor);
  else if (before?.state === "unknown") await settleCart(giftcard, before.cartId);
  else return undefined;
  return null;
}
