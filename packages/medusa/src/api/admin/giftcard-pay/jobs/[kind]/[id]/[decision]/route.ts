import { jobKinds } from "../../../../../../../recovery/failing-jobs.js";
import { exemptFromRecovery, retryJob } from "../../../../../../../recovery/recovery.js";
import { adminRoute, notFound, notOpen, readActor } from "../../../../admin-route.js";

/**
 * Carries out a person's decision about a failing job, and logs who decided. `retry` answers `{ job }` as it is afterwards,
 * null if it is done. `exempt` stops recovery from trying it; scans can't be exempted. If the job is a refund that the
 * order doesn't have, `exempt` states that it was made, and records it in the order.
 */
export const POST = adminRoute(async ({ giftcard, req }) => {
  const { id, decision } = req.params as Record<"id" | "decision", string>;
  if (decision !== "retry" && decision !== "exempt") throw notFound("decision");
  const kind = jobKinds.find((jobKind) => jobKind === req.params.kind);
  const actor = await readActor(req);
  const log = (what: string) => giftcard.logger.info(`giftcard job=${kind} id=${id} ${what} by ${actor}`);
  if (kind && decision === "retry") {
    log("is retried");
    const job = await retryJob(req.scope, { kind, id });
    if (job !== undefined) return { job };
  } else if (kind && kind !== "scan" && (await exemptFromRecovery(req.scope, { kind, id }, actor))) {
    log("is exempted");
    return { kind, id };
  }
  throw notOpen("noJob");
});
