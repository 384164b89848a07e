import { ContainerRegistrationKeys } from "@medusajs/framework/utils";
import { jobKinds } from "../../../../../../../recovery/failing-jobs.js";
import { leaveJob } from "../../../../../../../recovery/recovery.js";
import { adminRoute, notOpen, readActor } from "../../../../admin-route.js";

/**
 * A person's decision that a failing job isn't tried any more. Who decided is written down. Looking for what is to be done
 * goes on in any case, and so does telling that it fails. A refund that nobody knew of is one that was made: its order gets
 * to know of it.
 */
export const POST = adminRoute(async ({ req }) => {
  const { kind, id } = req.params as { kind: string; id: string };
  const known = jobKinds.find((one) => one === kind && one !== "scan");
  const actor = await readActor(req);
  if (known && (await leaveJob(req.scope, { kind: known, id }, actor))) {
    const line = `giftcard job=${kind} id=${id} is left by ${actor}`;
    req.scope.resolve(ContainerRegistrationKeys.LOGGER).info(line);
    return { kind, id };
  }
  throw notOpen("There is no such job (any more).");
});
